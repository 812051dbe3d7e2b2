"""What the job that writes school questions may ask, and stand-ins for these: see `unlearning.llm.foreseen`."""

from unlearning.data.rounds import asked
from unlearning.data.school import OPTIONS, Draft, read_facts, table
from unlearning.data.school_llm import VERIFIERS, assigned, write
from unlearning.llm.estimate import Asked
from unlearning.llm.watch import Watch
from unlearning.tables.artifacts import write_table

TEXT = "x" * 200  # ASSUME: a question, and an option, is no longer


def school_questions_llm(
    facts: str, prompts: list[str], subject: str, n: int, seed: int, sampling: dict, max_rounds: int
) -> list[Asked]:
    """Every question is written once a round, and answered by each verifier."""
    watch, topics = Watch(prompts, sampling, max_rounds), read_facts(facts)
    ids = list(assigned(subject, topics, n, seed))
    inputs = [{"question": f"{ident} {TEXT}", "options": [TEXT] * OPTIONS} for ident in ids]
    found = list(watch.asked(lambda: write(subject, topics, n, watch.tools, seed)))
    for role in VERIFIERS:
        found += watch.asked(lambda role=role: asked(watch.tools, role, "verifier_school", ids, inputs))
    return found


def stand_in_school(facts: str, choices: str, subject: str, n: int, seed: int) -> None:
    """As many questions as are to be written."""
    options = tuple(f"{i} {TEXT}" for i in range(OPTIONS))
    drafts = [Draft(f"{ident} {TEXT}?", options, 0) for ident in assigned(subject, read_facts(facts), n, seed)]
    write_table(table(subject, drafts), choices, "choices")
