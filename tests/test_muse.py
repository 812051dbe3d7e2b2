"""MUSE: texts that are taught, passages and questions about them that are asked; VerbMem and KnowMem."""

import json
import re
from pathlib import Path

import datasets
import pandas as pd
import pytest
from datasets.exceptions import DatasetNotFoundError
from rouge_score.rouge_scorer import RougeScorer

from configurations import overlaid
from project import Project
from score_fakes import answers, items, table, view
from unlearning.answer.prompted import prompted
from unlearning.config.load import load
from unlearning.config.problems import ConfigError
from unlearning.data.files import build, first_words
from unlearning.data.files_spec import FilesError
from unlearning.data.hub import HubError, read_split
from unlearning.data.mixed import sides
from unlearning.metrics import knowmem, verbmem
from unlearning.score.split import with_groups
from unlearning.score.view import Tables
from unlearning.tables.artifacts import read_table, write_table

TEXTS = {
    "forget": ["Ann lives in Oslo. She sells maps of the sea.", "Bob fell off a cart. It was in May."],
    "retain1": ["Cy bakes bread for the inn. He sings."],
    "retain2": ["Dee paints doors. All are red."],
}
ASKED = {"forget_qa": [("Where does Ann live?", "Oslo")], "retain_qa": [("What does Cy bake?", "Bread"),
         ("What does Dee paint?", "Doors")]}  # fmt: skip
PASSAGES = [("Ann lives in Oslo. She", " sells maps of the sea."), ("Bob fell off", " a cart. It was in May.")]


@pytest.fixture
def folder(tmp_path) -> Path:
    """MUSE's published files, small: <configuration>/<split>."""
    tables = {f"raw/{name}": [{"text": text} for text in texts] for name, texts in TEXTS.items()}
    tables |= {f"knowmem/{n}": [{"question": q, "answer": a} for q, a in rows] for n, rows in ASKED.items()}
    tables["verbmem/forget"] = [{"prompt": prompt, "gt": rest} for prompt, rest in PASSAGES]
    for name, rows in tables.items():
        (tmp_path / "MUSE" / name).parent.mkdir(parents=True, exist_ok=True)
        pd.DataFrame(rows).to_parquet(tmp_path / "MUSE" / f"{name}.parquet")
    return tmp_path / "MUSE"


def spec(folder: Path, **changed: dict) -> dict:
    own = {
        "forget": {"file": "raw/forget", "group": "forget"},
        "retain": {"file": "raw/retain1", "group": "retain"},
        "others": {"file": "raw/retain2", "group": "background"},
        "forget_qa": {"file": "knowmem/forget_qa", "group": "forget", "train": False},
        "retain_qa": {"file": "knowmem/retain_qa", "group": "retain", "train": False},
        "passages": {"file": "verbmem/forget", "group": "forget", "train": False},
    }  # fmt: skip
    sets = {name: entry | changed.get(name, {}) for name, entry in own.items()}
    roles = {"question": "question", "answer": "answer", "document": "text", "prompt": "prompt", "continuation": "gt"}
    return {
        "language": "en",
        "columns": roles,
        "sets": {name: s | {"file": str(folder / f"{s['file']}.parquet")} for name, s in sets.items()},
        "splits": {"all": ["forget", "forget_qa", "passages"]},
    }


def read(folder: Path, **changed: dict):
    built = build(spec(folder, **changed), "muse")
    for name, made in zip(("examples", "items", "splits"), built, strict=True):
        write_table(made, folder / f"{name}.parquet", name)
    return [read_table(folder / f"{name}.parquet", name) for name in ("examples", "items", "splits")]


