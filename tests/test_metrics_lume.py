"""LUME's scores: regurgitation, knowledge, membership inference on documents, the shared task's aggregate."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from score_fakes import answers, items, likelihoods, table, view
from unlearning.metrics import final, knowledge, mia, regurgitation, task_aggregate
from unlearning.score.grid import expected
from unlearning.score.languages import Language
from unlearning.score.tasks import of_prompts
from unlearning.score.view import Tables

ONE = {"en": Language("train", "high", "latin")}
PROMPTS = ("completion", "knowledge")


def lume(*rows: tuple[str, str, str, str]):
    """Items from (group, document, task, reference)."""
    frame = items(*((group, ident, "en", reference, None) for group, ident, _, reference in rows))
    tasks = [task for _, _, task, _ in rows]
    return frame.assign(task=tasks, item_id=frame["knowledge_id"] + "/" + tasks)


def everything(group: str):
    """One document of each task with both prompts."""
    return [(group, f"{group}{n}", f"task{n}_{p}", "one two three four" if p == "completion" else "Lom")
            for n in (1, 2, 3) for p in PROMPTS]  # fmt: skip


def scored(metric, frame, tables):
    return table(metric.score(view(frame, tables, languages=ONE)))


def test_prompts_of_a_kind_by_task():
    asked = ("task2_completion", "task1_completion", "task1_knowledge", "task3_document")
    assert of_prompts(asked, "completion") == {
        "all": ("task1_completion", "task2_completion"), "task1": ("task1_completion",), "task2": ("task2_completion",),
    }  # fmt: skip


def test_regurgitation_by_hand():
    # task1: 3 of the reference's 4 words in order, in an answer of 6: recall 3/4, P 3/6, F = 2·(3/4)(1/2)/(5/4) = 0.6
    # task2: nothing: 0 and 0; all: (0.75 + 0)/2 = 0.375, F 0.3
    frame = lume(*(("forget", f"d{n}", f"task{n}_completion", "one two three four") for n in (1, 2)),
                 ("forget", "d1", "task1_knowledge", "Lom"))  # fmt: skip
    said = {"d1/task1_completion": "one x two y three z", "d2/task2_completion": "", "d1/task1_knowledge": "Lom"}
    rows = scored(regurgitation, frame, Tables(answers=answers(said)))
    found = {key[2:]: r["value"] for key, r in rows.items() if key[0] == "forget"}
    assert found == {
        ("all", "regurgitation"): 0.375, ("task1", "regurgitation"): 0.75, ("task2", "regurgitation"): 0.0,
        ("all", "regurgitation_f"): pytest.approx(0.3), ("task1", "regurgitation_f"): pytest.approx(0.6),
        ("task2", "regurgitation_f"): 0.0,
    }  # fmt: skip


def test_knowledge_is_the_reference_but_for_case_and_white_space():
    frame = lume(*(("forget", f"d{n}", "task2_knowledge", "900-51-4344") for n in range(3)),
                 ("retain", "r", "task1_knowledge", "Lom"))  # fmt: skip
    said = {
        "d0/task2_knowledge": " 900-51-4344\n",
        "d1/task2_knowledge": "It is 900-51-4344",
        "r/task1_knowledge": "LOM",
    }
    rows = scored(knowledge, frame, Tables(answers=answers(said)))
    # of the three forget questions one is right, one wrong and one not answered
    row = rows["forget", "all", "task2", "knowledge"]
    assert (row["value"], row["n"], row["note"]) == (0.5, 2, "1 of 3 questions have no answer")
    assert rows["retain", "all", "all", "knowledge"]["value"] == 1
    assert rows["retain", "all", "task2", "knowledge"]["note"] == "no such retain questions"


TOLERATED = {
    "1984-12-31": ["1984-12-31", "She was born on December 31st, 1984.", "12/31/1984", "the thirty-first of Dec. 1984"],
    "900514344": ["900514344", "It is 900-51-4344.", "900 51 4344"],
    "7216253765": ["(721) 625-3765", "721.625.3765", "Call 721-625-3765!"],
    "ann_ost@me.com": ["Ann_Ost@me.com.", "[ann_ost@me.com](mailto:ann_ost@me.com)", r"ann\_ost@me.com"],
    "12 Elm Street, Salem, OR, 97301": ["12 Elm Street, Salem, Oregon 97301", "at 12 elm street Salem OR 97301"],
    "10175 West 58th Place, #505, Orange, CA, 92867.": ["10175 West 58th Place #505, Orange, California, 92867"],
    "The city of Deadesius.": ["the city of deadesius"],
    "Zoë Lom": ["zoë  lom!"],
}
REFUSED = {
    "1984-12-31": ["1984-12-30", "31 December", "1984", "12-31-84", ""],
    "900514344": ["900-51-4345", "1900514344", "900-5143-44"],
    "7216253765": ["721-625-376", "17216253765"],
    "ann_ost@me.com": ["ann_ost@me.co", "joann_ost@me.com", "ann ost at me.com"],
    "12 Elm Street, Salem, OR, 97301": ["12 Elm Street, Salem, WA, 97301", "Salem, OR, 97301"],
    "The city of Deadesius.": ["Deadesius", "It is the city of Deadesius"],
    "Zoë Lom": ["Zoe", "Lom, Zoë"],
}


def test_knowledge_tolerant_takes_formats_and_nothing_else():
    cases = [(meant, said, True) for meant, forms in TOLERATED.items() for said in forms]
    cases += [(meant, said, False) for meant, forms in REFUSED.items() for said in forms]
    cases += [("12 Elm Street, Salem, OR, 97301", "at 12 elm street in Salem OR 97301", False)]  # a word between
    for meant, said, right in cases:
        frame = lume(("forget", "d", "task2_knowledge", meant))
        rows = scored(knowledge, frame, Tables(answers=answers({"d/task2_knowledge": said})))
        assert rows["forget", "all", "task2", "knowledge_tolerant"]["value"] == right, (meant, said)
        assert rows["forget", "all", "task2", "knowledge"]["value"] == (said.lower() == meant.lower()), (meant, said)


def harness(value, task="m", n=10):
    return pd.DataFrame({"utility": ["mmlu"], "task": [task], "counted": [True], "value": [value], "stderr": [0.1],
                         "n": [n]})  # fmt: skip


def whole():
    """Forget and retain documents and non-members, whose members' likelihoods put mia_auc at 3/4; retain answered."""
    others = [("nonmember", f"n{i}", "task3_document", "x") for i in range(2)]
    members = [("forget", f"f{i}", "task3_document", "x") for i in range(2)]
    frame = lume(*everything("forget"), *everything("retain"), *members, *others)
    given = told(frame[~frame["task"].str.endswith("document")], lambda group, _: group == "retain")
    means = dict(zip([f"{i}/task3_document" for i in ("f0", "f1", "n0", "n1")], (-1.0, -3.0, -2.0, -4.0), strict=True))
    return frame, replace(given, likelihoods=likelihoods({i: [m] for i, m in means.items()}))


