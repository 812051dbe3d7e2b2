"""What the multi-hop construction asks language models, foreseen; and the ratings' figures."""

import json
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest

from leak_facts import RESOURCES, facts, phrases
from leak_llm_fakes import LeakModel
from mu2_llm_fakes import PROMPTS
from mu2_sources import ROOT
from test_leak_checks import ALIASES, WORLD
from test_llm_foreseen import REASK, ROUNDS, check
from unlearning.data.leak.asking_llm import ask
from unlearning.data.leak.extracted import good_tuples, merge
from unlearning.data.leak.knowledge import index
from unlearning.data.leak.matches import TYPES
from unlearning.data.leak.rate_llm import figures, rate
from unlearning.data.leak.select import draw
from unlearning.data.leak.templated import to_ask
from unlearning.data.rounds import Tools
from unlearning.llm import foreseen
from unlearning.llm.complete import Door, complete
from unlearning.llm.estimate import sized
from unlearning.llm.requests import Reply, Sampling
from unlearning.tables.artifacts import read_table, write_table

PER_TYPE = 2
RATERS = ("rater_1", "rater_2")
SAMPLING = {role: {"max_tokens": 60} for role in ("composer", "decomposer", "uniqueness")}
FILES = {
    "templates": str(RESOURCES / "templates" / "mquake.yaml"),
    "frames": str(RESOURCES / "frames.yaml"),
    "general_rules": str(RESOURCES / "rules" / "mquake.yaml"),
    "prompts": [str(path) for path in sorted((ROOT / "resources/prompts").glob("*.yaml"))],
}
GIVEN = {"seed": 0, "candidates": 3}
KNOWN = facts(*WORLD, aliases=ALIASES)


class Worst(LeakModel):
    """Replies that cannot be read, as long as they may be, until the last try; the judge then refuses each question."""

    def _reply(self, request):
        tries = sum(message["role"] == "assistant" for message in request.messages)
        if tries < REASK:
            return Reply(f"{tries} " + "xxx " * 59, "length", 0, 60)
        said = self.fitting(request)
        if request.role == "uniqueness":
            said = {"unique": False, "reason": "why " * 50}
        return Reply(json.dumps(said, ensure_ascii=False), "stop", 0, 60)


def worst(matches):
    """(the model, tools with it behind every role and no store)."""
    model = Worst(matches, index(KNOWN), lambda ident, inputs: None)
    door = Door(model, None, None, REASK)
    drawn = {role: Sampling(**settings) for role, settings in SAMPLING.items()}
    return model, Tools(lambda role, p: complete(p, door, progress=False)[0], None, PROMPTS, drawn, ROUNDS)


def written(folder: Path, **tables) -> dict[str, str]:
    for name, table in tables.items():
        write_table(table, folder / f"{name}.parquet", name)
    return {name: str(folder / f"{name}.parquet") for name in tables}


def test_questions_ask_no_more_than_is_foreseen(tmp_path):
    matches = to_ask(KNOWN, phrases(), 0, 3)
    model, tools = worst(matches)
    found = ask(matches, index(KNOWN), tools, PER_TYPE, 0)
    assert found.questions.empty and set(found.rejected["round"]) == {ROUNDS}
    assert set(found.rejected["check"]) == {"uniqueness"}
    asked = foreseen.leak_questions_llm(
        **written(tmp_path, facts=KNOWN),
        **FILES,
        **GIVEN,
        asked_per_type=PER_TYPE,
        sampling=SAMPLING,
        max_rounds=ROUNDS,
    )
    n = sum(min(PER_TYPE, count) for count in Counter(matches["type"]).values())
    assert {a.role: len(a.prompts) for a in asked} == {"composer": n, "decomposer": 3 * n, "uniqueness": 3 * n}
    check(asked, model)


def test_matched_and_drawn_are_both_counted():
    matches = to_ask(KNOWN, phrases(), 0, 3)
    _, tools = worst(matches)
    funnel = ask(matches, index(KNOWN), tools._replace(max_rounds=1), PER_TYPE, 0).funnel
    assert list(dict.fromkeys(funnel["type"])) == list(TYPES)
    steps = funnel[funnel["type"] == "ds"].set_index("step")["n"].to_dict()
    n = int((matches["type"] == "ds").sum())
    assert n > 2 and steps == {"matched": n, "drawn": 2, "composed": 2, "decomposed": 2, "unique": 0}
    assert list(steps) == ["matched", "drawn", "composed", "decomposed", "unique"]


