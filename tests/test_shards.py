"""One job's work in several: the parts are one job's, whatever their number, and nothing is asked again."""

import json
import shutil
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

import llm_fakes as fakes
from unlearning.cache import ledger
from unlearning.llm.requests import Failure, Reply
from unlearning.tables.artifacts import TableError, read_table, write_table
from unlearning.tables.shards import gathered, numbered, shard_file, shards_of, share, whole_file

sys.path.append(str(Path(__file__).resolve().parents[1] / "workflow" / "scripts"))
import job  # noqa: E402
from complete import complete  # noqa: E402

PRICE = {"input": 0.15, "output": 0.37}  # such that sums of parts are rounded otherwise


def said(texts) -> pd.DataFrame:
    ids = [f"i{i}" for i in range(len(texts))]
    rows = {"item_id": ids, "sample": 0, "part": 0, "text": texts, "n_tokens": 1, "finish_reason": "stop"}
    return pd.DataFrame(rows)


def written(folder, parts: list[list[int]], texts) -> tuple[str, list[str]]:
    """(the table's path, its shards): the rows of each of `parts` of table answers of `texts`."""
    path = str(folder / "answers.parquet")
    files = [shard_file(path, k, len(parts)) for k in range(1, len(parts) + 1)]
    for file, rows in zip(files, parts, strict=True):
        write_table(numbered(said(texts).loc[rows], len(texts)), file, "answers_shard")
    return path, files


def test_the_files_of_shards_are_told_from_others():
    assert shard_file("a/answers.parquet", 2, 3) == "a/answers~2of3.parquet"
    assert whole_file("a/answers~2of3.parquet", [2, 3]) == "a/answers.parquet"
    files = ["a/answers~1of2.parquet", "b/answers~1of2.parquet", "a/likelihoods~1of2.parquet"]
    assert shards_of("a/answers.parquet", files) == files[:1]


def test_rows_come_back_in_their_order_from_shards_of_which_some_are_empty(tmp_path):
    texts = list("abcde")
    path, files = written(tmp_path, [[1, 4], [], [0, 2, 3]], texts)
    others = [str(tmp_path / "likelihoods~1of3.parquet")]
    write_table(gathered("answers", path, [*others, *files]), path, "answers")
    write_table(said(texts), tmp_path / "whole.parquet", "answers")
    assert Path(path).read_bytes() == (tmp_path / "whole.parquet").read_bytes()


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ([[0, 1], [3]], "1 rows that are missing, the first 2"),
        ([[0, 1], []], "2 rows that are missing, the first 2, 3"),  # the last ones
        ([[0, 1, 2], [2, 3]], "1 rows that come twice, the first 2"),
        ([[], []], "of tables of no rows"),
    ],
)
def test_missing_and_doubled_rows_are_refused_with_what_to_delete(tmp_path, parts, said):
    path, files = written(tmp_path, parts, list("abcd"))
    with pytest.raises(TableError, match=f"answers, shards of .*{said}.*; delete .*answers~1of2.parquet, .*run again"):
        gathered("answers", path, files)


def test_shards_of_two_tables_are_refused(tmp_path):
    path, files = written(tmp_path, [[0, 1], [2]], list("abc"))
    write_table(numbered(said(list("abcd")).loc[[2]], 4), files[1], "answers_shard")
    with pytest.raises(TableError, match="shards of tables of 3 and 4 rows"):
        gathered("answers", path, files)