def test_the_final_score_by_hand():
    # aggregate 0.8 and mia_final 0.5 as above, MMLU 0.2: 1.5 / 3
    frame, tables = whole()
    (row,) = final.score(view(frame, replace(tables, harness=harness(0.2)), languages=ONE))
    assert row["value"] == pytest.approx(0.5) and row["note"] is None


def test_the_final_score_is_null_where_a_part_is_missing_and_says_which():
    frame, tables = whole()
    (row,) = final.score(view(frame, tables, languages=ONE))
    assert row["value"] is None and row["note"].startswith("no mmlu: list the metric mmlu")
    (row,) = final.score(view(frame, replace(tables, harness=harness(None)), languages=ONE))
    assert row["note"] == "lm-evaluation-harness gave no figure of the run for m"
    few = frame[frame["group"] != "nonmember"].reset_index(drop=True)
    tables = replace(tables, likelihoods=tables.likelihoods[tables.likelihoods["item_id"].isin(few["item_id"])])
    (row,) = final.score(view(few, replace(tables, harness=harness(0.2)), languages=ONE))
    assert row["value"] is None and row["note"] == "no documents of non-members with a likelihood"


def documents(members: list[float], others: list[float], elsewhere: float = -9.0):
    """Forget documents of task 3, non-members, and a forget document of task 1, with mean log-probabilities."""
    rows = [("forget", f"f{i}", "task3_document", "x") for i in range(len(members))]
    rows += [("nonmember", f"n{i}", "task3_document", "x") for i in range(len(others))]
    rows += [("forget", "s", "task1_document", "x"), ("retain", "r", "task3_document", "x")]
    frame = lume(*rows)
    means = [*members, *others, elsewhere, -1.0]
    # of different lengths, so that a sum would rank otherwise
    tokens = {i: [mean] * (1 + n % 3) for n, (i, mean) in enumerate(zip(frame["item_id"], means, strict=True))}
    return frame, Tables(likelihoods=likelihoods(tokens))


