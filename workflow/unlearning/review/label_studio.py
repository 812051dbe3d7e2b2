"""Label Studio: review sheets as tasks to import, and the decisions in its JSON export.

The labelling configuration that goes with the tasks is resources/review/label_studio.xml.
"""

import datetime
import json
from pathlib import Path

import pandas as pd

from unlearning.review.rows import BACK, CORRECTED, SHOWN, ReviewError, Row

FIELDS = ("decision", *CORRECTED, "comment")  # names of the controls in the labelling configuration


def tasks(sheet: pd.DataFrame) -> list[dict]:
    """One task for each row of `sheet` (`sheets.review_sheet`): `data` to show, `meta` with what failed.

    Decisions already made come as a prediction, which starts an annotator off.
    """
    shown, filled = sheet[list(SHOWN)].to_dict("records"), sheet[list(FIELDS)].to_dict("records")
    return [
        {"data": _data(row), "meta": {"why": row["why"]}, "predictions": _prediction(earlier)}
        for row, earlier in zip(shown, filled, strict=True)
    ]


def _data(row: dict[str, str]) -> dict[str, str]:
    """The row's texts, and what the form shows on one line (its headers take one variable each)."""
    lines = {
        "heading": f"{row['id']}: {row['why']}",
        "english": f"{row['english_question']} | {row['english_answer']}",
        "back": " | ".join(row[name] for name in BACK if row[name]) or "none",
    }
    return {"pair_id": row.pop("id"), **row, **lines}  # Label Studio has an `id` of its own


def _prediction(earlier: dict[str, str]) -> list[dict]:
    texts = [_result(name, "textarea", {"text": [earlier[name]]}) for name in FIELDS[1:] if earlier[name]]
    if not earlier["decision"]:
        return []
    chosen = _result("decision", "choices", {"choices": [earlier["decision"]]})
    return [{"model_version": "earlier decision", "result": [chosen, *texts]}]


def _result(name: str, kind: str, value: dict) -> dict:
    target = name.removeprefix("corrected_") if name in CORRECTED else "question"
    return {"id": name, "from_name": name, "to_name": target, "type": kind, "value": value}


def read_export(path: Path) -> list[Row]:
    """The newest annotation of each task in Label Studio's JSON export, as rows of a sheet.

    Skipped (cancelled) annotations and tasks without one do not count. Where the annotators' last words differ, `note`
    says so. ReviewError: not that export.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ReviewError(f"{path}: not JSON ({error}); export the project from Label Studio as JSON") from None
    if not isinstance(content, list) or not all(isinstance(t, dict) and "annotations" in t for t in content):
        raise ReviewError(
            f"{path}: not Label Studio's JSON export (a list of tasks with 'annotations'); choose the format JSON, not "
            "JSON-MIN or CSV, when exporting"
        )
    return [row for task in content if (row := _row(task, path))]


def _row(task: dict, path: Path) -> Row | None:
    place = f"{path}, task {task.get('id', '?')}"
    data = task.get("data", {})
    if "pair_id" not in data:
        raise ReviewError(f"{place}: no pair_id in its data; import the tasks of results/data/…/review, unchanged")
    said = [_said(a, place) for a in task["annotations"] if not a.get("was_cancelled") and a.get("result")]
    if not said:
        return None
    said.sort(key=lambda annotation: annotation["when"])
    cells = {name: str(text) for name, text in data.items() if name not in FIELDS}
    newest = said[-1]
    return Row(
        place, {**cells, "id": data["pair_id"], **newest["fields"], "reviewer": newest["who"], "note": _note(said)}
    )


def _said(annotation: dict, place: str) -> dict:
    """Who annotated when, and what stands in each field (several texts of one area are lines of it)."""
    fields = dict.fromkeys(FIELDS, "")
    for result in annotation["result"]:
        name, value = result.get("from_name"), result.get("value", {})
        if name not in FIELDS:
            continue
        texts = value.get("choices" if name == "decision" else "text", [])
        texts = [texts] if isinstance(texts, str) else texts
        if name == "decision" and len(texts) > 1:
            raise ReviewError(f"{place}: {len(texts)} decisions in one annotation ({', '.join(texts)}); keep one")
        fields[name] = "\n".join(texts)
    who = annotation.get("completed_by", "")
    who = who.get("email") or who.get("id", "") if isinstance(who, dict) else who
    when = annotation.get("updated_at") or annotation.get("created_at")
    return {"who": str(who), "when": _time(when, place), "fields": fields}


def _time(text: str | None, place: str) -> datetime.datetime:
    try:
        found = datetime.datetime.fromisoformat(text) if text else datetime.datetime.min
    except ValueError:
        raise ReviewError(f"{place}: {text!r} is no time; export the project from Label Studio again") from None
    return found if found.tzinfo else found.replace(tzinfo=datetime.UTC)


def _note(said: list[dict]) -> str:
    """Where the last words of the annotators differ: who said what, and whose counts."""
    last = {annotation["who"]: annotation["fields"] for annotation in said}
    told = [tuple(fields[name] for name in FIELDS if name != "comment") for fields in last.values()]
    if len(set(told)) < 2:
        return ""
    words = "; ".join(f"{who}: {fields['decision'] or 'none'}" for who, fields in last.items())
    return f"annotators disagree ({words}); the newest counts, {said[-1]['who']}'s"
