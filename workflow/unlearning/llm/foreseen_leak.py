"""What jobs of the multi-hop construction may ask, and stand-ins for their inputs: see `unlearning.llm.foreseen`."""

import pandas as pd

from unlearning.data.leak.checks_llm import judge, split
from unlearning.data.leak.compose import compose
from unlearning.data.leak.compose_llm import build
from unlearning.data.leak.extract_llm import COLUMNS as EXTRACTED
from unlearning.data.leak.extract_llm import extract
from unlearning.data.leak.extracted import merge
from unlearning.data.leak.knowledge import Knowledge, index
from unlearning.data.leak.matches import match_all
from unlearning.data.leak.rate_llm import rate
from unlearning.data.leak.select import draw
from unlearning.data.leak.templated import to_ask
from unlearning.data.leak.templates import Phrases, read_phrases, with_generic
from unlearning.data.refused import rejected
from unlearning.llm.estimate import Asked
from unlearning.llm.watch import Watch
from unlearning.tables.artifacts import read_table, write_table

NAME = 40  # ASSUME: characters of a name or relation that is yet to be taken from a text, at most


def leak_extract_llm(chunks: str, prompts: list[str], sampling: dict) -> list[Asked]:
    """Every chunk is read once."""
    watch = Watch(prompts, sampling, 1)
    return list(watch.asked(lambda: extract(read_table(chunks, "chunks"), watch.tools)))


def leak_questions_llm(
    facts: str, templates: str, frames: str, general_rules: str, prompts: list[str], seed: int, candidates: int,
    asked_per_type: int, sampling: dict, max_rounds: int,
) -> list[Asked]:  # fmt: skip
    """Every match that is drawn is composed once a round, each of its wordings split and judged.

    Facts that are yet to be extracted are none so far: then as many matches of each type are counted as may be drawn.
    """
    watch, phrases = Watch(prompts, sampling, max_rounds), read_phrases(templates, frames, general_rules)
    drawn, knowledge = _drawn(read_table(facts, "facts"), phrases, seed, candidates, asked_per_type)
    wordings = compose(drawn, with_generic(phrases, knowledge))
    return [
        *watch.asked(lambda: build(drawn, knowledge, watch.tools)),
        *watch.asked(lambda: split(wordings, knowledge, watch.tools)),
        *watch.asked(lambda: judge(wordings, watch.tools)),
    ]


def leak_rate_llm(
    multihop: str, facts: str, prompts: list[str], seed: int, rated_per_type: int, sampling: dict
) -> list[Asked]:
    """Every question that is drawn, by every rater.

    A fact that is yet to be extracted is said by its identifier, which is its three names.
    """
    watch = Watch(prompts, sampling, 1)
    questions, known = draw(read_table(multihop, "multihop"), rated_per_type, seed), read_table(facts, "facts")
    if known.empty:
        used = sorted({ident for ids in questions["fact_ids"] for ident in ids})
        known = pd.DataFrame({"fact_id": used, "statement": [f"The of is {ident}." for ident in used]})
    return [
        found for role in sampling for found in watch.asked(lambda r=role: rate(questions, known, watch.tools, (r,)))
    ]


def _drawn(
    facts: pd.DataFrame, phrases: Phrases, seed: int, candidates: int, per_type: int
) -> tuple[pd.DataFrame, Knowledge]:
    """The matches that the composer is asked about, with their fact base."""
    if facts.empty:
        return _any_matches(per_type, phrases, candidates)
    return draw(to_ask(facts, phrases, seed, candidates), per_type, seed), index(facts)


def _any_matches(per_type: int, phrases: Phrases, candidates: int) -> tuple[pd.DataFrame, Knowledge]:
    """`per_type` matches of each type of `_any_facts`."""
    knowledge = index(_any_facts(candidates + 2))
    one = match_all(knowledge, phrases.rules, 0, candidates=candidates).drop_duplicates("type")
    many = [one.assign(match_id=one["match_id"] + f"/{number}") for number in range(per_type)]
    return pd.concat(many, ignore_index=True), knowledge


def _any_facts(n: int) -> pd.DataFrame:
    """A table `facts` of `n` people and what two facts about each lead to; every name is NAME characters long."""
    people, places, things, links = ([f"{kind}{i} ".ljust(NAME, "x") for i in range(n)] for kind in "pltr")
    said = [
        link
        for i in range(n)
        for link in (
            (people[i], links[0], places[i % (n - 1)]), (people[i], links[1], things[i]),
            (places[i], links[2], things[i]),
        )
    ]  # fmt: skip
    rows = [("text", 0, subject, [f"{subject[:-1]}y"], link, object_, [], None) for subject, link, object_ in said]
    chunks = pd.DataFrame({"document": ["text"], "chunk": [0], "start": [0], "text": [""]})
    return merge(pd.DataFrame(rows, columns=EXTRACTED), chunks, {"text"})


def stand_in_extracted(extracted: str, unread: str) -> None:
    """Nothing: what a model will find is not known, and what asks about it is told so by facts that are none."""
    write_table(pd.DataFrame(columns=EXTRACTED), extracted, "extracted")
    write_table(rejected([]), unread, "rejected")


def stand_in_questions(
    facts: str, templates: str, frames: str, general_rules: str, multihop: str, seed: int, candidates: int,
    per_type: int,
) -> None:  # fmt: skip
    """As many questions of each type as are kept at most, in the first wording of the templates, unchecked."""
    known, phrases = read_table(facts, "facts"), read_phrases(templates, frames, general_rules)
    drawn, knowledge = _drawn(known, phrases, seed, candidates, per_type)
    worded = compose(drawn, with_generic(phrases, knowledge)).groupby("match_id", sort=False)
    asked = drawn.assign(
        question=worded["question"].first().to_numpy(), aliases=worded["aliases"].first().to_numpy(),
        paraphrases=worded["question"].agg(lambda found: list(found)[1:]).to_numpy(),
    )  # fmt: skip
    write_table(asked, multihop, "multihop")
