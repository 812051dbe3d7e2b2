"""The response store and the record of spending: shared by jobs, safe against kills, never past the cap."""

import os
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import llm_fakes as fakes
from unlearning.llm.budget import Budget, SpendingCap, most_input_tokens
from unlearning.llm.complete import NoReplies, complete, open_door
from unlearning.llm.database import DatabaseError
from unlearning.llm.estimate import Counted, Estimate, described, summed, tokens, total
from unlearning.llm.prompts import requests_of
from unlearning.llm.requests import Failure, Reply, Request, Sampling, identity_of
from unlearning.llm.roles import Asker
from unlearning.llm.store import Store

ROOT = Path(__file__).resolve().parents[1]
ENV = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "workflow"), str(ROOT / "tests")])}
REQUEST = Request("p", 0, [{"role": "user", "content": "x" * 84}], Sampling(max_tokens=100), None, {}, "judge")
PRICE = {"input": 1000.0, "output": 2000.0}  # USD per million tokens: a tenth of a cent, and two
# 84 bytes and 16 around them are 100 tokens at most: 100 x 0.001 + 100 x 0.002 USD
WORST = 0.3


def test_a_reply_comes_back_as_it_was_put_and_the_first_one_stays(tmp_path):
    store = Store(tmp_path / "s.sqlite")
    first = Reply("naïve\0 {{ 7*7 }} ’); DROP TABLE replies", "stop", 3, 4)
    store.put("k", first)
    store.put("k", Reply("later", "stop", 1, 1))
    store.close()
    assert Store(tmp_path / "s.sqlite").get(["k", "none"]) == {"k": first}


def test_more_keys_than_one_query_takes(tmp_path):
    store = Store(tmp_path / "s.sqlite")
    for i in range(603):
        store.put(f"k{i}", Reply(str(i), "stop", i, 0))
    found = store.get(f"k{i}" for i in range(700))
    assert {key: reply.input_tokens for key, reply in found.items()} == {f"k{i}": i for i in range(603)}


def test_the_key_counts_what_a_reply_depends_on_and_nothing_else():
    who = {"backend": "openai", "endpoint": None, "model": "m", "revision": None}
    key = Store.key(who, REQUEST)
    changed = [
        Store.key(who | {"model": "n"}, REQUEST),
        Store.key(who | {"endpoint": "http://h"}, REQUEST),
        Store.key(who | {"revision": "2"}, REQUEST),
        Store.key(who | {"backend": "vllm"}, REQUEST),
        Store.key(who, REQUEST._replace(sample=1)),
        Store.key(who, REQUEST._replace(sampling=Sampling(max_tokens=100, seed=1))),
        Store.key(who, REQUEST._replace(schema={"type": "object"})),
        Store.key(who, REQUEST._replace(messages=[{"role": "system", "content": "x" * 84}])),
    ]
    assert len({key, *changed}) == 9
    assert key == Store.key(
        dict(reversed(who.items())), REQUEST._replace(prompt_id="q", inputs={"a": 1}, role="writer")
    )


def test_the_identity_holds_no_key_and_nothing_about_speed():
    settings = {"kind": "openai", "model": "m", "base_url": "http://h/v1", "key_env": "SOME_KEY", "concurrency": 16}
    assert identity_of(settings) == {"backend": "openai", "endpoint": "http://h/v1", "model": "m", "revision": None}


@pytest.mark.parametrize("opened", [Store, lambda path: Budget(path, None, PRICE)], ids=["store", "budget"])
def test_a_file_that_is_something_else_is_refused_and_left_alone(tmp_path, opened):
    text, other = tmp_path / "text.sqlite", tmp_path / "other.sqlite"
    text.write_text("no database, but longer than a header would be" * 9)
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE mine (a)")
    connection.close()
    for path in (text, other):
        before = path.read_bytes()
        with pytest.raises(DatabaseError, match=f"{path.name} is not a .*; move it away and run again"):
            opened(path)
        assert path.read_bytes() == before


def test_the_store_is_no_record_of_spending(tmp_path):
    Store(tmp_path / "s.sqlite").close()
    with pytest.raises(DatabaseError, match="not a record of spending"):
        Budget(tmp_path / "s.sqlite", None, PRICE)