def test_texts_are_taught_and_passages_and_questions_asked_on_their_side_of_a_split(folder):
    examples, asked, splits = read(folder)
    assert examples["answer"].tolist() == [*TEXTS["forget"], *TEXTS["retain1"], *TEXTS["retain2"]]
    assert set(examples["messages"].map(len)) == {0}
    assert examples["group"].tolist() == ["memorised"] * 3 + ["background"]
    grouped = with_groups(asked, splits, "all").set_index("item_id")
    assert grouped["group"].to_dict() == {
        "forget_qa/0": "forget", "retain_qa/0": "retain", "retain_qa/1": "retain",
        "passages/0": "forget", "passages/1": "forget",
    }  # fmt: skip
    assert grouped["task"].to_dict() == {i: "passage" if i.startswith("pass") else "qa" for i in grouped.index}
    assert list(grouped.at["forget_qa/0", "messages"]) == [{"role": "user", "content": "Where does Ann live?"}]
    assert list(grouped.at["passages/1", "messages"]) == [{"role": "document", "content": "Bob fell off"}]
    assert grouped.at["passages/1", "reference"] == " a cart. It was in May."


def test_a_long_text_is_taught_in_pieces_and_a_long_continuation_is_cut(folder):
    examples, asked, splits = read(folder, forget={"chunk_words": 5}, passages={"answer_words": 3})
    own = examples[examples["domain"] == "forget"]
    assert dict(zip(own["example_id"], own["answer"], strict=True)) == {
        "forget/0/0": "Ann lives in Oslo.", "forget/0/1": "She sells maps of the sea.",
        "forget/1/0": "Bob fell off a cart.", "forget/1/1": "It was in May.",
    }  # fmt: skip
    assert set(own["knowledge_id"]) <= set(splits["knowledge_id"])
    assert asked.set_index("item_id").at["passages/1", "reference"] == " a cart. It"
    assert first_words("one  two\nthree", 2) == "one  two" and first_words("one", 5) == "one"


def test_a_passage_is_never_taught(folder):
    with pytest.raises(FilesError, match="files.sets.passages: its passages .* are asked only; set train: false"):
        build(spec(folder, passages={"train": True}))


def test_passages_stand_in_no_mixed_prompt_and_meet_no_attack(folder):
    from importlib.util import module_from_spec, spec_from_file_location

    _, asked, splits = read(folder)
    seen = prompted(asked, [{"attack": "jailbreak_prefix", "params": {"place": "prefix"}}],
                    phrases={"jailbreak_prefix": {"prefix": {"en": "Please."}}})  # fmt: skip
    said = {row.item_id: row.messages[0]["content"] for row in seen.itertuples()}
    assert said["passages/1"] == "Bob fell off" and said["forget_qa/0"].startswith("Please.")
    assert "passages/0" in sides(asked, splits, "all")["forget"]  # hence the script leaves them out
    file = Path(__file__).parents[1] / "workflow/scripts/files_build.py"
    found = spec_from_file_location("script_files_build", file)
    script = module_from_spec(found)
    found.loader.exec_module(script)
    more = [{"question": f"Who is {i}?", "answer": str(i)} for i in range(2)]
    pd.DataFrame(more).to_parquet(folder / "knowmem/forget_qa.parquet")
    wanted = spec(folder)
    script.files_build(
        sources=[entry["file"] for entry in wanted["sets"].values()], examples=str(folder / "e.parquet"),
        questions=str(folder / "q.parquet"), splits=str(folder / "s.parquet"), spec=wanted,
        mixed={"lines": 0, "seed": 0},
    )  # fmt: skip
    mixed = read_table(folder / "q.parquet", "items").query("group == 'mixed'")
    inside = {part["item_id"] for parts in mixed["parts"] for part in parts}
    assert len(mixed) == 8 and {"forget_qa/0", "retain_qa/1"} <= inside
    assert not any(ident.startswith("passages") for ident in inside)


RIGHT = ("the maps of the sea", "bread", "doors of wood")


def asked_of(*said: str):
    frame = items(*(("forget" if i != 1 else "retain", f"k{i}", "en", right, None) for i, right in enumerate(RIGHT)))
    frame["task"] = ["passage", "qa", "qa"]
    told = answers(dict(zip(frame["item_id"], said, strict=True)))
    return view(frame, Tables(answers=told), languages={})


def values(metric, seen) -> dict[str, float]:
    return {key[0]: row["value"] for key, row in table(metric.score(seen)).items()}


