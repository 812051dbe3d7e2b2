"""vLLM beside transformers, measured on the same prompts: equal texts, replies guided by a schema, tokens a second.

Each backend runs in a process of its own (`python llm_local.py ask …`), in the environment that has vLLM: docs/llm.md.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pandas as pd

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / part) for part in ("tests", "workflow", "workflow/scripts")]

from smollm2 import BATCH, backend, python, ready  # noqa: E402

PROMPTS = ROOT / "resources/prompts"
BULK, FREE, GUIDED = 208, 32, 200  # prompts; longest replies in tokens
SAMPLED = 32  # prompts that are sampled
EQUAL = {"float32": 0.95, "bfloat16": 0.5}
CLOSE = {"float32": 1e-3, "bfloat16": 0.5}  # logits this near are a tie to sums rounded in another order


def bulk_requests(guided: bool, temperature: float = 0.0) -> list:
    """BULK real prompts: values to translate into 11 languages, translations to compare."""
    from unlearning.data.languages import read_languages
    from unlearning.data.phrasebook import read_pools
    from unlearning.llm.prompts import read_prompt, render
    from unlearning.llm.replies import schema_of
    from unlearning.llm.requests import Request, Sampling

    pools = read_pools(ROOT / "resources/mu2/pools.yaml")
    tongues = [tongue.name for tongue in read_languages(ROOT / "resources/mu2/languages.yaml").values()]
    values = [(a.replace("_", " "), v, d, list(pool)) for a, pool in pools.items() for v, d in pool.items()]
    made = []
    for i in range(BULK):
        attribute, value, definition, pool = values[i * 7 % len(values)]
        inputs = {"attribute": attribute, "english_value": value, "definition": definition, "attempts": []}
        inputs |= {"language": tongues[i % len(tongues)], "others": pool[:4], "back": pool[i % len(pool)]}
        prompt = read_prompt(PROMPTS / f"{('translator_value', 'equivalence_value')[i % 2]}.yaml")
        schema = schema_of(prompt.reply) if guided else None
        sampling = Sampling(temperature=temperature, max_tokens=GUIDED if guided else FREE)
        made.append((Request(str(i), 0, render(prompt, inputs), sampling, schema, inputs, "translator"), prompt.reply))
    return made


def ask(kind: str, dtype: str, guided: bool, temperature: float, n: int, out: str) -> None:
    """Answer the first `n` bulk prompts and write the replies and the CPU seconds that took, loading left out."""
    from importlib import import_module

    requests = [request for request, _ in bulk_requests(guided, temperature)][:n]
    opened = import_module(f"unlearning.llm.backends.{kind}").open(backend(kind, dtype))
    warm_up = requests[0]._replace(messages=[{"role": "user", "content": "Hello"}])
    list(opened.ask([warm_up]))
    started = time.process_time()
    found = dict(opened.ask(requests))
    seconds = time.process_time() - started
    opened.close()
    Path(out).write_text(json.dumps([seconds, [found[i]._asdict() for i in range(n)]]), encoding="utf-8")


def asked(
    kind: str, dtype: str = "float32", guided: bool = False, n: int = BULK, temperature: float = 0.0
) -> tuple[float, pd.DataFrame]:
    """`ask` in a process of its own: (CPU seconds, a row for each reply).

    One thread, and the time that it had a core: what else the machine does then changes the figure little.
    """
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "replies.json"
        environment = os.environ | {
            "PYTHONPATH": str(ROOT / "workflow"), "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1",
            "VLLM_CPU_OMP_THREADS_BIND": "nobind", "VLLM_CPU_KVCACHE_SPACE": "2",
        }  # fmt: skip
        command = [python(), __file__, "ask", kind, dtype, str(int(guided)), str(temperature), str(n), str(out)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{' '.join(command)} failed:\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
        seconds, replies = json.loads(out.read_text(encoding="utf-8"))
        return seconds, pd.DataFrame(replies)


def gaps(requests: list, first: pd.DataFrame, second: pd.DataFrame) -> list[float]:
    """For each pair of texts that differ: by how much the two tokens' logits (float32) differ where the texts part."""
    import torch

    from unlearning.llm.backends.transformers import _load
    from unlearning.models.encode import encode_prompt

    model, tokenizer = _load(backend("transformers"), "")
    found = []
    for request, one, other in zip(requests, first.itertuples(), second.itertuples(), strict=True):
        if one.text == other.text:
            continue
        ids = [tokenizer(reply.text, add_special_tokens=False).input_ids for reply in (one, other)]
        ids = [
            [*i, *[tokenizer.eos_token_id] * (r.finish_reason == "stop")]
            for i, r in zip(ids, (one, other), strict=True)
        ]
        same = next((i for i, (a, b) in enumerate(zip(*ids, strict=False)) if a != b), None)
        if same is None:  # equal tokens, unequal texts
            found.append(float("inf"))
            continue
        prompt = encode_prompt(tokenizer, request.messages) + ids[0][:same]
        with torch.inference_mode():
            logits = model(torch.tensor([prompt])).logits[0, -1]
        found.append(float((logits[ids[0][same]] - logits[ids[1][same]]).abs()))
    return found