def test_what_is_asked_of_a_text_is_foreseen_before_anything_is_extracted(tmp_path):
    chunks = pd.DataFrame([("story", 0, 0, 9, 2, "Orlo sang")], columns=[
        "document", "chunk", "start", "end", "n_words", "text"])  # fmt: skip
    given = written(tmp_path, chunks=chunks)
    (asked,) = foreseen.leak_extract_llm(**given, prompts=FILES["prompts"], sampling={"extractor": {"max_tokens": 9}})
    assert asked.role == "extractor" and len(asked.prompts) == 1 and sized(asked).reply == 9
    made = {name: str(tmp_path / f"{name}.parquet") for name in ("extracted", "unread", "multihop")}
    foreseen.stand_in_extracted(made["extracted"], made["unread"])
    kept, refused = good_tuples(read_table(made["extracted"], "extracted"), chunks)
    none = merge(kept, chunks, {"story"})
    assert none.empty and refused.empty
    given = written(tmp_path, facts=none) | FILES | GIVEN
    asked = foreseen.leak_questions_llm(**given, asked_per_type=7, sampling=SAMPLING, max_rounds=ROUNDS)
    kinds = len(TYPES) - 1  # mp takes rules, and there are none for words that are not known yet
    assert [len(found.prompts) for found in asked] == [7 * kinds, 21 * kinds, 21 * kinds]
    prompts = given.pop("prompts")
    foreseen.stand_in_questions(**given, multihop=made["multihop"], per_type=7)
    assert len(read_table(made["multihop"], "multihop")) == 7 * kinds
    (rated,) = foreseen.leak_rate_llm(made["multihop"], given["facts"], prompts, 0, 5, {"rater_1": {"max_tokens": 9}})
    assert len(rated.prompts) == 5 * kinds


def test_questions_yet_to_be_made_are_rated_as_often_as_any_could_be(tmp_path):
    given = written(tmp_path, facts=KNOWN)
    multihop = str(tmp_path / "multihop.parquet")
    made = {name: path for name, path in FILES.items() if name != "prompts"}
    foreseen.stand_in_questions(**given, **made, **GIVEN, multihop=multihop, per_type=3)
    asked = foreseen.leak_rate_llm(
        multihop, given["facts"], FILES["prompts"], 0, 2, {role: {"max_tokens": 9} for role in RATERS}
    )
    kept = draw(read_table(multihop, "multihop"), 2, 0)
    assert [(found.role, len(found.prompts)) for found in asked] == [(role, len(kept)) for role in RATERS]
    assert set(kept["type"]) == set(TYPES) and not kept["question"].isna().any()


# ratings


def test_ratings_hold_what_each_rater_says_or_why_there_is_none(tmp_path):
    matches = to_ask(KNOWN, phrases(), 0, 3).drop_duplicates("type")
    lost = matches["match_id"].iloc[0]
    model = LeakModel(matches, index(KNOWN), lambda ident, inputs: (
        "ninety" if ident == lost and inputs["role"] == "rater_2" else None))  # fmt: skip
    questions = matches.assign(question="Which, by " + matches["match_id"] + "?")
    tools = Tools(lambda role, p: complete(p, Door(model, None, None, 0), progress=False)[0], None, PROMPTS, {}, 1)
    table = rate(questions, KNOWN, tools, RATERS)
    prompt = model.sent[0].messages[-1]["content"]
    assert all(f"> {text}" in prompt for text in (f"Which, by {lost}?", "Paris", "Ann: France.", "France: Paris."))
    write_table(table, tmp_path / "ratings.parquet", "ratings")
    read = read_table(tmp_path / "ratings.parquet", "ratings")
    assert read["failed"].dropna().tolist() == ["the reply holds no whole JSON object"]
    assert read.loc[read["failed"].notna(), ["logic", "clarity", "naturalness"]].isna().all(axis=None)
    assert read.loc[0, ["logic", "clarity", "naturalness"]].tolist() == [90, 80, 71]


def rated(*rows):
    return pd.DataFrame(rows, columns=["match_id", "rater", "logic", "clarity", "naturalness", "failed"])


def test_the_figures_of_ratings_by_hand():
    questions = pd.DataFrame({"match_id": ["a", "b", "c"], "type": ["hs", "hs", "mp"]})
    found = figures(
        rated(("a", "rater_1", 90, 60, 30, None), ("b", "rater_1", 100, 100, 100, None),
              ("a", "rater_2", 100, 70, 40, None), ("b", "rater_2", None, None, None, "cut off"),
              ("c", "rater_2", 0, 0, 0, None)),
        questions,
    ).set_index(["type", "measure"])  # fmt: skip
    said = found["value"].to_dict()
    assert said["all", "llm_rating_rater_1"] == 80 and said["all", "llm_rating_rater_2"] == 35  # (60, 100), (70, 0)
    assert said["all", "llm_rating"] == pytest.approx((80 + 35) / 2)  # one figure of each rater, however many it rated
    assert (
        said["all", "llm_rating_logic"] == pytest.approx((95 + 50) / 2) and found.loc[("all", "llm_rating"), "n"] == 3
    )
    assert said["all", "llm_rating_gap"] == said["hs", "llm_rating_gap"] == 10  # a alone has two
    assert found.loc[("all", "llm_rating_gap"), "n"] == 1 and said["hs", "llm_rating"] == pytest.approx((80 + 70) / 2)
    none = found.loc["ds"]
    assert none["value"].isna().all() and (none["n"] == 0).all() and none["note"].notna().all()
    assert found.loc[("mp", "llm_rating_gap"), "note"] == "no question was rated by two"
