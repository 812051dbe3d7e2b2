"""Harmless multiple-choice questions at school level: from facts, and by language models, with planted mistakes."""

import contextlib
import sys
from collections import Counter

import pandas as pd
import pytest
import yaml

from llm_fakes import once
from mu2_llm_fakes import PROMPTS, Model
from mu2_sources import ROOT
from unlearning.data import llm_tools
from unlearning.data.files_spec import SCHOOL_ROLES as ROLES
from unlearning.data.files_spec import SUBJECTS
from unlearning.data.rounds import Tools
from unlearning.data.school import Draft, read_facts, templated, terms, wrong
from unlearning.data.school_llm import ANGLES, assigned, write
from unlearning.data.yaml_files import ResourceError
from unlearning.llm import foreseen
from unlearning.llm.complete import Door
from unlearning.llm.requests import Failure, Request, Sampling
from unlearning.llm.roles import Asker
from unlearning.tables.artifacts import read_table, write_table
from unlearning.text.choices import LETTERS

sys.path.append(str(ROOT / "workflow" / "scripts"))
FOLDER = ROOT / "resources" / "seps" / "school"
FACTS = {subject: read_facts(FOLDER / f"{subject}.yaml") for subject in SUBJECTS}


@pytest.mark.parametrize("subject", SUBJECTS)
def test_the_facts_give_100_different_questions_with_one_right_option_each(subject, tmp_path):
    made = templated(subject, FACTS[subject], 100, seed=0)
    write_table(made, tmp_path / "choices.parquet", "choices")
    assert len(read_table(tmp_path / "choices.parquet", "choices")) == made["question"].nunique() == 100
    facts = [fact for topic in FACTS[subject] for key, value in topic.facts for fact in ((key, value), (value, key))]
    for row in made.itertuples():
        assert wrong(Draft(row.question, tuple(row.options), row.correct_option)) is None
        assert row.options[row.correct_option] == row.answer
        assert any(found == row.answer and known in row.question for known, found in facts), row
    # an option's place says nothing: 25 of 100 each, within three and a half standard deviations
    assert all(10 <= n <= 40 for n in made["correct_option"].value_counts()) and made["correct_option"].nunique() == 4


def test_questions_are_those_of_the_seed():
    one, same, other = (templated("biology", FACTS["biology"], 30, seed) for seed in (0, 0, 1))
    pd.testing.assert_frame_equal(one, same)
    assert set(one["question"]) != set(other["question"])


def test_more_questions_than_the_facts_give_are_refused():
    with pytest.raises(ValueError, match=r"900 questions of chemistry, but its facts give \d+; lower per_subject"):
        templated("chemistry", FACTS["chemistry"], 900, 0)


