"""Code fingerprints, the restore store, the ledger."""

import json
import os
import sys
import threading

import pytest

from unlearning import registry
from unlearning.cache import code, ledger, store

FILES = {
    "scripts/score.py": "from unlearning.score import table\n\ndef score():\n    return table.make()\n\n"
    'if __name__ == "__main__":\n    from unlearning.plumbing import run\n    run(score)\n',
    "unlearning/__init__.py": "",
    "unlearning/plumbing.py": "def run(f): f()\n",
    "unlearning/score/__init__.py": "",
    "unlearning/score/table.py": '"""Doc."""\nfrom ..text import words\n\n'
    'def make():\n    """Doc."""\n    return words.fold("A")  # why\n',
    "unlearning/text/__init__.py": "",
    "unlearning/text/words.py": "def fold(s):\n    return s.lower()\n",
    "unlearning/metrics/__init__.py": "",
    "unlearning/metrics/ps.py": "NEEDS = ('likelihoods',)\n\n"
    "def score(view):\n    from unlearning.text import words\n    return words\n",
}


@pytest.fixture
def project(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def print_of(project, modules=()):
    return code.fingerprint(project / "scripts/score.py", modules, project)


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_the_closure_follows_imports_and_skips_the_main_block(project):
    files = set(code.closure(project / "scripts/score.py", root=project))
    assert {"scripts/score.py", "unlearning/score/table.py", "unlearning/text/words.py"} <= files
    assert "unlearning/plumbing.py" not in files and "unlearning/metrics/ps.py" not in files


def test_an_imported_module_changes_the_fingerprint_and_changing_back_restores_it(project):
    before = print_of(project)
    edit(project / "unlearning/text/words.py", "lower", "upper")
    assert print_of(project) != before
    edit(project / "unlearning/text/words.py", "upper", "lower")
    assert print_of(project) == before


@pytest.mark.parametrize(
    ("old", "new"), [('"""Doc."""', '"""Other words."""'), ("# why", "# because"), ("  # why", "")]
)
def test_docstrings_and_comments_change_nothing(project, old, new):
    before = print_of(project)
    edit(project / "unlearning/score/table.py", old, new)
    assert print_of(project) == before


def test_touching_changes_nothing(project):
    before = print_of(project)
    os.utime(project / "unlearning/score/table.py", (1, 1))
    assert print_of(project) == before


def test_named_modules_count_with_what_they_import(project):
    module = ["unlearning.metrics.ps"]
    before = print_of(project, module)
    assert before != print_of(project)
    edit(project / "unlearning/metrics/ps.py", "return words", "return words.fold")
    assert print_of(project, module) != before


def test_a_missing_named_module_is_an_error(project):
    with pytest.raises(ValueError, match="no module unlearning.metrics.pz"):
        print_of(project, ["unlearning.metrics.pz"])


def test_declared_reads_literals_without_importing(project):
    assert registry.declared("unlearning.metrics.ps", "NEEDS", root=project) == ("likelihoods",)
    assert registry.declared("unlearning.metrics.ps", "OTHER", 3, root=project) == 3
    with pytest.raises(ValueError, match="no 'pz' in unlearning.metrics; there are: ps"):
        registry.declared("unlearning.metrics.pz", "NEEDS", root=project)


def test_what_is_declared_is_read_from_a_text_once_and_anew_when_the_text_changes(project, monkeypatch):
    assert registry.declared("unlearning.metrics.ps", "NEEDS", root=project) == ("likelihoods",)
    edit(project / "unlearning/metrics/ps.py", "'likelihoods'", "'answers'")
    assert registry.declared("unlearning.metrics.ps", "NEEDS", root=project) == ("answers",)
    monkeypatch.setattr(registry.ast, "parse", None)
    assert registry.declared("unlearning.metrics.ps", "NEEDS", root=project) == ("answers",)


def test_every_script_of_the_project_has_a_closure():
    scripts = [p for p in (code.ROOT / "scripts").glob("*.py") if p.name != "job.py"]
    assert len(scripts) >= 12
    for script in scripts:
        assert "unlearning/cache/store.py" not in code.closure(script), f"{script.name} depends on the plumbing"


@pytest.fixture
def outputs(tmp_path):
    (tmp_path / "run/weights").mkdir(parents=True)
    (tmp_path / "run/model.json").write_text("{}")
    (tmp_path / "run/weights/a.safetensors").write_bytes(b"123")
    return {"model": tmp_path / "run/model.json", "weights": tmp_path / "run/weights"}


def test_what_was_saved_is_restored(tmp_path, outputs):
    store.save(tmp_path / "store", "abcd", outputs)
    (tmp_path / "run/model.json").unlink()
    (tmp_path / "run/weights/a.safetensors").unlink()
    assert store.restore(tmp_path / "store", "abcd", outputs)
    assert (tmp_path / "run/model.json").read_text() == "{}"
    assert (tmp_path / "run/weights/a.safetensors").read_bytes() == b"123"


def test_an_unknown_key_restores_nothing(tmp_path, outputs):
    assert not store.restore(tmp_path / "store", "ffff", outputs)
    assert (tmp_path / "run/model.json").read_text() == "{}"


def test_a_damaged_entry_is_removed_and_not_restored(tmp_path, outputs):
    store.save(tmp_path / "store", "abcd", outputs)
    kept = tmp_path / "store/ab/abcd/files/weights/a.safetensors"
    kept.unlink()
    kept.write_bytes(b"124")
    assert not store.restore(tmp_path / "store", "abcd", outputs)
    assert not (tmp_path / "store/ab/abcd").exists()


def test_an_entry_with_fewer_files_than_asked_for_is_not_restored_but_replaced(tmp_path, outputs):
    (tmp_path / "run/e1").mkdir()
    (tmp_path / "run/e1/model.json").write_text("1")
    more = outputs | {"e1": tmp_path / "run/e1/model.json"}
    store.save(tmp_path / "store", "abcd", outputs)
    assert not store.restore(tmp_path / "store", "abcd", more)
    assert store.restore(tmp_path / "store", "abcd", outputs)  # what it has, it still gives
    store.save(tmp_path / "store", "abcd", more)
    (tmp_path / "run/e1/model.json").unlink()
    assert store.restore(tmp_path / "store", "abcd", more) and (tmp_path / "run/e1/model.json").read_text() == "1"
    store.save(tmp_path / "store", "abcd", outputs)  # fewer do not replace it
    assert store.restore(tmp_path / "store", "abcd", more)


def test_the_files_of_a_list_come_back_each_in_its_place(tmp_path):
    sys.path.append(str(code.ROOT / "scripts"))
    import job

    paths = [tmp_path / f"e{epoch}/answers.parquet" for epoch in (1, 2)]
    for path in paths:
        path.parent.mkdir()
        path.write_text(path.parent.name)
    made = job._each({"answers": [str(path) for path in paths], "log": str(paths[0])})
    assert list(made) == ["answers/0", "answers/1", "log"]
    store.save(tmp_path / "store", "abcd", made)
    for path in paths:
        path.unlink()
    assert store.restore(tmp_path / "store", "abcd", made)
    assert [path.read_text() for path in paths] == ["e1", "e2"]


def test_the_key_depends_on_code_values_and_input_contents_only():
    key = store.job_key("c", {"a": 1, "b": 2}, {"x": ["1"]})
    assert key == store.job_key("c", {"b": 2, "a": 1}, {"x": ["1"]})
    others = [
        ("d", {"a": 1, "b": 2}, {"x": ["1"]}),
        ("c", {"a": 2, "b": 1}, {"x": ["1"]}),
        ("c", {"a": 1, "b": 2}, {"x": ["2"]}),
        ("c", {"a": 1, "b": 2}, {"y": ["1"]}),
    ]
    assert len({key, *(store.job_key(*other) for other in others)}) == 5


def test_pruning_drops_what_was_used_longest_ago(tmp_path):
    for age, key in enumerate(["aa1", "bb2", "cc3"]):
        path = tmp_path / key
        path.write_bytes(b"x" * 1000)
        store.save(tmp_path / "store", key, {"model": path})
        os.utime(tmp_path / "store" / key[:2] / key / store.MANIFEST, (age, age))
    size = sum(p.stat().st_size for p in (tmp_path / "store/cc").rglob("*") if p.is_file())
    assert store.prune(tmp_path / "store", 2 * size) == size
    assert not (tmp_path / "store/aa/aa1").exists() and (tmp_path / "store/cc/cc3").exists()
    assert store.prune(tmp_path / "store", 2 * size) == 0


def test_the_ledger_keeps_lines_of_jobs_side_by_side_apart(tmp_path):
    jobs = [
        threading.Thread(target=ledger.record, args=(tmp_path, "rule", f"out{i}", "computed", 0.1)) for i in range(50)
    ]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join()
    with open(tmp_path / "jobs.jsonl", "a") as handle:
        handle.write('{"cut short')
    assert sorted(line["output"] for line in ledger.lines(tmp_path)) == sorted(f"out{i}" for i in range(50))
    assert json.loads((tmp_path / "jobs.jsonl").read_text().splitlines()[0])["action"] == "computed"
