"""The scripts of the multi-hop construction by language models, from files to files, with an endpoint on loopback."""

import sys

import pytest

from leak_facts import facts, phrases
from leak_llm_fakes import composition
from leak_llm_server import Endpoint
from mu2_sources import ROOT
from test_leak_checks import ALIASES, WORLD
from test_leak_llm import CHAIN, FACT, STORY
from test_leak_llm_foreseen import FILES, GIVEN
from unlearning.config.llm import OpenAI
from unlearning.llm.requests import Sampling
from unlearning.tables.artifacts import read_table, write_table

sys.path.append(str(ROOT / "workflow" / "scripts"))

KNOWN = facts(*WORLD, aliases=ALIASES)


def fault(role, about):
    """The bridge of CHAIN is named whenever it is to be composed; of Brindle no facts are given."""
    if role == "composer" and about == CHAIN:
        return composition(*[f"What is the capital of France, which Ann {x}?" for x in ("likes", "has", "is")])
    return {"facts": "none"} if role == "extractor" and about.startswith("Brindle") else None


@pytest.fixture(scope="module")
def endpoint():
    texts = {"Orlo lives in Brindle.": [FACT | {"quote": "Orlo lives"}]}
    with Endpoint(KNOWN, phrases(), texts, fault) as found:
        yield found


def asking(endpoint, folder, *roles):
    """What a script that asks `roles` takes."""
    entry = OpenAI(kind="openai", model="m", base_url=endpoint.url, key_env=None).model_dump()
    door = {"name": "served", "backend": entry, "reask": 1, "cap": None, "price": None}
    sampling = {role: Sampling()._asdict() for role in roles}
    return {"doors": dict.fromkeys(roles, door), "sampling": sampling, "store": str(folder / "store"),
            "prompts": FILES["prompts"]}  # fmt: skip


def at(folder, *names):
    return {name: str(folder / f"{name}.parquet") for name in names}


def test_a_text_becomes_facts_and_what_was_not_read_is_told(endpoint, tmp_path):
    from leak_chunks import leak_chunks
    from leak_extract_llm import leak_extract_llm
    from leak_text_facts import leak_text_facts

    (tmp_path / "story.txt").write_text(STORY, encoding="utf-8")
    paths = at(tmp_path, "chunks", "extracted", "unread", "usage", "facts", "rejected")
    made = {name: paths[name] for name in ("chunks", "extracted", "unread")}
    leak_chunks([str(tmp_path / "story.txt")], paths["chunks"], 4)
    whole = leak_extract_llm(**made, usage=paths["usage"], **asking(endpoint, tmp_path, "extractor"))
    assert whole and endpoint.asked["extractor"] == 3  # the second chunk's reply is asked for once more
    leak_text_facts(**made, facts=paths["facts"], rejected=paths["rejected"], forget=["story.txt"])
    table = read_table(paths["facts"], "facts")
    assert table[["fact_id", "group"]].values.tolist() == [["orlo:home:brindle", "forget"]]
    (span,) = table["spans"][0]
    assert span["document"] == "story.txt" and STORY[span["start"] : span["end"]] == "Orlo lives"
    lost = read_table(paths["rejected"], "rejected")
    assert lost[["id", "check"]].values.tolist() == [["story.txt#1", "no_reply"]]
    usage = read_table(paths["usage"], "usage")
    assert usage[["role", "prompts", "asked", "failed"]].values.tolist() == [["extractor", 2, 3, 1]]


def test_texts_that_cannot_be_told_apart_or_read_are_named(tmp_path):
    from leak_chunks import leak_chunks

    for folder, content in (("a", b"One. Two."), ("b", b"\xff")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.txt").write_bytes(content)
    one, two = (str(tmp_path / folder / "x.txt") for folder in "ab")
    out = str(tmp_path / "c.parquet")
    with pytest.raises(ValueError, match="x.txt: several texts of this name"):
        leak_chunks([one, two], out, 5)
    with pytest.raises(ValueError, match=r"b/x.txt: not UTF-8 \(invalid start byte at byte 0\); save it as UTF-8"):
        leak_chunks([two], out, 5)
    (tmp_path / "empty.txt").write_text(" \n")
    with pytest.raises(ValueError, match="no sentence in any of these texts"):
        leak_chunks([str(tmp_path / "empty.txt")], out, 5)


def test_questions_are_composed_checked_rated_and_nothing_is_asked_twice(endpoint, tmp_path):
    from leak_questions_llm import leak_questions_llm
    from leak_rate_llm import leak_rate_llm

    write_table(KNOWN, tmp_path / "facts.parquet", "facts")
    tables = at(tmp_path, "facts", "matches", "composed", "decomposed", "uniqueness", "multihop", "rejected", "funnel",
                "rounds", "usage")  # fmt: skip
    given = asking(endpoint, tmp_path, "composer", "decomposer", "uniqueness")
    resources = {name: path for name, path in FILES.items() if name != "prompts"}
    values = GIVEN | {"per_type": 3, "asked_per_type": 9, "on_short": "report", "max_rounds": 2}
    assert leak_questions_llm(**tables, **resources, **values, **given)
    kept = read_table(tables["multihop"], "multihop")
    assert set(kept["type"]) == {"hs", "mp", "mt", "ll", "cc", "ds"} and CHAIN not in set(kept["match_id"])
    refused = read_table(tables["rejected"], "rejected")
    assert refused[["id", "check", "reason", "round"]].values.tolist() == [
        [f"{CHAIN}#{number}", "leak", "names 'France'", 2] for number in range(3)
    ]
    steps = read_table(tables["funnel"], "funnel")
    steps = steps[steps["type"] == "hs"].set_index("step")["n"].to_dict()
    n = steps["matched"]
    assert steps == dict(matched=n, drawn=n, composed=n - 1, decomposed=n - 1, unique=n - 1, kept=3)
    told = {role: endpoint.asked[role] for role in ("composer", "decomposer", "uniqueness")}
    usage = read_table(tables["usage"], "usage").set_index("role")
    assert usage["asked"].to_dict() == told and (usage["input_tokens"] == 100 * usage["asked"]).all()
    before = {name: (tmp_path / f"{name}.parquet").read_bytes() for name in tables}
    leak_questions_llm(**tables, **resources, **values, **given)
    assert told == {role: endpoint.asked[role] for role in told}
    assert before == {name: (tmp_path / f"{name}.parquet").read_bytes() for name in tables}

    paths = at(tmp_path, "multihop", "facts", "ratings") | {"usage": str(tmp_path / "rated.parquet")}
    leak_rate_llm(**paths, seed=0, rated_per_type=1, **asking(endpoint, tmp_path, "rater_1"))
    rated = read_table(paths["ratings"], "ratings")
    assert len(rated) == endpoint.asked["rater_1"] == 6 and set(rated["naturalness"]) == {71}

    from leak_quality import leak_quality

    sheets = {ending: str(tmp_path / f"en.{ending}") for ending in ("csv", "xlsx")}
    figures = at(tmp_path, "multihop", "facts", "quality")
    leak_quality(**figures, **sheets, seed=0, review_per_type=1, ratings=[paths["ratings"]])
    measured = read_table(figures["quality"], "quality").set_index(["type", "measure"])["value"]
    assert measured["all", "llm_rating"] == measured["mt", "llm_rating_rater_1"] == pytest.approx((90 + 80 + 71) / 3)
    assert 0 < measured["all", "self_bleu"] <= 1
