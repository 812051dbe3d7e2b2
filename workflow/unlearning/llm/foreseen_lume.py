"""What jobs that write LUME's documents may ask, and stand-ins for these: see `unlearning.llm.foreseen`."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from unlearning.data.lume.construct import Grammars, offline, read_grammars
from unlearning.data.lume.made import Made
from unlearning.data.lume.questions_llm import VERIFIERS, questions
from unlearning.data.lume.real import read_biographies, sample
from unlearning.data.lume.stories import LONGEST
from unlearning.data.lume.writing_llm import write_people, write_stories
from unlearning.data.rounds import asked
from unlearning.llm.estimate import Asked
from unlearning.llm.watch import Watch
from unlearning.tables.artifacts import write_table

WORD = 8  # ASSUME: characters of a word of a story that is yet to be written, with the space after it, on average
QUESTION = "x" * 200  # ASSUME: a question is no longer


def lume_documents_llm(
    grammars: list[str], prompts: list[str], sizes: Mapping[str, Sequence[int]], nonmembers: int, seed: int,
    sampling: dict, max_rounds: int, sources: Sequence[str] = (), columns: Mapping[str, str] | None = None,
    spare: int = 0,
) -> list[Asked]:  # fmt: skip
    """Every text of tasks 1 and 2 is written once a round, and each story asked about and verified.

    Of a file's biographies every one that is taken is asked about once, the spare ones too.
    """
    given, watch, once = _grammars(grammars), *(Watch(prompts, sampling, rounds) for rounds in (max_rounds, 1))
    stories = {f"task1-{n:04d}": ("x" * (WORD - 1) + " ") * LONGEST for n in range(sum(sizes["task1"]))}
    found = [
        *watch.asked(lambda: write_stories(sizes["task1"], given, watch.tools, seed)),
        *watch.asked(lambda: write_people(sizes["task2"], given, watch.tools, seed)),
        *_questions(stories, watch),
    ]
    if sources:
        (path,) = sources
        lives = sample(read_biographies(path, columns), *sizes["task3"], nonmembers, seed, spare).documents
        lives = lives[lives["role"] != "nonmember"]
        found += _questions(dict(zip(lives["document_id"], lives["text"], strict=True)), once)
    return found


def _questions(texts: Mapping[str, str], watch: Watch) -> Iterator[Asked]:
    """One question about each of `texts`, and the three verifiers' answers."""
    yield from watch.asked(lambda: questions(dict(texts), watch.tools))
    inputs = [{"text": text, "question": QUESTION} for text in texts.values()]
    for role in VERIFIERS:
        yield from watch.asked(lambda role=role: asked(watch.tools, role, "verifier", list(texts), inputs))


def stand_in_documents(
    grammars: list[str], documents: str, knowledge: str, rejected: str, funnel: str,
    sizes: Mapping[str, Sequence[int]], nonmembers: int, seed: int,
) -> None:  # fmt: skip
    """As many documents as are to be written, by the grammars."""
    made: Made = offline(_grammars(grammars), sizes, nonmembers, seed)
    for name, table, path in zip(Made._fields, made, (documents, knowledge, rejected, funnel), strict=True):
        write_table(table, path, name)


def _grammars(paths: Sequence[str]) -> Grammars:
    return read_grammars(Path(paths[0]).parent)
