"""The symbolic check of a question's answer: the composed query on the whole fact base, counted by identifier."""

from collections.abc import Callable, Iterable

from unlearning.data.leak.knowledge import Knowledge


def answers(match, knowledge: Knowledge) -> set[str]:
    """The distinct right answers of `match` (a row of `matches`) by `knowledge`, as identifiers.

    Subjects are those that the question's words may mean: every entity called so. An answer that the match does not
    expect counts, one that it expects and the facts do not give is missing. For mt the answers are the candidates of
    which the denied consequence would hold; two that bear one name count twice.
    """
    return QUERIES[match.type](match, knowledge)


def not_unique(match, knowledge: Knowledge) -> str | None:
    """Why the expected answer is not the only one, or None.

    In a chain the bridge has to be the only one too: that the facts know no answer for another bridge does not say that
    there is none.
    """
    found = answers(match, knowledge)
    if found != {match.answer_id}:
        return f"{len(found)} answers by the facts: {_named(found, knowledge)}" if found else "no answer by the facts"
    if match.type in ("hs", "mp"):
        bridges = knowledge.follow(knowledge.entities(match.subjects[0]), match.relations[:1])
        if bridges != {match.bridge_id}:
            return f"{len(bridges)} bridges by the facts: {_named(bridges, knowledge)}"
    return None


def _named(entities: set[str], knowledge: Knowledge) -> str:
    return ", ".join(sorted(f"{knowledge.label(entity)} ({entity})" for entity in entities))


def _forward(match, knowledge: Knowledge) -> set[str]:
    return knowledge.follow(knowledge.entities(match.subjects[0]), match.relations)


def _ruled_out(match, knowledge: Knowledge) -> set[str]:
    """Candidates whose name may mean somebody of whom the denied consequence holds; one without any known counts too.

    Of a candidate about whom nothing is known it cannot be told that the consequence does not hold.
    """
    ruled = set()
    for candidate in match.candidate_ids:
        ends = [knowledge.follow([entity], match.relations) for entity in _namesakes(candidate, knowledge)]
        if any(match.denied_id in reached for reached in ends) or not any(ends):
            ruled.add(candidate)
    return ruled


def _namesakes(entity: str, knowledge: Knowledge) -> Iterable[str]:
    return knowledge.entities(knowledge.label(entity))


def _shared(match, knowledge: Knowledge) -> set[str]:
    one, two = ([*knowledge.entities(name)] for name in match.subjects)
    return knowledge.follow(one, match.relations[:1]) & knowledge.follow(two, match.relations[:1])


def _left(match, knowledge: Knowledge) -> set[str]:
    """Candidates that the facts give, whether the question excludes them or not."""
    return knowledge.follow(knowledge.entities(match.subjects[0]), match.relations) & set(match.candidate_ids)


QUERIES: dict[str, Callable[..., set[str]]] = {
    "hs": _forward, "mp": _forward, "mt": _ruled_out, "ll": _forward, "cc": _shared, "ds": _left,
}  # fmt: skip