class Rules:
    """Runs `function` as the rules do: as one job, or in shards, whose files go afterwards."""

    def __init__(self, function, inputs: dict, outputs: list[str], values: dict):
        self.function, self.inputs, self.values = function, inputs, values
        self.paths = {name: f"results/x/{name}.parquet" for name in outputs}

    def job(self, rule: str, inputs: dict, outputs: dict, values: dict):
        spec = {"code": "c", "script": "x.py", "modules": [], "values": values}
        rule = {"rule": rule, "input": inputs, "output": outputs, "log": None, "wildcards": {}}
        job.run(SimpleNamespace(**rule, params=SimpleNamespace(job=spec), threads=1, resources={}), self.function, True)

    def run(self, n: int, between=lambda: None) -> list[tuple[str, str]]:
        """(rule, computed or restored) of the jobs of one run with `n` shards, `between` called before they are one."""
        before = len(list(ledger.lines(job.LEDGER)))
        shards = range(1, n + 1) if n > 1 else ()
        made = [{name: shard_file(path, k, n) for name, path in self.paths.items()} for k in shards]
        for k, outputs in zip(shards, made, strict=True):
            self.job("shard", self.inputs, outputs, self.values | {"shard": [k, n]})
        between()
        files = [file for outputs in made for file in outputs.values()]
        self.job("whole", self.inputs | {"shards": files}, self.paths, self.values)
        for file in files:
            Path(file).unlink()
        return [(line["rule"], line["action"]) for line in list(ledger.lines(job.LEDGER))[before:]]

    def made(self) -> list[bytes]:
        """What the tables hold; then they go, with what is beside them: their provenance and nothing else."""
        found = [Path(path).read_bytes() for path in self.paths.values()]
        for path in self.paths.values():
            Path(path).unlink()
            Path(path.replace(".parquet", ".provenance.json")).unlink()
        assert not list(Path("results/x").iterdir())
        return found


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(job, "_check_code", lambda spec: None)
    return tmp_path


@pytest.fixture
def answering(here):
    """An answering job without a model, and `loaded`, the shards for which it would have loaded one."""
    loaded = []

    def answer(questions: str, answers: str, shard=(1, 1), shards=()):
        if shards:
            return write_table(gathered("answers", answers, shards), answers, "answers")
        loaded.append(tuple(shard))
        rows = said(list("abcdefg"))
        if shard == (1, 1):
            return write_table(rows, answers, "answers")
        return write_table(numbered(share(rows, shard), len(rows)), answers, "answers_shard")

    Path("questions.txt").write_text("?")
    return Rules(answer, {"questions": "questions.txt"}, ["answers"], {}), loaded


def test_another_number_of_shards_loads_no_model(answering):
    rules, loaded = answering
    assert rules.run(3) == [("shard", "computed")] * 3 + [("whole", "computed")]
    first = rules.made()
    for n in (1, 4, 2, 3, 9):
        assert rules.run(n) == [("shard", "restored")] * (n if n > 1 else 0) + [("whole", "restored")]
        assert rules.made() == first
    assert loaded == [(1, 3), (2, 3), (3, 3)]


def test_one_job_first_and_shards_then_load_no_model_even_if_the_store_goes_between(answering):
    rules, loaded = answering
    assert rules.run(1) == [("whole", "computed")]
    first = rules.made()
    assert rules.run(2, between=lambda: shutil.rmtree(job.STORE))[-1] == ("whole", "computed")
    assert rules.made() == first and loaded == [(1, 1)]


def test_shards_that_were_done_are_restored_when_the_whole_was_not(answering):
    rules, loaded = answering
    with pytest.raises(SystemExit):
        rules.run(2, between=lambda: Path(shard_file(rules.paths["answers"], 1, 2)).unlink())
    assert rules.run(2) == [("shard", "restored")] * 2 + [("whole", "computed")] and len(loaded) == 2


TEXTS = ["one", "two", "two", "stubborn", "three", "worse", "refused", "four"]


def reply(request):
    """Asked again, `stubborn` says something of use; `worse` never does; `refused` is refused."""
    again, text = len(request.messages) > 2, request.inputs["text"]
    if text == "refused" and request.sample == 1:
        return Failure("refused: HTTP 400", refused=True)
    if text == "worse" or (text == "stubborn" and not again):
        return Reply("no JSON", "stop", 7, 3)
    return fakes.translated(request)


@pytest.fixture
def asking(here, monkeypatch):
    """complete.py's job with a backend of ours, which notes what it is sent; `opened`: how often it was opened."""
    backend, opened = fakes.Counting(reply), Counter()

    def open_(settings):
        opened["times"] += 1
        return backend

    monkeypatch.setitem(sys.modules, "unlearning.llm.backends.fake", SimpleNamespace(open=open_))
    write_table(fakes.prompts(TEXTS, samples=2), "prompts.parquet", "prompts")
    door = {"backend": {"kind": "fake", "model": "m"}, "name": "ours", "reask": 1, "cap": None, "price": PRICE}
    values = {"role": "translator", "door": door}
    return Rules(complete, {"prompts": "prompts.parquet"}, ["completions", "usage"], values), backend, opened


