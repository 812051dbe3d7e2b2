"""Bare documents among the items: their likelihood is asked, nothing is generated, and the attack on it is scored."""

import sys

import pandas as pd

from mu2_sources import ROOT
from test_lume_scripts import folder, laid_out  # noqa: F401 (a fixture)
from unlearning.answer.prompted import prompted
from unlearning.answer.select import questions
from unlearning.models.load import save_model
from unlearning.models.small import small_model
from unlearning.models.tokenizer import texts_of, train_tokenizer
from unlearning.tables.artifacts import read_table

sys.path.append(str(ROOT / "workflow" / "scripts"))
SHAPE = {"hidden": 16, "layers": 1, "heads": 2, "intermediate": 16, "max_length": 512}


def test_documents_have_likelihoods_and_no_answers_and_nothing_is_judged(folder, tmp_path):  # noqa: F811
    from answer import answer
    from score import score

    made = laid_out(folder)
    tokenizer = train_tokenizer(texts_of(made["examples"], made["items"]), 300)
    save_model(small_model(SHAPE, tokenizer, 0), tokenizer, tmp_path / "model.json", {"steps": 0, "collapsed": False})
    at = {name: str(tmp_path / f"{name}.parquet") for name in ("answers", "likelihoods", "scores")}
    items = str(folder / "items.parquet")
    answer(str(tmp_path / "model.json"), items, at["likelihoods"], 64, at["answers"], max_new_tokens=2, device="cpu")
    said, likely = (set(read_table(at[name], name)["item_id"]) for name in ("answers", "likelihoods"))
    bare = set(made["items"].loc[made["items"]["task"] == "task3_document", "item_id"])
    assert likely == set(made["items"]["item_id"]) and said == likely - bare and len(bare) == 9
    identity = dict.fromkeys(("benchmark", "base_model", "setting", "method", "attack"), "x")
    score(
        items, str(folder / "splits.parquet"), [], at["answers"], at["likelihoods"], [], [],
        [at["answers"], at["likelihoods"]], [], at["scores"], identity | {"split": "forget", "seed": 0, "epoch": 1},
        ["regurgitation", "knowledge", "mia", "task_aggregate"],
        {"en": {"role": "train", "resource": "high", "script": "latin"}}, "", [], 20,
    )  # fmt: skip
    scores = read_table(at["scores"], "scores").set_index(["metric", "group", "task"])
    assert scores.loc[("mia_auc", "forget", "all"), "n"] == 3 + 4  # forget members of task 3, non-members
    assert 0 <= scores.loc[("mia_auc", "forget", "all"), "value"] <= 1
    assert pd.isna(scores.loc[("regurgitation", "forget", "task1"), "note"])


def test_attacks_on_prompts_leave_documents_as_they_are(folder):  # noqa: F811
    items = laid_out(folder)["items"]
    attack = {"attack": "focus_on_key", "params": {"spans": "pos", "pipeline": "none", "times": 2}}
    changed = prompted(items, [attack])
    assert set(changed["item_id"]) == set(items["item_id"]) and len(questions(items)) == len(items) - 9
    before, after = (table.set_index("item_id").sort_index() for table in (items, changed))
    silent = before["messages"].map(len) == 0
    pd.testing.assert_frame_equal(before[silent], after[silent])
    differ = [a[0]["content"] != b[0]["content"] for a, b in
              zip(before.loc[~silent, "messages"], after.loc[~silent, "messages"], strict=True)]  # fmt: skip
    assert all(differ)