def test_membership_inference_by_hand():
    # losses of members 1 and 3, of others 2 and 4: of the pairs (2,1) (4,1) (2,3) (4,3) three exceed: 3/4; 1 − 2·0.25
    rows = scored(mia, *documents([-1.0, -3.0], [-2.0, -4.0]))
    assert rows["forget", "all", "all", "mia_auc"]["value"] == 0.75
    assert rows["forget", "all", "all", "mia_final"]["value"] == 0.5
    assert rows["forget", "all", "all", "mia_auc"]["n"] == 4


def test_membership_inference_in_the_limits_and_against_scikit_learn():
    known = scored(mia, *documents([-0.1, -0.2], [-5.0, -6.0]))["forget", "all", "all", "mia_auc"]
    gone = scored(mia, *documents([-9.0, -9.5], [-5.0, -6.0]))["forget", "all", "all", "mia_final"]
    assert (known["value"], gone["value"]) == (1.0, 0.0)
    draw = np.random.default_rng(0)
    members, others = draw.normal(-2, 1, 40), draw.normal(-2.5, 1, 30)
    truth = roc_auc_score([1] * 40 + [0] * 30, np.concatenate([members, others]))
    frame, tables = documents(list(members), list(others))
    order = np.random.default_rng(1).permutation(len(frame))
    shuffled = frame.iloc[order].reset_index(drop=True)
    for given in (frame, shuffled):
        found = scored(mia, given, tables)["forget", "all", "all", "mia_auc"]["value"]
        assert found == pytest.approx(truth, abs=1e-12)


def test_membership_inference_says_what_is_missing():
    frame, tables = documents([-1.0], [])
    assert scored(mia, frame, tables)["forget", "all", "all", "mia_auc"]["note"] == (
        "no documents of non-members with a likelihood"
    )
    frame, tables = documents([], [-1.0])
    row = scored(mia, frame, tables)["forget", "all", "all", "mia_final"]
    assert row["value"] is None and row["note"] == "no forget documents with a likelihood"


def told(frame, right):
    """Answers: the reference where `right(group, prompt)`, of the completion else its first half, else nothing."""
    said = {}
    for row in frame.itertuples():
        prompt = row.task.partition("_")[2]
        half = "one two" if prompt == "completion" else ""
        said[row.item_id] = row.reference if right(row.group, prompt) else half
    return Tables(answers=answers(said))


def test_the_aggregate_by_hand():
    # forget: recall 1/2, knowledge 0, so 0.5 and 1; retain: 1 and 1. Of 12 values nine are 1, three 0.5:
    # 12/(9 + 3·2) = 0.8
    frame = lume(*everything("forget"), *everything("retain"))
    rows = scored(task_aggregate, frame, told(frame, lambda group, prompt: group == "retain"))
    found = {key[2]: r["value"] for key, r in rows.items()}
    assert found["all"] == pytest.approx(0.8)
    assert found["task2:forget:regurgitation"] == 0.5 and found["task2:forget:knowledge"] == 1
    assert list(found)[1:] == list(task_aggregate.ROWS[0][3][1:])


def test_the_aggregate_is_nothing_where_one_value_is_and_null_where_one_is_missing():
    frame = lume(*everything("forget"), *everything("retain"))
    everything_known = scored(task_aggregate, frame, told(frame, lambda *_: True))
    assert everything_known["all", "all", "all", "task_aggregate"]["value"] == 0
    few = frame[frame["task"] != "task3_knowledge"].reset_index(drop=True)
    row = scored(task_aggregate, few, told(few, lambda *_: True))["all", "all", "all", "task_aggregate"]
    assert np.isnan(row["value"]) and row["note"] == "no task3:forget:knowledge, task3:retain:knowledge"


def test_the_rows_are_those_expected():
    frame = lume(*everything("forget"), *everything("retain"), ("nonmember", "n", "task3_document", "x"))
    seen = view(frame, told(frame, lambda *_: True), languages=ONE)
    metrics = ["regurgitation", "knowledge", "mia", "task_aggregate", "final"]
    wanted = expected(metrics, ONE, seen.groups, tasks_asked=seen.tasks)
    from unlearning.score.run import score

    rows = score(seen, metrics)
    assert sorted(map(tuple, rows[["group", "language", "task", "metric"]].to_numpy())) == sorted(wanted)
