"""The disk is full: a clear error, earlier artifacts whole, nothing half-written left behind."""

import errno
import os
import sqlite3
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from room import no_file_above
from unlearning.cache import code, ledger, provenance, store
from unlearning.llm.budget import Budget
from unlearning.llm.requests import Reply, Request, Sampling
from unlearning.llm.store import Store
from unlearning.tables import artifacts

sys.path.insert(0, str(code.ROOT / "scripts"))
import job  # noqa: E402

TOLD = r"no room to write .*{}.*: free disk space and run again"
REQUEST = Request("p", 0, [{"role": "user", "content": "x"}], Sampling(max_tokens=1), None, {}, "judge")


def row(i: int, text: str) -> dict:
    return {"item_id": str(i), "sample": 0, "part": 0, "text": text, "n_tokens": 1, "finish_reason": "stop"}


def a_table(folder, size):
    draw = np.random.default_rng(0)
    rows = [row(i, draw.bytes(100).hex()) for i in range(1 + size // 100)]
    artifacts.write_table(rows, folder / "made.parquet", "answers")


def a_text(folder, size):
    artifacts.write_text(folder / "made.json", "x" * size)


def a_folder(folder, size):
    with artifacts.replacing_folder(folder / "made") as new:
        (new / "first.csv").write_text("x")
        artifacts.write_text(new / "mu2/second.csv", "x" * size)


def a_bare_folder(folder, size):
    with artifacts.replacing_folder(folder / "made") as new:
        (new / "README.md").write_text("x" * size)


def a_provenance(folder, size):
    provenance.write(folder / "made.parquet", {"versions": "x" * size})


@pytest.mark.parametrize("write", [a_table, a_text, a_folder, a_bare_folder, a_provenance])
def test_what_was_there_stays_and_nothing_half_written_does(tmp_path, write):
    write(tmp_path, 1)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(artifacts.NoRoom, match=TOLD.format("made")), no_file_above(20_000):
        write(tmp_path, 30_000)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    assert not list(tmp_path.rglob("*.tmp"))
    write(tmp_path, 30_000)


def test_a_disk_on_which_no_file_can_be_made_is_told_too(tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    for maker in ("mkstemp", "mkdtemp"):
        monkeypatch.setattr(artifacts.tempfile, maker, full)
    with pytest.raises(artifacts.NoRoom, match=TOLD.format("a.txt")):
        artifacts.write_text(tmp_path / "a.txt", "x")
    with pytest.raises(artifacts.NoRoom, match=TOLD.format("folder")), artifacts.replacing_folder(tmp_path / "folder"):
        pass


def test_an_error_that_has_nothing_to_do_with_room_stays_what_it_is(tmp_path):
    with pytest.raises(RuntimeError, match="^os error 28$"), artifacts.replacing(tmp_path / "a"):
        raise RuntimeError("os error 28")
    with pytest.raises(PermissionError), artifacts.replacing(tmp_path / "a"):
        raise PermissionError(errno.EACCES, "denied")


@pytest.fixture
def outputs(tmp_path):
    (tmp_path / "run/weights").mkdir(parents=True)
    (tmp_path / "run/model.json").write_text("{}")
    (tmp_path / "run/weights/a.safetensors").write_bytes(b"1" * 3000)
    return {"model": tmp_path / "run/model.json", "weights": tmp_path / "run/weights"}


def as_on_another_disk(monkeypatch):
    def unable(*_):
        raise OSError(errno.EXDEV, "Invalid cross-device link")

    monkeypatch.setattr(artifacts.os, "link", unable)


@pytest.mark.parametrize(("size", "linked"), [(10, True), (2000, False)], ids=["its record", "a copy"])
def test_a_result_for_which_the_store_has_no_room_is_whole_without(
    tmp_path, outputs, monkeypatch, capsys, size, linked
):
    if not linked:
        as_on_another_disk(monkeypatch)
    with no_file_above(size):
        store.save(tmp_path / "store", "abcd", outputs)
    assert "warning: not kept" in capsys.readouterr().out
    assert not [path for path in (tmp_path / "store").rglob("*") if path.is_file()]
    assert not list((tmp_path / "store/ab").iterdir()) and not store.restore(tmp_path / "store", "abcd", outputs)
    assert (tmp_path / "run/weights/a.safetensors").read_bytes() == b"1" * 3000
    store.save(tmp_path / "store", "abcd", outputs)
    assert store.restore(tmp_path / "store", "abcd", outputs)


def test_what_there_is_no_room_to_put_back_stays_in_the_store(tmp_path, outputs, monkeypatch):
    store.save(tmp_path / "store", "abcd", outputs)
    (tmp_path / "run/weights/a.safetensors").unlink()
    with monkeypatch.context() as patch:
        as_on_another_disk(patch)
        with pytest.raises(artifacts.NoRoom, match=TOLD.format("weights")), no_file_above(2000):
            store.restore(tmp_path / "store", "abcd", outputs)
    assert not list((tmp_path / "run").glob(".*"))
    assert store.restore(tmp_path / "store", "abcd", outputs)
    assert (tmp_path / "run/weights/a.safetensors").read_bytes() == b"1" * 3000


def test_outputs_that_are_taken_away_meanwhile_are_not_kept(tmp_path, outputs, monkeypatch):
    """As the next run does, while a job of a run that was killed goes on and has come to keep its outputs."""

    def slow(path):
        (tmp_path / "run/model.json").unlink(missing_ok=True)
        return "0" * 64

    monkeypatch.setattr(store, "sha256_file", slow)
    with pytest.raises(FileNotFoundError):
        store.save(tmp_path / "store", "abcd", dict(reversed(outputs.items())))
    assert not list((tmp_path / "store/ab").iterdir())


def test_a_line_of_the_ledger_that_was_cut_short_is_an_error_and_swallows_no_other(tmp_path):
    ledger.record(tmp_path, "base", "a", "computed", 1.0)
    size = (tmp_path / "jobs.jsonl").stat().st_size
    for more in (0, 20):  # nothing more, or a part of the line
        with pytest.raises(artifacts.NoRoom, match=TOLD.format("jobs.jsonl")), no_file_above(size + more):
            ledger.record(tmp_path, "target", "b", "computed", 1.0)
    ledger.record_failure(tmp_path, "answer", "c", ValueError('said {"time": 1}'), None)
    assert [line["output"] for line in ledger.lines(tmp_path)] == ["a", "c"]
    assert ledger.failures(tmp_path, 0).startswith('answer: said {"time": 1}')


def a_job(tmp_path, monkeypatch, function):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(job, "_check_code", lambda spec: None)
    spec = {"script": "judge.py", "modules": [], "values": {}, "code": "c"}
    output = {"verdicts": "results/verdicts.json"}
    made = {"log": [], "input": {}, "output": output, "rule": "judge", "wildcards": {}, "threads": 1, "resources": {}}
    with pytest.raises(SystemExit):
        job.run(SimpleNamespace(params=SimpleNamespace(job=spec), **made), function)


def test_the_first_error_of_a_job_is_told_whatever_else_cannot_be_written(tmp_path, monkeypatch, capfd):
    def log_full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(job.traceback, "print_exc", log_full)
    (tmp_path / job.LEDGER).mkdir(parents=True)
    (tmp_path / job.LEDGER / "jobs.jsonl").write_text("\n" * 1000)
    with no_file_above(1000):  # what pytest captures goes into a file too
        a_job(tmp_path, monkeypatch, lambda verdicts: artifacts.write_text(verdicts, "x" * 2000))
    told = "no room to write results/verdicts.json: free disk space and run again"
    assert capfd.readouterr().err == f"judge: {told}\n"
    a_job(tmp_path, monkeypatch, lambda verdicts: log_full())  # as print does then
    (line,) = ledger.lines(job.LEDGER)
    assert line["message"] == "no room to write results/: free disk space and run again"


def put(store: Store, text: str):
    store.put(text[:9], Reply(text, "stop", 1, 1))


def test_a_reply_that_cannot_be_stored_is_an_error_and_those_before_it_stay(tmp_path):
    path = tmp_path / "served.sqlite"
    replies = Store(path, "usage")
    put(replies, "first")
    size = path.stat().st_size
    with pytest.raises(artifacts.NoRoom, match=TOLD.format("served.sqlite")), no_file_above(size):
        put(replies, "second" * 5000)
    assert set(replies.get(["first", "secondsec"])) == set(replies.asked(["first", "secondsec"])) == {"first"}
    put(replies, "second" * 5000)
    replies.close()
    assert set(Store(path).get(["first", "secondsec"])) == {"first", "secondsec"}


def test_a_response_store_that_cannot_be_made_is_told_and_made_later(tmp_path):
    with pytest.raises(artifacts.NoRoom, match=TOLD.format("served.sqlite")), no_file_above(2000):
        Store(tmp_path / "served.sqlite")
    put(Store(tmp_path / "served.sqlite"), "first")


def test_what_was_spent_stays_counted_where_more_cannot_be_written(tmp_path, monkeypatch):
    """The total is deleted and written anew: without the way back it would be 0, and the cap worth nothing."""
    budget = Budget(tmp_path / "spending.sqlite", None, {"input": 1e6, "output": 1e6})
    budget.reserve(REQUEST)
    spent = budget.spent()

    class Full:
        def __init__(self, connection):
            self.connection = connection

        def __getattr__(self, name):
            return getattr(self.connection, name)

        def execute(self, statement, *values):
            if statement.startswith("INSERT INTO spending"):
                error = sqlite3.OperationalError("database or disk is full")
                error.sqlite_errorcode = sqlite3.SQLITE_FULL
                raise error
            return self.connection.execute(statement, *values)

    monkeypatch.setattr(budget, "_connection", Full(budget._connection))
    with pytest.raises(artifacts.NoRoom, match=TOLD.format("spending.sqlite")):
        budget.reserve(REQUEST)
    assert budget.spent() == spent > 0


def test_the_bound_on_files_ends_with_the_block(tmp_path):
    with no_file_above(10):
        pass
    (tmp_path / "a").write_bytes(os.urandom(100))