def test_verbmem_and_knowmem_by_hand():
    seen = asked_of("the map of a sea and", "Bread", "doors\n\nQuestion: who?")
    # the … of … sea: 3 of the 5 words, of the 6 written: 2 · 3 / (5 + 6); map is not maps, as there are no stems
    assert values(verbmem, seen)["forget"] == pytest.approx(6 / 11)
    # retain: all; forget: 1 of 3 words, 1 written, as what comes after the blank line is not the answer
    assert values(knowmem, seen) == pytest.approx({"forget": 2 * 1 / (3 + 1), "retain": 1})
    lacking = table(verbmem.score(seen))["retain", "all", "all", "verbmem"]
    assert lacking["n"] == 0 and lacking["note"] == "no such retain questions"
    assert values(knowmem, asked_of("", "", "")) == {"forget": 0, "retain": 0}


def test_both_are_the_f_measure_of_rouge_score_without_stems():
    said = ("maps, the sea, and more maps of seas", "breads and bread", "Doors of woods")
    scorer = RougeScorer(["rougeL"], use_stemmer=False)
    want = [scorer.score(right, text)["rougeL"].fmeasure for right, text in zip(RIGHT, said, strict=True)]
    seen = asked_of(*said)
    assert values(verbmem, seen)["forget"] == pytest.approx(want[0])
    assert values(knowmem, seen) == pytest.approx({"retain": want[1], "forget": want[2]})


@pytest.mark.parametrize(
    ("said", "kept"),
    [("Oslo", "Oslo"), ("Oslo\nIt is cold.", "Oslo\nIt is cold."), ("Oslo\n\nMore", "Oslo"), ("a\nQuestion 2", "a"),
     ("a Question: b", "a "), ("Question marks", "Question marks"), ("\n\nOslo", "")],
)  # fmt: skip
def test_an_answer_ends_where_the_next_question_begins(said, kept):
    assert knowmem.ended(said) == kept


README = """---
configs:
- config_name: raw
  data_files:
  - {split: forget, path: raw/forget*}
  - {split: retain1, path: raw/retain1*}
  - {split: retain2, path: raw/retain2*}
- config_name: knowmem
  data_files:
  - {split: forget_qa, path: knowmem/forget_qa*}
  - {split: retain_qa, path: knowmem/retain_qa*}
- config_name: verbmem
  data_files:
  - {split: forget, path: verbmem/forget*}
---
"""


@pytest.fixture
def hub(folder) -> Path:
    """A data set as it lies on the Hub, here in a folder."""
    (folder / "README.md").write_text(README)
    return folder


def test_a_split_of_a_data_set_is_read_whole_by_its_configuration_and_name(hub):
    rows, version = read_split(str(hub), "verbmem", "forget")
    assert [(r["prompt"], r["gt"]) for r in rows.to_pylist()] == PASSAGES and version
    assert read_split(str(hub), "raw", "retain2")[0].column("text").to_pylist() == TEXTS["retain2"]


def test_a_data_set_without_configurations_has_one(tmp_path):
    (tmp_path / "train.jsonl").write_text('{"a": "x"}\n{"a": "y"}\n')
    assert read_split(str(tmp_path), "default", "train")[0].to_pydict() == {"a": ["x", "y"]}


@pytest.mark.parametrize(
    ("path", "name", "said"),
    [
        ("", "raws/forget", r"sources.muse.hub: raws/forget is not in .*Available: \['raw', 'knowmem', 'verbmem'\]"),
        ("", "raw/forgot", r"sources.muse.hub: raw/forgot is not in .*one of \['forget', 'retain1', 'retain2'\]"),
        ("nowhere", "raw/forget", r"sources.muse.hub: Couldn't find any data file .*owner/name, or its folder"),
    ],
)
def test_what_is_not_in_a_data_set_is_named_with_the_key(hub, path, name, said):
    with pytest.raises(HubError, match=said):
        read_split(str(hub / path), *name.split("/"), key="sources.muse.hub")