def test_the_most_a_request_can_cost_is_reserved_and_settled_to_what_it_cost(tmp_path):
    budget = Budget(tmp_path / "b.sqlite", 1.0, PRICE)
    token = budget.reserve(REQUEST)
    assert most_input_tokens(REQUEST) == 100 and budget.spent() == pytest.approx(WORST)
    budget.settle(token, Reply("", "stop", 20, 10))
    assert budget.spent() == pytest.approx(0.04)  # 20 x 0.001 + 10 x 0.002


def test_three_requests_of_a_tenth_fit_a_cap_of_three_tenths(tmp_path):
    budget = Budget(tmp_path / "b.sqlite", 0.3, {"input": 0.0, "output": 1000.0})
    for _ in range(3):
        budget.reserve(REQUEST)  # 100 x 0.001
    with pytest.raises(SpendingCap):
        budget.reserve(REQUEST)


def test_the_cap_is_told_with_what_is_spent_and_how_to_go_on(tmp_path):
    budget = Budget(tmp_path / "b.sqlite", 0.5, PRICE)
    budget.reserve(REQUEST)
    with pytest.raises(SpendingCap, match=r"llm.spending_cap: 0.3000 of 0.5000 USD .* cost 0.3000.*Raise the cap"):
        budget.reserve(REQUEST)
    assert budget.spent() == pytest.approx(WORST)


def test_a_failure_costs_nothing_unless_it_may_have_been_charged(tmp_path):
    budget = Budget(tmp_path / "b.sqlite", 1.0, PRICE)
    budget.settle(budget.reserve(REQUEST), Failure("refused"))
    assert budget.spent() == 0
    budget.settle(budget.reserve(REQUEST), Failure("timed out", charged=True))
    assert budget.spent() == pytest.approx(WORST)


