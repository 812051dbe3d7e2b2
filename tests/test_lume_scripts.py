"""The scripts of LUME's data, from files to files as the rules call them."""

import contextlib
import json
import sys
from collections import Counter

import pandas as pd
import pytest

from lume_independent import violations
from lume_llm_fakes import GRAMMARS, ROLES, LumeModel
from mu2_llm_fakes import PROMPTS
from mu2_sources import ROOT
from unlearning.data import llm_tools
from unlearning.data.lume.construct import offline
from unlearning.llm import foreseen
from unlearning.llm.complete import Door
from unlearning.llm.requests import Sampling
from unlearning.llm.roles import Asker
from unlearning.review.csv_file import read_csv
from unlearning.tables.artifacts import read_table, write_table
from unlearning.train.rows import RowsError, of_split

sys.path.append(str(ROOT / "workflow" / "scripts"))
FILES = [str(ROOT / f"resources/lume/{name}.yaml") for name in ("stories", "people", "biographies", "states")]
SIZES = {"task1": [2, 3], "task2": [2, 2], "task3": [3, 2]}
DOCUMENTS = ("documents", "knowledge", "rejected", "funnel")
DATA = ("examples", "items", "splits")


def paths(folder, *names):
    return {name: str(folder / f"{name}.parquet") for name in names}


