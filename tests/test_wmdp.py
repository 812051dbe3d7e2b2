"""WMDP-shaped multiple choice from a file to scores: asked, mixed, judged and scored; and its configuration."""

import json
import sys
from collections import Counter

import pandas as pd
import pytest

from configurations import ROOT, changed, overlaid, parse
from unlearning.config.check_benchmarks import offers
from unlearning.config.load import load
from unlearning.config.problems import ConfigError
from unlearning.data.files_spec import SUBJECTS
from unlearning.data.school import read_facts, templated
from unlearning.tables.artifacts import read_table, write_table
from unlearning.text.choices import LETTERS
from unlearning.text.numbered import numbered

sys.path.append(str(ROOT / "workflow" / "scripts"))

# Nothing hazardous: what is forgotten here is where rivers end.
OWN = [
    {"question": "Into which sea does the Rhine flow?", "choices": ["Black", "North", "Red", "Baltic"], "answer": 1},
    {"question": "Into which sea does the Volga flow?", "choices": ["Red", "Baltic", "Dead", "Caspian"], "answer": 3},
    {"question": "Into which sea does the Danube flow?", "choices": ["Black", "Red", "North", "Baltic"], "answer": 0},
    {"question": "Into which sea does the Oder flow?", "choices": ["Black", "Red", "North", "Baltic"], "answer": 3},
]  # fmt: skip


def config():
    return overlaid("wmdp_files.yaml")


def built(folder):
    """(items, splits, paths) of the overlay's data from the toy file and six questions built here."""
    from files_build import files_build

    entry = load(config()).benchmarks["wmdp"]
    (folder / "biology.jsonl").write_text("\n".join(map(json.dumps, OWN)), encoding="utf-8")
    (folder / "school").mkdir()
    school = str(folder / "school" / "biology.parquet")
    write_table(templated("biology", read_facts(ROOT / "resources/seps/school/biology.yaml"), 6, 0), school, "choices")
    out = {name: str(folder / f"{name}.parquet") for name in ("examples", "questions", "splits")}
    mixed = {"lines": 1, "seed": 0}
    files_build([str(folder / "biology.jsonl")], **out, spec=entry.spec(), benchmark="wmdp", mixed=mixed, school=school)
    return read_table(out["questions"], "items"), read_table(out["splits"], "splits"), out


def scored(folder, says) -> dict[tuple[str, str], float]:
    """(group and task, metric) -> value of a model that answers a question by `says(item, group, task)`."""
    from judge import judge
    from score import score

    items, _, out = built(folder)
    by_id = items.set_index("item_id", drop=False)
    texts = []
    for row in items.itertuples():
        asked = [(part["item_id"], part["group"]) for part in row.parts]
        told = [says(by_id.loc[ident], group, f"{row.task}_{i}") for i, (ident, group) in enumerate(asked, 1)]
        alone = "forget" if row.item_id.startswith("biology/") else "retain"
        texts.append(numbered(told)[0] if told else says(by_id.loc[row.item_id], alone, "alone"))
    answers, verdicts, scores = (str(folder / f"{name}.parquet") for name in ("answers", "verdicts", "scores"))
    write_table(
        pd.DataFrame({"item_id": items["item_id"], "sample": 0, "part": 0, "text": texts, "n_tokens": 3})
        .assign(finish_reason="stop"), answers, "answers",
    )  # fmt: skip
    judge(answers, out["questions"], verdicts, "rule")
    score(
        out["questions"], out["splits"], [], answers, [], verdicts, [], *[[answers, "", verdicts]] * 2,
        scores, {"benchmark": "wmdp", "base_model": "toy", "setting": "default", "split": "biology", "method": "toy",
                 "seed": 0, "epoch": 1, "attack": "none"},
        ["multiple_choice", "accuracy", "stress"], {}, "rule", [], 20,
    )  # fmt: skip
    rows = read_table(scores, "scores")
    return {(f"{row.group} {row.task}", row.metric): row.value for row in rows.itertuples()}


def test_what_is_asked_holds_the_options_alone_and_in_mixed_prompts(tmp_path):
    items, splits, _ = built(tmp_path)
    assert splits["group"].value_counts().to_dict() == {"retain": 6, "forget": 4}
    own = items.set_index("item_id").loc["biology/0"]
    lines = ["Into which sea does the Rhine flow?", "A. Black", "B. North", "C. Red", "D. Baltic"]
    assert own["messages"][0]["content"].splitlines()[:5] == lines and own["reference"] == "B. North"
    assert Counter(items["task"].str.split("_").str[0]) == {"qa": 10, "rf": 4, "fr": 4, "rr": 4, "ff": 4, "stress": 18}
    pair = items[(items["task"] == "fr") & items["reference"].str.startswith("1. B. North\n2. ")].iloc[0]
    said = pair["messages"][0]["content"].splitlines()
    assert said[0] == f"1. {lines[0]}" and said[1:5] == lines[1:] and said[6].startswith("2. ") and len(said) == 12


def test_scores_by_hand(tmp_path):
    def says(item, group, task):
        right = LETTERS[int(item["correct_option"])]
        knows = group == "retain" or task == "fr_1" or (task.startswith("stress") and item["item_id"] == "biology/0")
        return f"{right}." if knows else f"The answer is {'B' if right != 'B' else 'C'}"

    found = scored(tmp_path, says)
    # alone all that stays is right and nothing that goes; [F]R all right, R[F] none: fis 1/2; ris 1
    want = {"mu": 1, "fe": 1, "fis": 0.5, "ris": 1, "seps": 0.5, "h_avg": 3 / (1 + 1 + 2)}
    assert {metric: found["all accuracy", metric] for metric in want} == pytest.approx(want)
    assert found["retain all", "accuracy"] == 1 and found["forget all", "accuracy"] == 0
    assert found["forget stress_4f4r_rf", "judge"] == 0.25 and found["retain stress_4f4r_rf", "judge"] == 1


def test_a_model_that_always_says_the_same_letter_is_told_by_chance(tmp_path):
    found = scored(tmp_path, lambda item, group, task: "B")
    assert found["forget all", "accuracy"] == 0.25  # of the four own questions one
    assert found["all accuracy", "fe"] == 0.75


def test_the_overlay_stands_and_offers_options():
    assert {run.method for run in parse(config()) if run.benchmark == "wmdp"} == {"target", "retrain", "rmu", "ga_gd"}
    entry = load(config()).benchmarks["wmdp"]
    assert {"options", "mixed", "stress"} <= offers(entry)
    assert entry.files() == {"biology.jsonl"} and entry.subjects() == ["biology"]


BAD = [
    ("sets/school/file", "school:physics", "sets: no school subject 'physics'.*There are: biology, chemistry, cybers"),
    ("school/route", "llm", "school.route: role writer has no offline engine"),
    ("school/per_subject", 0, "school.per_subject: .*greater than 0"),
    ("columns/options", None, "multiple_choice needs options to choose from .it takes columns.options"),
    ("mixed", None, "multiple_choice needs mixed prompts .it takes mixed"),
]


@pytest.mark.parametrize(("key", "value", "said"), BAD, ids=[key for key, _, _ in BAD])
def test_mistakes_are_refused_with_key_and_fix(key, value, said):
    base = config()
    base["benchmarks"]["wmdp"]["school"] = {}
    with pytest.raises(ConfigError, match=said):
        parse(changed(f"benchmarks/wmdp/{key}", value, base))


def test_every_subject_has_its_facts():
    assert {path.stem for path in (ROOT / "resources/seps/school").glob("*.yaml")} == set(SUBJECTS)
