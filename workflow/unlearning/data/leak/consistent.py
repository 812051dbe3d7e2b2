"""Whether a question's decomposition, by rule or by a language model, is that of its match's facts."""

from collections.abc import Iterable, Mapping

from unlearning.data.leak.knowledge import Fact, Knowledge
from unlearning.data.text import fold

SAME = frozenset({"same as", "is", "alias", "identity", "also known as"})  # an identity hop: no relation is followed


def inconsistency(match, hops: Iterable[Mapping], names: Iterable[str], knowledge: Knowledge) -> str | None:
    """Why the decomposition `hops` (subject, relation, answers) is not that of `match`, or None.

    Each fact of the match must be one hop, and each hop one of its facts: subject and answer by any of their names,
    the relation by identifier or in words; where a hop has several answers, one of them is enough, as counting them is
    the uniqueness check's. A hop that only says that two names are one entity's counts as neither.
    `names`, further entities of the question, must be among those of the match.
    """
    facts = [knowledge.facts[ident] for ident in match.fact_ids]
    hops = [hop for hop in hops if not _is_identity(hop, knowledge)]
    known = {entity for fact in facts for entity in (fact.subject_id, fact.object_id)}
    known |= {*match.candidate_ids, match.denied_id}
    told = [*names, *(hop["subject"] for hop in hops)]
    if foreign := next((name for name in told if not known.intersection(knowledge.entities(name))), None):
        return f"foreign entity: {foreign!r} is in none of its facts"
    if odd := next((hop for hop in hops if not any(_is(hop, fact, knowledge) for fact in facts)), None):
        said = f"{odd['relation']} of {odd['subject']}, answered {' or '.join(odd['answers']) or 'nothing'},"
        return f"foreign hop: {said} is none of its facts"
    if skipped := next((fact for fact in facts if not any(_is(hop, fact, knowledge) for hop in hops)), None):
        return f"skipped hop: nothing asks for {skipped.fact_id}"
    return None


def _is(hop: Mapping, fact: Fact, knowledge: Knowledge) -> bool:
    same_relation = fold(hop["relation"]) in (fold(fact.relation), fold(knowledge.relations[fact.relation]))
    answered = any(fact.object_id in knowledge.entities(answer) for answer in hop["answers"])
    return same_relation and answered and fact.subject_id in knowledge.entities(hop["subject"])


def _is_identity(hop: Mapping, knowledge: Knowledge) -> bool:
    subjects = set(knowledge.entities(hop["subject"]))
    return fold(hop["relation"]) in SAME and any(subjects.intersection(knowledge.entities(a)) for a in hop["answers"])
