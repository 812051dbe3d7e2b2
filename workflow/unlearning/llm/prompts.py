"""Prompts: files under resources/prompts, rendered with sandboxed Jinja, laid out as table `prompts`.

A file has the keys `system` (may be left out), `user` (both Jinja templates) and `reply`: a name in
`unlearning.llm.replies`, or `text`. What is filled in is data: braces in it are not evaluated.
"""

import functools
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from unlearning.data.yaml_files import ResourceError, read_yaml, text
from unlearning.llm.replies import REPLIES, schema_of
from unlearning.llm.requests import Request, Sampling

KEYS = ("system", "user", "reply")


class PromptError(ResourceError):
    """A prompt is wrong or cannot be filled in; the message names the prompt and what is missing or not allowed."""


class Prompt(NamedTuple):
    """A prompt file: `version` is the first 12 hex digits of the sha256 of what it says (comments do not count)."""

    name: str
    version: str
    system: str | None
    user: str
    reply: str


def read_prompt(path: Path | str) -> Prompt:
    """The prompt in the YAML file at `path`. PromptError: unknown key, no text, unknown reply, broken template."""
    path = Path(path)
    found = read_yaml(path)
    if unknown := sorted(set(found) - set(KEYS)):
        raise PromptError(f"{path}: unknown keys {', '.join(map(str, unknown))}; a prompt has {', '.join(KEYS)}")
    reply = found.get("reply")
    if reply not in (*REPLIES, "text"):
        raise PromptError(f"{path}, reply: {reply!r} is no kind of reply; there are: {', '.join([*REPLIES, 'text'])}")
    system = text(found["system"], f"{path}, system").strip() if found.get("system") is not None else None
    user = text(found.get("user"), f"{path}, user").strip()
    content = json.dumps([system, user, reply], ensure_ascii=False)
    prompt = Prompt(path.stem, hashlib.sha256(content.encode()).hexdigest()[:12], system, user, reply)
    for template in filter(None, (system, user)):
        _compiled(template, str(path))
    return prompt


def render(prompt: Prompt, inputs: Mapping) -> list[dict[str, str]]:
    """The messages with `inputs` filled in. PromptError: an input is missing, or the template does what it may not."""
    parts = {"system": prompt.system, "user": prompt.user}
    return [{"role": role, "content": _filled(prompt.name, t, inputs)} for role, t in parts.items() if t is not None]


def prompt_table(
    prompt: Prompt,
    role: str,
    ids: Sequence[str],
    inputs: Sequence[Mapping],
    sampling: Sampling = Sampling(),  # noqa: B008 (a tuple cannot be changed)
    samples: int = 1,
) -> pd.DataFrame:
    """Table `prompts`: a row for each of `ids`, with `inputs` filled in, to be asked of `role` `samples` times."""
    rows = zip(ids, inputs, strict=True)
    drawn = json.dumps(sampling._asdict())
    return pd.DataFrame(
        [
            {
                "prompt_id": ident,
                "role": role,
                "template": f"{prompt.name}@{prompt.version}",
                "inputs": json.dumps(given, ensure_ascii=False, sort_keys=True),
                "messages": render(prompt, given),
                "sampling": drawn,
                "samples": samples,
                "reply": prompt.reply,
            }
            for ident, given in rows
        ],
        columns=["prompt_id", "role", "template", "inputs", "messages", "sampling", "samples", "reply"],
    )


def requests_of(prompts: pd.DataFrame) -> Iterator[tuple[Request, str]]:
    """(request, kind of reply) for all that table `prompts` asks, in order: prompt by prompt, sample by sample."""
    for row in prompts.itertuples(index=False):
        messages = [{"role": m["role"], "content": m["content"]} for m in row.messages]
        sampling, inputs = _sampling(row.sampling), json.loads(row.inputs)
        for sample in range(row.samples):
            yield Request(row.prompt_id, sample, messages, sampling, schema_of(row.reply), inputs, row.role), row.reply


@functools.lru_cache(maxsize=256)
def _sampling(text: str) -> Sampling:
    return Sampling(**json.loads(text))


@functools.cache
def _environment():
    import jinja2
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    return ImmutableSandboxedEnvironment(
        undefined=jinja2.StrictUndefined, autoescape=False, trim_blocks=True, lstrip_blocks=True
    )


@functools.lru_cache(maxsize=256)
def _compiled(template: str, where: str):
    import jinja2

    try:
        compiled = _environment().from_string(template)
        compiled.globals = dict(compiled.globals)  # a chain of maps, which each rendering would copy key by key
        return compiled
    except jinja2.TemplateSyntaxError as error:
        raise PromptError(f"{where}: not a Jinja template: {error.message} (line {error.lineno} of the text)") from None


def _filled(name: str, template: str, inputs: Mapping) -> str:
    import jinja2

    try:
        return _compiled(template, name).render(inputs)
    except (jinja2.TemplateError, TypeError, ValueError, ArithmeticError) as error:
        given = ", ".join(sorted(inputs)) or "none"
        raise PromptError(f"prompt {name}: {error}; inputs given: {given}") from None