def sent(backend) -> list[str]:
    """What was asked since the last call, in any order."""
    found, backend.sent = backend.sent, []
    return sorted(json.dumps([r.messages, r.sample]) for r in found)


def fresh():
    for folder in (job.STORE, "results/.llm"):
        shutil.rmtree(folder, ignore_errors=True)


def test_completions_and_usage_are_one_jobs_whatever_the_number_of_shards(asking):
    rules, backend, opened = asking
    rules.run(1)
    (usage,) = read_table(Path(rules.paths["usage"]), "usage").to_dict("records")
    # 7 different texts twice, one of which was refused once; both samples of two texts were asked for again
    assert (usage["prompts"], usage["asked"], usage["from_store"], usage["failed"]) == (8, 13 + 4, 0, 3)
    first, asked = rules.made(), sent(backend)
    assert len(asked) == 14 + 4
    for n in (2, 3, 20):
        fresh()
        opened.clear()
        assert {action for _, action in rules.run(n)} == {"computed"}
        assert rules.made() == first and sent(backend) == asked
        assert opened["times"] == n  # the job that puts them together opens no backend


def test_after_another_number_of_shards_only_what_was_refused_is_asked(asking):
    rules, backend, _ = asking
    rules.run(2)
    first, asked = rules.made(), len(sent(backend))
    assert asked == 18
    for n in (4, 1, 3):
        rules.run(n)
        assert rules.made() == first and len(sent(backend)) == 1


def test_what_nobody_refused_is_restored_whatever_the_number_of_shards(asking):
    rules, backend, opened = asking
    write_table(fakes.prompts(TEXTS), "prompts.parquet", "prompts")  # the refused sample is not drawn
    rules.run(1)
    first = rules.made()
    sent(backend), opened.clear()
    for n in (4, 2, 1):
        assert {action for _, action in rules.run(n)} == {"restored"}
        assert rules.made() == first and not sent(backend) and not opened
    assert rules.run(2, between=lambda: shutil.rmtree(job.STORE))[-1] == ("whole", "computed")
    assert rules.made() == first and not sent(backend)  # each shard was the whole table
    fresh()
    rules.run(2)
    shutil.rmtree(job.STORE)  # replies are stored all the same
    assert {action for _, action in rules.run(3)} == {"computed"} and len(sent(backend)) == 7 + 2
    assert rules.made() == first


def test_replies_of_no_use_fail_the_whole_and_the_next_run_asks_anew(asking):
    rules, backend, _ = asking
    backend.reply = lambda request: Reply("no JSON", "stop", 7, 3)
    with pytest.raises(SystemExit):
        rules.run(2)
    assert "none of 16 replies can be used" in ledger.failures(job.LEDGER, 0)
    assert not list(Path("results/x").iterdir()) and len(sent(backend)) == 28
    backend.reply = reply
    rules.run(2)
    assert len(sent(backend)) == 18


def test_a_shard_of_no_use_beside_others_is_no_error_as_it_is_none_of_one_job(asking):
    rules, backend, _ = asking
    write_table(fakes.prompts(["one", "worse"]), "prompts.parquet", "prompts")
    rules.run(2)
    assert read_table(Path(rules.paths["completions"]), "completions")["parsed"].isna().tolist() == [False, True]


@pytest.mark.parametrize("change", [lambda f: f.iloc[:-1], lambda f: pd.concat([f, f.assign(prompt_id="p0")])])
def test_missing_and_doubled_completions_are_refused(asking, change):
    rules, _, _ = asking

    def spoil():
        file = shard_file(rules.paths["completions"], 2, 2)
        write_table(change(read_table(file, "completions").head(1)), file, "completions")

    with pytest.raises(SystemExit):
        rules.run(2, between=spoil)
    told = ledger.failures(job.LEDGER, 0)
    assert "completions are missing" in told and "delete results/x/completions~1of2.parquet" in told