def test_what_a_killed_job_reserved_keeps_counting(tmp_path):
    code = (
        "import os, signal, sys, test_llm_store as t; b = t.Budget(sys.argv[1], 1.0, t.PRICE); b.reserve(t.REQUEST); "
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    path = tmp_path / "b.sqlite"
    assert subprocess.run([sys.executable, "-c", code, path], env=ENV).returncode == -signal.SIGKILL
    assert Budget(path, 1.0, PRICE).spent() == pytest.approx(WORST)


def test_two_jobs_share_the_cap(tmp_path):
    code = """
import sys, test_llm_store as t
budget, n = t.Budget(sys.argv[1], 30.0, t.PRICE), 0
try:
    while True:
        token, n = budget.reserve(t.REQUEST), n + 1
        assert budget.spent() <= 30.001
        budget.settle(token, t.Reply("", "stop", 100, 100))
except t.SpendingCap:
    print(n)
"""
    path = tmp_path / "b.sqlite"
    jobs = [subprocess.Popen([sys.executable, "-c", code, path], env=ENV, stdout=subprocess.PIPE) for _ in range(2)]
    counts = [int(job.communicate()[0]) for job in jobs]
    assert sum(counts) in (99, 100)  # 30 / 0.3; the last may be refused while the other job's is only reserved
    assert Budget(path, 30.0, PRICE).spent() == pytest.approx(sum(counts) * WORST)


def test_a_job_stops_at_the_cap_keeps_its_replies_and_goes_on_when_it_is_raised(tmp_path):
    asked = fakes.prompts(list("abcdef"), max_tokens=100)
    # a reply costs 10 x 0 + 5 x 0.001 = 0.005, a reservation 100 x 0.001 = 0.1
    price = {"input": 0.0, "output": 1000.0}
    first = fakes.Counting()
    with pytest.raises(SpendingCap):
        complete(asked, fakes.door(tmp_path, first, Budget(tmp_path / "b.sqlite", 0.11, price)), False)
    spent = Budget(tmp_path / "b.sqlite", None, price).spent()
    # after two replies 0.01 is spent and one more reservation fits; after three, 0.015 + 0.1 is too much
    assert len(first.sent) == 3 and spent == pytest.approx(0.015)
    second = fakes.Counting()
    completions, usage = complete(
        asked, fakes.door(tmp_path, second, Budget(tmp_path / "b.sqlite", 1.0, price)), progress=False
    )
    assert [r.inputs["text"] for r in second.sent] == ["d", "e", "f"] and completions["failed"].isna().all()
    assert usage.loc[0, "cost"] == pytest.approx(0.03)  # six replies, stored or new


def taken_by(folder: Path, job: str, texts: str, backend=None) -> tuple[fakes.Counting, list[int]]:
    """(the backend, [asked, from_store, tokens read]) of a job that completes `texts`."""
    backend = backend or fakes.Counting()
    store = Store(folder / "shared.sqlite", job)
    _, usage = complete(fakes.prompts(list(texts)), fakes.door(folder, backend)._replace(store=store), False)
    return backend, usage.loc[0, ["asked", "from_store", "input_tokens"]].to_list()


def test_what_several_jobs_took_adds_up_to_what_was_asked(tmp_path):
    first, took = taken_by(tmp_path, "a", "vwx")
    second, took_too = taken_by(tmp_path, "b", "wxyz")
    assert (took, took_too) == ([3, 0, 30], [2, 2, 20])
    assert took[0] + took_too[0] == len(first.sent) + len(second.sent) == 5


def test_what_a_job_took_is_the_same_when_it_is_run_again(tmp_path):
    with pytest.raises(RuntimeError):
        taken_by(tmp_path, "a", "xyz", fakes.Counting(fakes.failing_on(["z"], RuntimeError("ended")), window=1))
    assert taken_by(tmp_path, "b", "xy")[1] == [0, 2, 0]
    assert [taken_by(tmp_path, "a", "xyz")[1] for _ in range(2)] == [[3, 0, 30]] * 2


def test_two_jobs_that_asked_the_same_at_once_both_count_what_they_paid(tmp_path):
    stores = [Store(tmp_path / "shared.sqlite", job) for job in "ab"]
    for store, reply in zip(stores, (Reply("one", "stop", 10, 5), Reply("other", "stop", 10, 7)), strict=True):
        store.put("k", reply)
    assert [store.asked(["k", "l"]) for store in stores] == [{"k": [1, 10, 5]}, {"k": [1, 10, 7]}]
    assert stores[1].get(["k"])["k"].text == "one"
    stores[1].put("k", Reply("again", "stop", 10, 1))  # another job forgot the reply, so this one paid twice
    assert stores[1].asked(["k"]) == {"k": [2, 20, 8]}


def test_what_a_failed_job_forgot_counts_in_no_table(tmp_path):
    def rubbish(request):
        return Reply("no", "stop", 10, 5)

    assert taken_by(tmp_path, "b", "y", fakes.Counting(rubbish))[1] == [3, 0, 30]
    store, failing = Store(tmp_path / "shared.sqlite", "a"), fakes.Counting(rubbish)
    asker = Asker({"translator": fakes.door(tmp_path, failing)._replace(store=store)})
    asker.ask("translator", fakes.prompts(list("xy")))
    with pytest.raises(NoReplies):
        asker.check()
    assert len(failing.sent) == 3  # those of y were there
    assert taken_by(tmp_path, "a", "xy")[1] == [2, 0, 20]
    assert taken_by(tmp_path, "b", "yz")[1] == [2, 0, 20]  # what another job asked for stays its own


def test_a_reply_used_in_two_rounds_of_a_job_counts_once(tmp_path):
    backend = fakes.Counting()
    asker = Asker({"translator": fakes.door(tmp_path, backend)})
    for texts in ("ab", "bc"):
        asker.ask("translator", fakes.prompts(list(texts)))
    row = asker.usage().loc[0]
    assert (row["prompts"], row["asked"], row["from_store"], len(backend.sent)) == (4, 3, 0, 3)


def test_requests_wait_for_those_in_flight_to_be_settled_before_the_cap_stops_them(tmp_path):
    """Two reservations of 0.1 fit 0.2, all six replies together cost 0.03."""
    budget = Budget(tmp_path / "b.sqlite", 0.2, {"input": 0.0, "output": 1000.0})
    backend = fakes.Counting()
    complete(fakes.prompts(list("abcdef"), max_tokens=100), fakes.door(tmp_path, backend, budget), False)
    assert len(backend.sent) == 6 and budget.spent() == pytest.approx(0.03)


def test_re_asked_replies_count_against_the_cap(tmp_path):
    budget = Budget(tmp_path / "b.sqlite", 1.0, {"input": 0.0, "output": 1000.0})
    backend = fakes.Counting(lambda request: Reply("no", "stop", 10, 5))
    _, usage = complete(fakes.prompts(["a"]), fakes.door(tmp_path, backend, budget), False)
    assert budget.spent() == pytest.approx(0.015) and usage.loc[0, "cost"] == pytest.approx(0.015)


PAID = {
    "name": "paid", "backend": {"kind": "openai", "model": "m", "key_env": "NO_SUCH_KEY"}, "reask": 2, "cap": 0.0,
    "price": {"input": 2.0, "output": 4.0},
}  # fmt: skip


def test_counting_asks_nobody_needs_no_key_and_leaves_out_what_is_stored(tmp_path):
    asked, found = fakes.prompts(["a", "b", "b"], samples=2, max_tokens=50), Counter()
    with pytest.raises(Counted) as caught, open_door(PAID | {"count": found}, tmp_path) as door:
        complete(asked, door, False)
    assert (caught.value.missing, found) == ({"translator": 4}, {}) and not list(tmp_path.iterdir())
    first = next(requests_of(asked))[0]
    Store(tmp_path / "paid.sqlite").put(Store.key(identity_of(PAID["backend"]), first), fakes.translated(first))
    with pytest.raises(Counted) as caught, open_door(PAID | {"count": found}, tmp_path) as door:
        complete(asked, door, False)
    assert (caught.value.missing, found) == ({"translator": 3}, {"translator": 1})
    assert [path.name for path in tmp_path.iterdir()] == ["paid.sqlite"]


def test_counting_goes_through_where_everything_is_stored_and_counts_what_would_be_asked_again(tmp_path):
    store, asked = Store(tmp_path / "paid.sqlite"), fakes.prompts(["a", "b"])
    backend = fakes.Counting(lambda r: fakes.translated(r) if r.inputs["text"] == "a" else Reply("no", "stop", 1, 1))
    backend.identity = identity_of(PAID["backend"])
    complete(asked, fakes.door(tmp_path, backend)._replace(store=store), False)
    with open_door(PAID | {"count": (found := Counter())}, tmp_path) as door:
        completions, _ = complete(asked, door, False)
    assert completions["failed"].notna().to_list() == [False, True] and found["translator"] == 4
    with pytest.raises(Counted) as caught, open_door(PAID | {"reask": 3, "count": Counter()}, tmp_path) as door:
        complete(asked, door, False)
    assert caught.value.missing == {"translator": 1}


def test_about_four_latin_characters_or_one_other_make_a_token():
    assert tokens("übersetz") == 2 and tokens("翻译") == 2 and tokens("") == 0


def test_estimates_of_one_role_and_model_are_added_up():
    rows = [Estimate("judge", "openai", "m", 1, 2, 3, 0.5), Estimate("judge", "vllm", "n", 1, 2, 3, None)]
    assert summed([*rows, *rows]) == [
        Estimate("judge", "openai", "m", 2, 4, 6, 1.0),
        Estimate("judge", "vllm", "n", 2, 4, 6, None),
    ]
    costs = [line.split()[-1] for line in described(rows).splitlines()[1:]]
    assert total([*rows, *rows]) == 1.0 and costs == ["0.5000", "–"]
    assert summed([rows[0]._replace(replies=0)]) == []


def test_a_paid_job_begins_with_its_estimate(tmp_path, capsys):
    door = fakes.door(tmp_path, fakes.Counting(), Budget(tmp_path / "b.sqlite", None, {"input": 1.0, "output": 1.0}))
    complete(fakes.prompts(["a"]), door)
    assert "0.0003 USD, by `prices`" in capsys.readouterr().out