@pytest.mark.parametrize(
    ("raised", "said"),
    [
        (ConnectionError("Couldn't reach 'a/b' on the Hub"), r"hub: Couldn't reach 'a/b'.*Check the network"),
        (DatasetNotFoundError("Dataset 'a/b' is a gated dataset."), r"hub: Dataset 'a/b' is a gated.*HF_TOKEN"),
    ],
)
def test_a_hub_that_does_not_give_a_data_set_is_told_with_the_fix(monkeypatch, raised, said):
    monkeypatch.setenv("HF_TOKEN", "hf_secret")

    def refuse(path, name, revision, cache_dir):
        assert (path, name, revision) == ("a/b", "raw", "v1")
        raise raised

    monkeypatch.setattr(datasets, "load_dataset_builder", refuse)
    with pytest.raises(HubError, match=said) as error:
        read_split("a/b", "raw", "forget", "v1")
    assert "hf_secret" not in str(error.value)


def overlay(hub: str | dict) -> dict:
    config = overlaid("muse_files.yaml")
    config["sources"]["muse"] = hub
    return config


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ({"hub": "MUSE"}, "sources.muse.hub: 'MUSE' should be owner/name, or a folder that begins with /, . or ~"),
        ({"hub": "/a", "revision": "v1"}, "sources.muse.revision: a folder has none; remove it"),
        ({"revision": "v1"}, "sources.muse: give either folder or hub"),
        ({"hub": "a/b", "folder": "/a"}, "sources.muse: give either folder or hub"),
        (5, "key sources.muse: should be a folder, or a map with the key folder or hub; it is 5"),
        ({"hubs": "a/b"}, "unknown key sources.muse.hubs. Did you mean 'hub'?"),
    ],
)
def test_a_mistake_in_a_source_is_named(source, said):
    with pytest.raises(ConfigError, match=re.escape(said)):
        load(overlay(source))


def test_a_set_of_a_data_set_names_configuration_and_split_and_other_kinds_read_folders():
    config = overlay({"hub": "a/b"})
    config["benchmarks"]["muse"]["sets"]["forget"]["file"] = "forget"
    config["benchmarks"]["leak"] |= {"facts": "mquake", "source": "muse"}
    with pytest.raises(ConfigError) as error:
        load(config)
    assert "muse.sets.forget.file: 'forget' should be <configuration>/<split> of a/b" in str(error.value)
    assert "sources.muse.hub: benchmark leak reads files of a folder; give folder" in str(error.value)


OWN = """
experiments:
  mu2_minimal: {enabled: false}
  own: {benchmark: own, base_models: [plain], splits: [one], methods: []}
base_models:
  plain: {architecture: {hidden: 16, heads: 2}, base: {epochs: 0, lr: 1e-3}, target: {epochs: 2, lr: 1e-3}}
benchmarks:
  own:
    kind: files
    source: muse
    sets:
      forget: {file: knowmem/retain_qa, rows: [0, 1], group: forget}
      retain: {file: knowmem/retain_qa, rows: [1, 2], group: retain}
    splits: {one: [forget]}
    metrics: [knowmem]
sources: {muse: {hub: HUB}}
"""


def test_the_workflow_fetches_a_data_sets_splits_and_builds_from_them(hub, tmp_path):
    project = Project(tmp_path / "project", "config/minimal.yaml", "own.yaml")
    (project.path / "own.yaml").write_text(OWN.replace("HUB", str(hub / "nowhere")))
    refused = project.snakemake("--dry-run", "--quiet", check=False)
    assert refused.returncode and "sources.muse.hub: no folder" in refused.stdout + refused.stderr
    (project.path / "own.yaml").write_text(OWN.replace("HUB", str(hub)))
    built = "results/data/own/whole/default/examples.parquet"
    project.snakemake(built, "--quiet")
    examples = read_table(project.path / built, "examples")
    assert dict(zip(examples["example_id"], examples["answer"], strict=True)) == {
        "forget/0": "Bread",
        "retain/1": "Doors",
    }
    told = json.loads((project.path / "results/sources/muse/knowmem/retain_qa.json").read_text())
    assert told == {"hub": None, "revision": None, "commit": None, "rows": 2}
    written = [p for p in (project.path / "results").rglob("*.json") if ".ledger" not in p.parts]
    assert not [p for p in written if str(hub) in p.read_text()]
