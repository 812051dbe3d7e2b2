"""What scripts that build by language models open: the roles' models, the prompts, the back-translator."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from unlearning.data.back_other import by_model, through_phrasebook
from unlearning.data.back_services import LLM, REVERSE
from unlearning.data.back_translation import open_service, stored_service
from unlearning.data.languages import Language
from unlearning.data.phrasebook import read_phrasebook
from unlearning.data.rounds import Tools
from unlearning.llm.prompts import read_prompt
from unlearning.llm.requests import Sampling
from unlearning.llm.roles import Asker, open_roles

STORE = "back_translation.sqlite"


@contextlib.contextmanager
def open_tools(
    language: Language | None, prompts: Sequence[str], doors: Mapping[str, Mapping], sampling: Mapping[str, Mapping],
    max_rounds: int, store: Path | str, back_translator: Mapping | None = None, books: Sequence[str] = (),
    job: str = "",
) -> Iterator[tuple[Tools, Asker]]:  # fmt: skip
    """(tools, asker) for one language, None where nothing is translated. `doors`, `sampling`: by role.

    `back_translator`: the configuration's section, None where nothing is translated back. Its service `reverse` takes
    `books`: the phrasebook of the language and the English one. `job`: as in `unlearning.llm.complete.open_door`.
    """
    read = {prompt.name: prompt for prompt in map(read_prompt, prompts)}
    drawn = {role: Sampling(**settings) for role, settings in sampling.items()}
    with contextlib.ExitStack() as stack:
        asker = stack.enter_context(open_roles(doors, store, job))
        tools = Tools(asker.ask, _none, read, drawn, max_rounds)
        service = back_translator and back_translator["service"]
        if service == LLM:
            tools = tools._replace(back=by_model(tools, language))
        elif service == REVERSE:
            tools = tools._replace(back=through_phrasebook(*map(read_phrasebook, books)))
        elif service and "count" in back_translator:
            tools = tools._replace(back=stored_service(back_translator, language.code, Path(store) / STORE))
        elif service:
            opened = open_service(back_translator, language.code, Path(store) / STORE)
            tools = tools._replace(back=stack.enter_context(opened))
        yield tools, asker


def _none(texts: Sequence[str]) -> list[str | None]:
    return [None] * len(texts)
