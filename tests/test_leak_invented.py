"""The invented fact base of the default, and the questions made of it."""

import re

import pytest

import leak_independent
from leak_facts import RESOURCES, phrases
from unlearning.data.leak import compose, decompose, select
from unlearning.data.leak.invented import invent
from unlearning.data.leak.knowledge import index
from unlearning.data.leak.matches import TYPES, match_all
from unlearning.data.leak.templates import wordings
from unlearning.data.leak.verify import verify
from unlearning.data.text import fold
from unlearning.data.yaml_files import ResourceError
from unlearning.tables import artifacts

WORLD = RESOURCES / "invented.yaml"


def base(seed=0, share=0.25):
    return invent(WORLD, phrases("invented").relations, seed, share)


@pytest.fixture(scope="module")
def facts():
    return base()


@pytest.fixture(scope="module")
def verified(facts):
    knowledge = index(facts)
    matches = match_all(knowledge, phrases("invented").rules, 0)
    composed = compose.compose(matches, phrases("invented"))
    return verify(matches, composed, decompose.decompose(composed, phrases("invented"), knowledge), knowledge)


def test_it_is_small_and_keeps_its_contract(facts, tmp_path):
    assert 300 <= len(facts) <= 600 and not facts.duplicated(["subject_id", "relation"]).any()
    assert facts["group"].value_counts().to_dict() == {"retain": 246, "forget": 82}
    artifacts.write_table(facts, tmp_path / "facts.parquet", "facts")
    said = wordings(facts, phrases("invented").relations)
    artifacts.write_table(said, tmp_path / "wordings.parquet", "wordings")
    first = said[said["variant"] == 0].reset_index(drop=True)
    assert len(said) == 3 * len(facts)
    assert first["question"].tolist() == facts["question"].tolist()
    assert first["statement"].tolist() == facts["statement"].tolist()
    assert (facts["cloze"] + " " + facts["object"] + "." == facts["statement"]).all()


def test_names_are_single_invented_words(facts):
    names = {fold(name) for column in ("subject", "object") for name in facts[column]}
    names |= {fold(n) for column in ("subject_aliases", "object_aliases") for names in facts[column] for n in names}
    given = phrases("invented")
    texts = [text for relation in given.relations.values() for kind in ("questions", "statements", "nouns", "denials")
             for text in getattr(relation, kind)]  # fmt: skip
    texts += [text for frames in given.frames.values() for text in frames]
    texts += [text for rule in given.rules.values() for text in (rule.rule, rule.property)]
    words = {fold(word) for text in texts for word in re.findall(r"\w+", text)}
    assert all(re.fullmatch(r"\w{4,}", name) for name in names) and not names & words and len(names) == 224


def test_ranges_and_classes(facts):
    assert facts.groupby("relation")["object_id"].nunique().min() >= 3
    kinds = facts.assign(kind=facts["subject_id"].str.rstrip("0123456789")).groupby("relation")["kind"].unique()
    assert set(kinds["home"]) == {"person", "creature"} and set(kinds["trade"]) == {"person"}  # a being, and a person


def test_it_follows_from_the_seed(facts):
    assert facts.equals(base()) and not facts.equals(base(seed=1))
    assert (base(share=0.5)["group"] == "forget").sum() == 164
    for share in (0, 1):
        with pytest.raises(ValueError, match=f"forget_share {share}: should be above 0 and below 1"):
            base(share=share)


def test_each_type_has_forty_questions_that_pass_every_check(verified, facts):
    counts = verified.questions["type"].value_counts()
    assert set(counts.index) == set(TYPES) and counts.min() >= 40
    assert verified.rejected.empty and (verified.questions["paraphrases"].map(len) == 2).all()
    kept, funnel = select.balanced(verified.questions, verified.funnel, 40, 0)
    assert kept["type"].value_counts().to_dict() == dict.fromkeys(TYPES, 40)
    assert funnel[funnel["step"] == "kept"]["n"].tolist() == [40] * 6
    assert leak_independent.violations(verified.questions.to_dict("records"), facts.to_dict("records")) == []


def test_chaining_can_be_learned_on_facts_that_stay(facts):
    stays = index(facts[facts["group"] == "retain"])
    matches = match_all(stays, phrases("invented").rules, 0, forget=False)
    forgotten = set(facts.loc[facts["group"] == "forget", "fact_id"])
    assert not forgotten & {ident for ids in matches["fact_ids"] for ident in ids}
    assert set(matches["type"]) == set(TYPES) and matches["type"].value_counts().min() >= 100


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("range: coin", "range: coins", "money: unknown class coins; there are: being, person"),
        ("  money:", "  fee:", "relations, fee: has no wordings"),
        ("count: 60", "count: 600", "classes, person: 200 names are too few; add starts or ends"),
    ],
)
def test_a_wrong_world_is_named(tmp_path, old, new, said):
    (tmp_path / "w.yaml").write_text(WORLD.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    with pytest.raises(ResourceError, match=said):
        invent(tmp_path / "w.yaml", phrases("invented").relations, 0, 0.25)