FOUR = {"root": "drinking", "leaf": "eating", "petal": "luring", "seed": "growing"}
BROKEN = {
    "places": ({"ask": "Which part?", "facts": FOUR}, "ask: 'Which part.' should hold {value} once"),
    "no question": ({"facts": FOUR}, "should have facts, and ask or back"),
    "three": ({"ask": "{value}?", "facts": {"a": "b", "c": "d", "e": "f"}}, "3 keys; 4 options"),
    "twice": ({"ask": "{value}?", "facts": FOUR | {"stem": "Drinking"}}, "a value stands twice"),
    "groups": ({"back": "{key}?", "facts": FOUR | {"seed": ["growing", "lying"]}}, "leave back out"),
    "number": ({"ask": "{value}?", "facts": FOUR | {"seed": 7}}, "should be text, is 7"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_facts_that_make_no_good_questions_are_refused(name, tmp_path):
    entry, message = BROKEN[name]
    (tmp_path / "facts.yaml").write_text(yaml.safe_dump({"topic": entry}), encoding="utf-8")
    with pytest.raises(ResourceError, match=message):
        read_facts(tmp_path / "facts.yaml")


GOOD = Draft("Which part of a plant drinks?", ("root", "leaf", "petal", "seed"), 0)
MISTAKES = {
    "no question": (GOOD._replace(question="A plant drinks with this part."), "choice_question"),
    "three options": (GOOD._replace(options=("root", "leaf", "petal")), "choice_options"),
    "index": (GOOD._replace(correct=4), "choice_options"),
    "same": (GOOD._replace(options=("root", "leaf", "Leaf.", "seed")), "choice_options"),
    "empty": (GOOD._replace(options=("root", "leaf", "petal", "?")), "choice_options"),
    "all": (GOOD._replace(options=("root", "leaf", "petal", "All of the above")), "choice_options"),
    "letters": (GOOD._replace(options=("root", "leaf", "petal", "both A and B")), "choice_options"),
    "named": (GOOD._replace(question="Which part, stem or root, drinks?"), "choice_named"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_each_mistake_is_found(name):
    draft, check = MISTAKES[name]
    assert wrong(GOOD) is None and wrong(draft)[0] == check


class SchoolModel(Model):
    """Writes a question about each term, and knows the right options of its own."""

    def fitting(self, request: Request) -> dict:
        """The right reply, by what the prompt was filled in with."""
        given = request.inputs
        if request.role == "writer":
            words = f"{given['term']} {given['angle'].replace(' ', 'x')} {len(given['attempts'])}"
            options = [f"wrong {i} {words}" for i in range(3)]
            return {"question": f"{words}: what is said of it?", "options": [f"right {words}", *options], "correct": 0}
        return {"letter": next(o[0] for o in given["options"] if "right" in o)}


def told(fault=lambda ident, inputs: None, n=6, max_rounds=2):
    model = SchoolModel(None, fault)
    tools = Tools(Asker(dict.fromkeys(ROLES, Door(model, None, None, 0))).ask, None, PROMPTS, {}, max_rounds)
    return write("biology", FACTS["biology"], n, tools, 0), model


def test_questions_are_written_and_answered_once_where_nothing_is_wrong(tmp_path):
    made, model = told()
    assert model.asked() == dict.fromkeys(ROLES, 6) and made.rejected.empty
    assert len(made.choices) == 6 and made.choices["answer"].str.startswith("right").all()
    assert made.choices["correct_option"].nunique() > 1  # the writer put it first
    for name, table in made._asdict().items():
        write_table(table, tmp_path / f"{name}.parquet", name)
    for request in model.sent:
        if request.role != "writer":
            assert set(request.inputs) == {"question", "options"}  # not told which is right
            assert [o[:3] for o in request.inputs["options"]] == [f"{letter}. " for letter in LETTERS[:4]]


REPLY = {"question": "Which part drinks?", "options": ["root", "leaf", "petal", "seed"], "correct": 0}
PLANTED = {
    "statement": ("writer", REPLY | {"question": "It drinks."}, "choice_question", "question mark"),
    "twice": ("writer", REPLY | {"options": ["root", "leaf", "leaf", "seed"]}, "choice_options", "the same"),
    "named": ("writer", REPLY | {"question": "Does a root drink?"}, "choice_named", "'root'"),
    "three": ("writer", REPLY | {"options": ["root", "leaf", "seed"]}, "no_reply", "at least 4"),
    "index": ("writer", REPLY | {"correct": 4}, "no_reply", "correct"),
    "prose": ("writer", "Once upon a time", "no_reply", "no whole JSON object"),
    "refused": ("writer", Failure("refused: HTTP 400: account 17", refused=True), "no_reply", "refused (HTTP 400)"),
    "none": ("verifier_1", {"letter": "none"}, "choice_verifiers", "verifier_1 says none"),
    "silent": ("verifier_2", "I think it is the first", "choice_verifiers", "verifier_2 gives no reply"),
}  # fmt: skip


@pytest.mark.parametrize("name", PLANTED)
def test_a_mistake_is_refused_told_and_mended_in_the_next_round(name):
    role, said, check, why = PLANTED[name]
    made, model = told(once("biology/001", said, role))
    assert list(made.choices["question_id"]) == [f"biology/{i:03d}" for i in range(6)]
    (row,) = made.rejected.to_dict("records")
    assert (row["id"], row["check"], row["round"]) == ("biology/001", check, 1) and why in row["reason"]
    assert row["reason"] in model.said_to("biology/001", "writer")[1]
    assert Counter(made.rounds["verdict"]) == {"accepted": 6, "refused": 1}


def test_a_question_much_like_another_is_refused_and_one_that_never_stands_is_left_out():
    def same(asked, inputs):
        return REPLY if asked in ("biology/001", "biology/004") and inputs["role"] == "writer" else None

    def knows(asked, inputs):
        found = same(asked, inputs)
        if found is None and inputs["role"] != "writer" and "root" in str(inputs["options"]):
            return {"letter": next(o[0] for o in inputs["options"] if "root" in o)}
        return found

    made, _ = told(knows)
    assert len(made.choices) == 5 and set(made.rejected["id"]) == {"biology/004"}
    assert set(made.rejected["check"]) == {"choice_duplicate"} and len(made.rejected) == 2


def test_a_question_that_a_verifier_refused_stands_in_nobodys_way():
    def fault(asked, inputs):
        if inputs["role"] == "writer" and asked in ("biology/001", "biology/004"):
            first = asked == "biology/001" and not inputs["attempts"]
            return REPLY if first or (asked == "biology/004" and inputs["attempts"]) else None
        if inputs["role"] == "verifier_1" and "root" in str(inputs["options"]):
            return {"letter": "none"} if asked == "biology/001" else {"letter": right(inputs)}
        if inputs["role"] == "verifier_2":
            broken = asked == "biology/004" and "root" not in str(inputs["options"])
            return {"letter": "none" if broken else right(inputs)}
        return None

    def right(inputs):
        return next(o[0] for o in inputs["options"] if "right" in o or "root" in o)

    made, _ = told(fault)
    assert len(made.choices) == 6 and "root" in set(made.choices["answer"])


def test_every_question_has_its_own_term_or_another_side_of_it():
    n = len(terms(FACTS["biology"]))
    given = assigned("biology", FACTS["biology"], n + 20, 0).values()
    assert len({(g["term"], g["angle"]) for g in given}) == n + 20 and {g["angle"] for g in given} == set(ANGLES)
    with pytest.raises(ValueError, match="lower per_subject"):
        assigned("biology", FACTS["biology"], len(ANGLES) * n + 1, 0)


def test_the_script_writes_what_was_made_and_the_estimate_foresees_it(tmp_path, monkeypatch):
    from school_questions_llm import school_questions_llm

    model = SchoolModel(None)

    @contextlib.contextmanager
    def opened(doors, store, job=""):
        yield Asker({role: Door(model, None, None, 0) for role in doors})

    monkeypatch.setattr(llm_tools, "open_roles", opened)
    out = {name: str(tmp_path / f"{name}.parquet") for name in ("choices", "rejected", "rounds", "usage")}
    prompts = [str(ROOT / f"resources/prompts/{name}_school.yaml") for name in ("writer", "verifier")]
    given = {"subject": "biology", "n": 5, "seed": 0, "max_rounds": 2}
    given["sampling"] = {role: Sampling()._asdict() for role in ROLES}
    facts = str(FOLDER / "biology.yaml")
    assert school_questions_llm(facts, prompts, **out, doors=dict.fromkeys(ROLES, {}), **given)
    assert len(read_table(out["choices"], "choices")) == 5 and model.asked() == dict.fromkeys(ROLES, 5)
    seen = foreseen.school_questions_llm(facts, prompts, **given)
    assert [(a.role, len(a.prompts), a.rounds) for a in seen] == [(role, 5, 2) for role in ROLES]
    foreseen.stand_in_school(facts, out["choices"], "biology", 300, 0)
    assert len(read_table(out["choices"], "choices")) == 300
