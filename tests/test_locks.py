"""One run at a time on results/, one process at a time on a job, and what killed ones leave."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from unlearning.cache import locks

ENV = os.environ | {"PYTHONPATH": str(locks.Path(locks.__file__).parents[2])}
HOLDS = "from unlearning.cache import locks; from pathlib import Path; "


@pytest.fixture(autouse=True)
def no_run(monkeypatch):
    monkeypatch.setenv(locks.RUN, "")  # so that what `hold` sets goes again


def other(code: str, *arguments) -> subprocess.Popen:
    """Another process that has run `code`, and now waits."""
    command = [sys.executable, "-c", f"import sys; {HOLDS}{code}", *map(str, arguments)]
    process = subprocess.Popen(command, env=ENV, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    return process


def test_a_second_run_is_refused_by_name_until_the_first_is_killed(tmp_path):
    first = other("h = locks.hold(Path(sys.argv[1])); print('ready', flush=True); sys.stdin.read()", tmp_path)
    with pytest.raises(
        locks.InUse, match=rf"in use by a run of .+ on .+ \(process {first.pid}, since 20.+end it, then"
    ):
        locks.hold(tmp_path)
    assert not os.environ[locks.RUN]
    first.send_signal(signal.SIGKILL)
    first.wait()
    os.close(locks.hold(tmp_path))


def test_a_lock_of_another_users_that_cannot_be_written_is_told(tmp_path, monkeypatch):
    def refused(*_):
        raise PermissionError

    monkeypatch.setattr(locks.os, "open", refused)
    with pytest.raises(locks.InUse, match="belongs to another user"):
        locks.hold(tmp_path)


def test_a_full_disk_is_told(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(locks.errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(locks.os, "pwrite", full)
    with pytest.raises(ValueError, match=r"no room to write .*/\.lock: free disk space and run again"):
        locks.hold(tmp_path)


def test_a_job_of_a_run_that_was_followed_by_another_is_refused(tmp_path, monkeypatch):
    locks.check_run(tmp_path)  # started by hand
    os.close(locks.hold(tmp_path))
    locks.check_run(tmp_path)  # of this run
    mine = os.environ[locks.RUN]
    os.close(locks.hold(tmp_path))
    locks.check_run(tmp_path)
    monkeypatch.setenv(locks.RUN, mine)
    with pytest.raises(locks.InUse, match="run has ended"):
        locks.check_run(tmp_path)


WORKS = (
    "lock = locks.one_at_a_time(Path(sys.argv[1]), 'a'); lock.__enter__(); print('ready', flush=True); sys.stdin.read()"
)


def test_a_job_waits_for_the_process_that_is_at_work_on_it_and_no_other(tmp_path, capsys):
    left = other(WORKS, tmp_path)
    entered = []

    def work(output: str):
        with locks.one_at_a_time(tmp_path, output):
            entered.append(output)

    waiting = threading.Thread(target=work, args=["a"])
    waiting.start()
    work("b")
    while "still works on a" not in capsys.readouterr().out:
        time.sleep(0.01)
    assert entered == ["b"]
    left.send_signal(signal.SIGKILL)
    waiting.join(10)
    assert entered == ["b", "a"] and not list((tmp_path / locks.JOBS).iterdir())


def test_many_take_turns(tmp_path):
    inside, most = [], []

    def work():
        for _ in range(20):
            with locks.one_at_a_time(tmp_path, "a"):
                inside.append(1)
                most.append(len(inside))
                time.sleep(0.0005)
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(most) == 160 and max(most) == 1


def test_a_run_sweeps_what_killed_jobs_left_and_nothing_else(tmp_path):
    left = [".store/ab/.12345678.x1.tmp/files/weights/w", "runs/.weights.q2.tmp/w", "runs/.scores.parquet.z3.tmp"]
    stays = ["runs/.snakemake_timestamp", "runs/scores.parquet", ".llm/served.sqlite", "runs/x.tmp", ".tmp2/x"]
    for name in left + stays:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    working = other(WORKS, tmp_path)
    locks.sweep(tmp_path)
    assert all((tmp_path / name).exists() for name in left + stays)  # that job may be writing one of them
    working.send_signal(signal.SIGKILL)
    working.wait()
    locks.sweep(tmp_path)
    found = sorted(str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*") if p.is_file())
    assert found == sorted(stays)


def test_without_locks_on_the_file_system_a_run_goes_on_and_says_so(tmp_path, monkeypatch, capsys):
    def unable(*_):
        raise OSError(locks.errno.ENOLCK, "no locks")

    monkeypatch.setattr(locks.fcntl, "flock", unable)
    os.close(locks.hold(tmp_path))
    with locks.one_at_a_time(tmp_path, "a"):
        pass
    assert "do not start two runs" in capsys.readouterr().err
