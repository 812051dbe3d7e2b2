"""Label Studio: the form, the tasks that are imported, and its export read back."""

import json
import re
import xml.etree.ElementTree as ET

import pytest

from mu2_sources import ROOT
from review_data import Data, filled
from unlearning.review import label_studio
from unlearning.review.decisions import decisions
from unlearning.review.rows import DECISIONS, ReviewError


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return Data(tmp_path_factory.mktemp("sources"))


def annotation(who, when, decision=None, cancelled=False, **texts):
    """One annotation as Label Studio exports it."""
    result = [
        {"id": f"r{name}", "from_name": name, "to_name": "question", "type": "textarea", "origin": "manual",
         "value": {"text": [text]}}
        for name, text in texts.items()
    ]  # fmt: skip
    if decision:
        value = {"choices": [decision]}
        result.append({"id": "d", "from_name": "decision", "to_name": "question", "type": "choices", "value": value})
    return {"id": 41, "completed_by": who, "was_cancelled": cancelled, "ground_truth": False,
            "created_at": "2026-01-01T00:00:00.0Z", "updated_at": when, "result": result}  # fmt: skip


def export(tasks, path, annotations):
    """The export of a project into which `tasks` were imported: {pair_id: its annotations}."""
    content = [
        {"id": number, "project": 4, "data": task["data"], "meta": task["meta"], "drafts": [], "predictions": [],
         "annotations": annotations.get(task["data"]["pair_id"], [])}
        for number, task in enumerate(tasks, start=1)
    ]  # fmt: skip
    path.write_text(json.dumps(content), "utf-8")
    return path


def test_the_form_has_every_control_and_shows_only_what_the_tasks_hold(data):
    (task, *_) = label_studio.tasks(data.sheet())
    form = ET.parse(ROOT / "resources/review/label_studio.xml").getroot()
    controls = {e.get("name"): e.get("toName") for e in form.iter() if e.get("toName")}
    shown = {e.get("name") for e in form.iter("Text")}
    assert set(controls) == set(label_studio.FIELDS) and set(controls.values()) <= shown
    assert [c.get("value") for c in form.iter("Choice")] == list(DECISIONS)
    variables = {name for e in form.iter() for name in re.findall(r"\$(\w+)", e.get("value") or "")}
    assert variables and variables <= set(task["data"])
    assert all(isinstance(text, str) for text in task["data"].values())
    made = {
        r["from_name"]: r["to_name"]
        for r in label_studio._prediction(dict.fromkeys(label_studio.FIELDS, "x"))[0]["result"]
    }
    assert made == controls


def test_tasks_say_what_failed_and_carry_earlier_decisions_as_predictions(data):
    sheet = filled(data.sheet(), data.bad[0], decision="reject", comment="both")
    tasks = {t["data"]["pair_id"]: t for t in label_studio.tasks(sheet)}
    assert "unique_translation" in tasks[data.bad[0]]["meta"]["why"]
    assert tasks[data.kept["pair_id"].iloc[0]]["meta"]["why"] == "sample"
    values = {r["from_name"]: r["value"] for r in tasks[data.bad[0]]["predictions"][0]["result"]}
    assert values == {"decision": {"choices": ["reject"]}, "comment": {"text": ["both"]}}
    assert tasks[data.kept["pair_id"].iloc[0]]["predictions"] == []


def test_an_export_gives_its_decisions_without_skipped_ones(data, tmp_path):
    tasks = label_studio.tasks(data.sheet())
    one, two, three, four = data.kept["pair_id"].iloc[:4]
    path = export(tasks, tmp_path / "de.json", {
        one: [annotation(3, "2026-02-01T10:00:00Z", "correct", corrected_answer="Neu.")],
        two: [annotation({"id": 7, "email": "b@x.org"}, "2026-02-01T10:00:00Z", "reject", comment="odd")],
        three: [annotation(3, "2026-02-01T10:00:00Z", "approve", cancelled=True)],
        four: [annotation(3, "2026-02-01T10:00:00Z")],
    })  # fmt: skip
    found = decisions(path, ids=set(data.pairs["pair_id"]), cut="small").set_index("id")
    assert set(found.index) == {one, two}
    assert found.loc[one, ["decision", "answer", "reviewer"]].tolist() == ["correct", "Neu.", "3"]
    assert found.loc[one, "question"] == data.row(one)["question"]
    assert found.loc[two, ["decision", "comment", "reviewer"]].tolist() == ["reject", "odd", "b@x.org"]


def test_of_several_annotators_the_newest_counts_and_disagreement_is_told(data, tmp_path):
    tasks = label_studio.tasks(data.sheet())
    one, two, three = data.kept["pair_id"].iloc[:3]
    path = export(tasks, tmp_path / "de.json", {
        one: [annotation(1, "2026-02-03T09:00:00+00:00", "reject"), annotation(2, "2026-02-02T23:00:00Z", "approve")],
        two: [annotation(1, "2026-02-03T09:00:00Z", "approve"), annotation(2, "2026-02-02T23:00:00Z", "approve")],
        three: [annotation(1, "2026-02-01T09:00:00Z", "reject"), annotation(1, "2026-02-02T23:00:00Z", "approve")],
    })  # fmt: skip
    found = decisions(path).set_index("id")
    assert found["decision"].to_dict() == {one: "reject", two: "approve", three: "approve"}
    assert found.loc[one, "note"] == "annotators disagree (2: approve; 1: reject); the newest counts, 1's"
    assert not found.loc[two, "note"] and not found.loc[three, "note"]  # 1 only changed their mind


@pytest.mark.parametrize("content, words", [
    ("{}", "not Label Studio's JSON export"), ("[", "not JSON"), ('[{"id": 1, "decision": "approve"}]', "not JSON-MIN"),
    ('[{"id": 9, "data": {}, "annotations": []}]', "task 9: no pair_id"),
])  # fmt: skip
def test_another_json_is_refused(tmp_path, content, words):
    (tmp_path / "de.json").write_text(content)
    with pytest.raises(ReviewError, match=words):
        decisions(tmp_path / "de.json")