def vllm(show) -> None:
    """Equal texts, guided JSON, throughput."""
    from unlearning.llm.replies import parse

    if not ready(show):
        return
    pairs = bulk_requests(guided=False)
    free = compare(show, [request for request, _ in pairs], "float32")
    compare(show, [request for request, _ in pairs[: BULK // 4]], "bfloat16")
    seconds, guided = asked("vllm", guided=True)
    whole = guided["finish_reason"] == "stop"
    show(f"guided: replies that end within {GUIDED} tokens, of {BULK}", int(whole.sum()), f">= {0.95 * BULK:.0f}",
         whole.mean() >= 0.95)  # fmt: skip
    kinds = [kind for _, kind in pairs]
    valid = pd.Series([parse(kind, text)[0] is not None for kind, text in zip(kinds, guided["text"], strict=True)])
    ended = int((whole & valid).sum())
    show("guided: of these, valid by their schema", f"{ended}/{whole.sum()}", "all", ended == whole.sum())
    show("guided: tokens written per CPU second, vLLM", float(guided["output_tokens"].sum() / seconds), "> 0", True)
    first, again = (asked("vllm", n=SAMPLED, temperature=0.7)[1] for _ in range(2))
    alike = int((first["text"] == again["text"]).sum())
    show(f"sampled with a seed: replies that are the same when asked again, of {SAMPLED}", alike, f">= {SAMPLED // 2}",
         alike >= SAMPLED // 2)  # fmt: skip
    show("sampled: texts that differ from one another", first["text"].nunique(), "> 1", first["text"].nunique() > 1)
    share = sum(parse(kind, text)[0] is not None for kind, text in zip(kinds, free["text"], strict=True)) / BULK
    show(f"not guided: share valid by their schema (at most {FREE} tokens)", share, "< 1", share < 1)


def compare(show, requests: list, dtype: str) -> pd.DataFrame:
    """Both backends on the same requests; returns vLLM's replies."""
    n, replies, rates = len(requests), {}, {}
    for kind in ("transformers", "vllm"):
        seconds, replies[kind] = asked(kind, dtype, n=n)
        rates[kind] = float(replies[kind]["output_tokens"].sum() / seconds)
    ours, theirs = replies["transformers"], replies["vllm"]
    equal, least = float((ours["text"] == theirs["text"]).mean()), EQUAL[dtype]
    show(f"{dtype}: share of {n} greedy replies with the same text, vLLM and transformers", equal, f">= {least}",
         equal >= least)  # fmt: skip
    apart = gaps(requests, ours, theirs)
    widest = max(apart, default=0.0)
    show(f"{dtype}: widest gap of two logits where a text parts ({len(apart)} texts)", widest, f"<= {CLOSE[dtype]}",
         widest <= CLOSE[dtype])  # fmt: skip
    same = bool((ours["input_tokens"] == theirs["input_tokens"]).all())
    show(f"{dtype}: the prompts have as many tokens", same, "True", same)
    show(
        f"{dtype}: tokens written per CPU second, transformers, batches of {BATCH}", rates["transformers"], "> 0", True
    )
    ratio = rates["vllm"] / rates["transformers"]
    show(f"{dtype}: tokens written per CPU second, vLLM : transformers", ratio, "> 0.5", ratio > 0.5)
    return theirs


if __name__ == "__main__":
    _, kind, dtype, guided, temperature, n, out = sys.argv[1:]
    ask(kind, dtype, bool(int(guided)), float(temperature), int(n), out)