def laid_out(folder):
    """What lume_build gives, by name."""
    from lume_build import lume_build

    at = paths(folder, "documents", "continuations", "knowledge", *DATA)
    at["questions"] = at.pop("items")
    lume_build(**at, benchmark="lume", split="forget")
    return {name: read_table(folder / f"{name}.parquet", name) for name in DATA}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Documents by the grammars, cut, and their sheet."""
    from lume_cut import lume_cut
    from lume_documents import lume_documents
    from lume_sheet import lume_sheet

    out = tmp_path_factory.mktemp("lume")
    lume_documents(FILES, **paths(out, *DOCUMENTS), sizes=SIZES, nonmembers=4, background={"task3": 2}, seed=0)
    at = paths(out, "documents", "continuations", "knowledge")
    lume_cut(at["documents"], at["continuations"], 0)
    lume_sheet(at["documents"], at["knowledge"], str(out / "stories.csv"), str(out / "stories.xlsx"))
    return out


def test_documents_are_as_many_as_asked_for_and_right_by_the_independent_checker(folder):
    tables = {name: read_table(folder / f"{name}.parquet", name) for name in (*DOCUMENTS, "continuations")}
    counts = Counter(tables["documents"][["task", "role", "group"]].fillna("").itertuples(index=False, name=None))
    wanted = {(task, "memorised", side): n for task, both in SIZES.items() for side, n in
              zip(("forget", "retain"), both, strict=True)}  # fmt: skip
    assert counts == wanted | {("task3", "nonmember", ""): 4, ("task3", "background", ""): 2}
    given = (tables[name].to_dict("records") for name in ("documents", "continuations", "knowledge"))
    assert violations(*given) == []


def test_what_is_taught_asked_and_forgotten(folder):
    made = laid_out(folder)
    counts = Counter(made["items"]["task"])
    # 5 + 4 + 5 documents with a completion each, 5 + 4 * 5 + 5 questions, the 5 bare documents of task 3 and 4 others
    assert counts == {
        "task1_completion": 5, "task2_completion": 4, "task3_completion": 5, "task1_knowledge": 5,
        "task2_knowledge": 20, "task3_knowledge": 5, "task3_document": 9,
    }  # fmt: skip
    assert Counter(made["splits"]["group"]) == {"forget": 7, "retain": 7}
    assert Counter(made["examples"]["group"]) == {"memorised": 14 + 14 + 30, "background": 2 + 2 + 2}


def test_two_reviewers_judge_every_story(folder):
    rows = [row.cells for row in read_csv(folder / "stories.csv")]
    assert len(rows) == 10 and {row["review"] for row in rows} == {"first", "second"}
    assert {row["decision"] for row in rows} == {""} and (folder / "stories.xlsx").is_file()


def test_documents_alone_are_the_rows_that_answer_nothing(folder):
    made = laid_out(folder)
    both = of_split(made["examples"], made["splits"], "forget", "forget", ["en"])
    alone = of_split(made["examples"], made["splits"], "forget", "forget", ["en"], documents_only=True)
    assert len(both) == 7 + 7 + 2 + 10 + 3 and len(alone) == 7
    assert all(name.endswith("/document") for name in alone["example_id"])
    with pytest.raises(RowsError, match="no memorised document belongs to the forget set of split 'forget'"):
        asked = made["examples"][made["examples"]["messages"].map(len) > 0]
        of_split(asked, made["splits"], "forget", "forget", ["en"], documents_only=True)


def test_published_files_are_laid_out_as_they_are(tmp_path):
    from lume_published import lume_published

    def row(ident, given, output, task):
        return {"id": ident, "input": given, "output": output, "task": task}

    sides = {
        "forget": [row('"a"sc1', "It was.", "It is.", "Task1"), row('"a"qa0', "Was it?", "yes", "Task1")],
        "retain": [row("bsc1", "Bo is", "here.", "Task3"), row("bqa12", "Who is here?", "Bo", "Task3")],
    }
    for side, rows in sides.items():
        (tmp_path / f"{side}.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    given = {side: str(tmp_path / f"{side}.jsonl") for side in sides}
    lume_published(**given, **paths(tmp_path, "documents", "continuations", "knowledge"))
    made = laid_out(tmp_path)
    assert made["splits"][["knowledge_id", "group"]].values.tolist() == [["a", "forget"], ["b", "retain"]]
    assert made["items"][["item_id", "task", "reference"]].values.tolist() == [
        ["a/completion", "task1_completion", "It is."], ["a/qa0", "task1_knowledge", "yes"],
        ["b/document", "task3_document", "Bo is here."], ["b/completion", "task3_completion", "here."],
        ["b/qa12", "task3_knowledge", "Bo"],
    ]  # fmt: skip


@pytest.fixture
def model(monkeypatch):
    """A language model behind every role of the script."""
    found = LumeModel()

    @contextlib.contextmanager
    def opened(doors, store, job=""):
        yield Asker({role: Door(found, None, None, 0) for role in doors})

    monkeypatch.setattr(llm_tools, "open_roles", opened)
    return found


def asked_by_script(folder, **further):
    from lume_documents_llm import lume_documents_llm

    out = paths(folder, *DOCUMENTS, "rounds", "usage")
    sampling = {role: Sampling()._asdict() for role in ROLES}
    given = {"sizes": SIZES, "nonmembers": 4, "seed": 0, "max_rounds": 2, "sampling": sampling, **further}
    prompts = [str(ROOT / f"resources/prompts/{name}.yaml") for name in PROMPTS]
    whole = lume_documents_llm(FILES, prompts, **out, doors=dict.fromkeys(ROLES, {}), **given)
    seen = foreseen.lume_documents_llm(FILES, prompts, **given)
    return whole, {name: read_table(path, name) for name, path in out.items()}, seen


def test_language_models_write_tasks_1_and_2_and_the_grammar_task_3(model, tmp_path):
    whole, made, seen = asked_by_script(tmp_path)
    assert whole and model.asked() == {"writer": 9} | dict.fromkeys(ROLES[1:], 5)
    assert Counter(made["documents"]["task"]) == {"task1": 5, "task2": 4, "task3": 9}
    assert Counter(made["funnel"]["type"])["nonmember"] and len(made["rounds"]) == 9
    assert [(a.role, len(a.prompts), a.rounds) for a in seen] == [
        ("writer", 5, 2), ("writer", 4, 2), *((role, 5, 2) for role in ROLES[1:]),
    ]  # fmt: skip


def test_biographies_of_a_file_are_asked_about_and_the_spare_ones_stand_in(model, tmp_path):
    lives = offline(GRAMMARS, {"task3": (11, 1)}, 0, 7)
    rows = lives.documents.rename(columns={"document_id": "name"})[["name", "text"]]
    rows.to_json(tmp_path / "lives.jsonl", orient="records", lines=True)
    pairs = lives.knowledge.set_index("document_id")
    taken = lives.documents["document_id"][2:]  # nobody can ask about the first two
    texts = lives.documents.set_index("document_id")["text"]
    model.asks = {texts[i]: (pairs["question"][i], pairs["answer"][i]) for i in taken}
    file = {"sources": [str(tmp_path / "lives.jsonl")], "columns": {"id": "name", "text": "text"}, "spare": 3}
    _, made, seen = asked_by_script(tmp_path, **file)
    lost = set(made["rejected"]["id"])
    third = made["documents"][made["documents"]["task"] == "task3"]
    assert Counter(third["role"]) == {"memorised": 5, "nonmember": 4} and not lost & set(third["document_id"])
    assert [(a.role, len(a.prompts), a.rounds) for a in seen[-4:]] == [(role, 8, 1) for role in ROLES[1:]]


def test_the_stand_in_has_as_many_documents(tmp_path):
    out = paths(tmp_path, *DOCUMENTS)
    foreseen.stand_in_documents(FILES, **out, sizes=SIZES, nonmembers=4, seed=0)
    tables = {name: read_table(path, name) for name, path in out.items()}
    assert len(tables["documents"]) == 18 and isinstance(tables["rejected"], pd.DataFrame)
    write_table(tables["documents"], tmp_path / "again.parquet", "documents")
