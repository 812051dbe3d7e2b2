"""The door to language models: nothing lost, nothing asked twice, order kept, keys kept out."""

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

import llm_fakes as fakes
from unlearning.llm.budget import Budget
from unlearning.llm.complete import NoReplies, complete, open_door
from unlearning.llm.endpoint.errors import Stopped
from unlearning.llm.keys import EndpointError, kept_out, read_key
from unlearning.llm.prompts import requests_of
from unlearning.llm.requests import Failure, Reply
from unlearning.tables.artifacts import read_table, write_table

ROOT = Path(__file__).resolve().parents[1]
OFFLINE = {"backend": {"kind": "offline"}, "name": "offline", "reask": 0, "cap": None, "price": None}
KEY = "sk-planted-0123456789abcdef"


def told(completions: pd.DataFrame) -> list:
    return [(row.prompt_id, row.sample, json.loads(row.parsed)["translation"]) for row in completions.itertuples()]


def test_completions_stand_in_the_order_of_the_prompts_and_their_samples(tmp_path):
    completions, usage = complete(
        fakes.prompts(["a", "b", "c"], samples=2), fakes.door(tmp_path, fakes.Counting()), False
    )
    assert told(completions) == [
        ("p0", 0, "a!0"), ("p0", 1, "a!1"), ("p1", 0, "b!0"), ("p1", 1, "b!1"), ("p2", 0, "c!0"), ("p2", 1, "c!1"),
    ]  # fmt: skip
    # six replies of 10 tokens read and 5 written
    assert usage["cost"].isna().all() and usage.drop(columns="cost").to_dict("records") == [
        {"role": "translator", "backend": "fake", "model": "m", "prompts": 3, "asked": 6, "from_store": 0,
         "input_tokens": 60, "output_tokens": 30, "failed": 0}
    ]  # fmt: skip


def test_both_tables_keep_their_contracts_and_read_back_the_same(tmp_path):
    asked = fakes.prompts(["a", "b"], samples=2)
    write_table(asked, tmp_path / "prompts.parquet", "prompts")
    read = read_table(tmp_path / "prompts.parquet", "prompts")
    assert list(requests_of(read)) == list(requests_of(asked))
    completions, usage = complete(read, fakes.door(tmp_path, fakes.Counting()), False)
    write_table(completions, tmp_path / "completions.parquet", "completions")
    write_table(usage, tmp_path / "usage.parquet", "usage")
    assert told(read_table(tmp_path / "completions.parquet", "completions")) == told(completions)


def test_no_prompts_make_empty_tables_that_can_be_written(tmp_path):
    completions, usage = complete(fakes.prompts([]), fakes.door(tmp_path, fakes.Counting()), False)
    write_table(completions, tmp_path / "completions.parquet", "completions")
    write_table(usage, tmp_path / "usage.parquet", "usage")
    assert len(completions) == len(usage) == 0


def test_nothing_is_asked_again_after_a_reply_and_the_tables_are_equal(tmp_path):
    asked, first, second = fakes.prompts(list("abcde")), fakes.Counting(), fakes.Counting()
    before = complete(asked, fakes.door(tmp_path, first), False)
    after = complete(asked, fakes.door(tmp_path, second), False)
    assert (len(first.sent), len(second.sent)) == (5, 0)
    for table, again in zip(before, after, strict=True):
        pd.testing.assert_frame_equal(table, again)


def test_equal_requests_are_asked_once_and_counted_once(tmp_path):
    backend = fakes.Counting()
    completions, usage = complete(fakes.prompts(["a", "b", "a", "a"]), fakes.door(tmp_path, backend), False)
    assert sorted(r.inputs["text"] for r in backend.sent) == ["a", "b"]
    assert [text for _, _, text in told(completions)] == ["a!0", "b!0", "a!0", "a!0"]
    assert usage.loc[0, ["prompts", "asked", "from_store", "input_tokens"]].to_list() == [4, 2, 0, 20]


def test_another_prompt_model_sampling_or_schema_is_another_request(tmp_path):
    asked = fakes.prompts(["a"])
    variants = [
        asked,
        fakes.prompts(["a"], prompt=fakes.ASK._replace(user="Put {{ text }} into German.")),
        fakes.prompts(["a"], prompt=fakes.ASK._replace(reply="text")),
        fakes.prompts(["a"], temperature=0.5),
        fakes.prompts(["a"], seed=1),
    ]
    sent = 0
    for table in variants:
        backend = fakes.Counting()
        complete(table, fakes.door(tmp_path, backend), False)
        sent += len(backend.sent)
    other = fakes.Counting()
    other.identity = other.identity | {"revision": "2"}
    complete(asked, fakes.door(tmp_path, other), False)
    assert (sent, len(other.sent)) == (5, 1)


def test_an_unusable_reply_is_asked_for_again_with_what_is_wrong(tmp_path):
    replies = iter(["no JSON", '{"translation": 3}', '```json\n{"translation": "hallo"}\n```'])
    backend = fakes.Counting(lambda request: Reply(next(replies), "stop", 10, 5))
    completions, usage = complete(fakes.prompts(["a"]), fakes.door(tmp_path, backend), False)
    assert told(completions) == [("p0", 0, "hallo")] and completions["failed"].isna().all()
    conversation = [(m["role"], m["content"]) for m in backend.sent[2].messages]
    assert [role for role, _ in conversation] == ["system", "user", "assistant", "user", "assistant", "user"]
    assert conversation[2][1] == "no JSON" and "no whole JSON object" in conversation[3][1]
    assert (
        conversation[4][1] == '{"translation": 3}'
        and "translation: Input should be a valid string" in (conversation[5][1])
    )
    assert usage.loc[0, ["asked", "input_tokens", "failed"]].to_list() == [3, 30, 0]


def test_a_reply_that_stays_unusable_fails_with_its_raw_text_and_is_not_asked_for_again(tmp_path):
    cut = Reply('{"translation": "hal', "length", 10, 5)
    backend, again = fakes.Counting(lambda request: cut), fakes.Counting(lambda request: cut)
    completions, usage = complete(fakes.prompts(["a"], max_tokens=7), fakes.door(tmp_path, backend), False)
    row = completions.iloc[0]
    assert row.text == '{"translation": "hal' and pd.isna(row.parsed)
    assert row.failed == "the reply holds no whole JSON object (it was cut off after 7 tokens)"
    assert len(backend.sent) == 3 and usage.loc[0, "failed"] == 1
    repeated, _ = complete(fakes.prompts(["a"], max_tokens=7), fakes.door(tmp_path, again), False)
    assert again.sent == [] and repeated.equals(completions)


def test_an_empty_reply_is_told_about_without_an_empty_message(tmp_path):
    backend = fakes.Counting(lambda request: Reply(" ", "stop", 1, 0))
    completions, _ = complete(fakes.prompts(["a"], prompt=fakes.ASK._replace(reply="text")),
                              fakes.door(tmp_path, backend, reask=1), False)  # fmt: skip
    assert completions.loc[0, "failed"] == "the reply is empty" and completions.loc[0, "text"] == " "
    assert all(m["content"].strip() for request in backend.sent for m in request.messages)


def test_a_refused_request_is_told_but_not_stored(tmp_path):
    refused = fakes.Counting(fakes.failing_on(["b"], Failure("400 too long", refused=True)))
    completions, usage = complete(fakes.prompts(list("abc")), fakes.door(tmp_path, refused), False)
    assert completions["failed"].fillna("").to_list() == ["", "400 too long", ""]
    assert completions["text"].isna().to_list() == [False, True, False]
    assert usage.loc[0, ["asked", "failed"]].to_list() == [2, 1]
    healed = fakes.Counting()
    completions, _ = complete(fakes.prompts(list("abc")), fakes.door(tmp_path, healed), False)
    assert [r.inputs["text"] for r in healed.sent] == ["b"] and completions["failed"].isna().all()


def test_requests_without_a_reply_fail_the_job_with_counts_and_the_next_one_asks_only_for_them(tmp_path):
    said = {"b": Failure("HTTP 503 six times"), "d": Failure("HTTP 503 six times"), "e": Failure("timeout", True)}
    down = fakes.Counting(lambda request: said.get(request.inputs["text"]) or fakes.translated(request))
    door = fakes.door(tmp_path, down)._replace(name="served")
    with pytest.raises(NoReplies) as caught:
        complete(fakes.prompts(list("abcdef")), door, False)
    assert str(caught.value).startswith(
        "role translator, backend served (fake m at http://here): no reply to 3 of 6 requests. "
        "Why: 2 × HTTP 503 six times; 1 × timeout. What came is stored"
    )
    assert "backends.served" in str(caught.value) and "run again" in str(caught.value)
    assert len(down.sent) == 6  # what could be asked was asked
    healed = fakes.Counting()
    completions, _ = complete(fakes.prompts(list("abcdef")), fakes.door(tmp_path, healed), False)
    assert [r.inputs["text"] for r in healed.sent] == ["b", "d", "e"] and completions["failed"].isna().all()


def test_a_stop_of_the_backend_is_told_as_the_reason_of_all_that_was_not_asked(tmp_path):
    class Stopping(fakes.Counting):
        def ask(self, requests):
            yield from super().ask(itertools.islice(requests, 2))
            raise Stopped("m at http://here: HTTP 401: the key in K is refused")

    with pytest.raises(NoReplies, match="no reply to 4 of 6 requests. Why: 4 × m at http://here: HTTP 401"):
        complete(fakes.prompts(list("abcdef")), fakes.door(tmp_path, Stopping()), False)
    healed = fakes.Counting()
    complete(fakes.prompts(list("abcdef")), fakes.door(tmp_path, healed), False)
    assert [r.inputs["text"] for r in healed.sent] == ["c", "d", "e", "f"]


def test_a_failure_after_an_unusable_reply_is_asked_for_again_where_it_was(tmp_path):
    results = iter([Reply("no", "stop", 10, 5), Failure("500")])
    backend = fakes.Counting(lambda request: next(results))
    with pytest.raises(NoReplies, match="1 × 500"):
        complete(fakes.prompts(["a"]), fakes.door(tmp_path, backend), False)
    healed = fakes.Counting()
    completions, _ = complete(fakes.prompts(["a"]), fakes.door(tmp_path, healed), False)
    assert told(completions) == [("p0", 0, "a!0")] and len(healed.sent[0].messages) == 4  # "no" is stored


def test_a_job_that_fails_forgets_the_replies_that_could_not_be_used_and_no_others(tmp_path):
    def half(request):
        if request.inputs["text"] == "c":
            return Failure("500")
        again = len(request.messages) > 2
        return fakes.translated(request) if again and request.inputs["text"] == "a" else Reply("no", "stop", 10, 5)

    with pytest.raises(NoReplies, match="no reply to 1 of 3"):
        complete(fakes.prompts(list("abc")), fakes.door(tmp_path, fakes.Counting(half)), False)
    healed = fakes.Counting()
    completions, _ = complete(fakes.prompts(list("abc")), fakes.door(tmp_path, healed), False)
    # "a" had a usable reply in the end; "b" begins anew, without the replies of the job that failed
    assert sorted((r.inputs["text"], len(r.messages)) for r in healed.sent) == [("b", 2), ("c", 2)]
    assert [text for _, _, text in told(completions)] == ["a!0", "b!0", "c!0"]


def test_an_exception_in_the_middle_loses_no_reply(tmp_path):
    broken = fakes.Counting(fakes.failing_on(["d"], RuntimeError("out of memory")), window=1)
    with pytest.raises(RuntimeError, match="out of memory"):
        complete(fakes.prompts(list("abcdef")), fakes.door(tmp_path, broken), False)
    healed = fakes.Counting()
    completions, _ = complete(fakes.prompts(list("abcdef")), fakes.door(tmp_path, healed), False)
    assert [r.inputs["text"] for r in healed.sent] == ["d", "e", "f"]
    assert [text for _, _, text in told(completions)] == [f"{c}!0" for c in "abcdef"]


def test_a_backend_that_leaves_a_request_out_or_answers_twice_is_an_error(tmp_path):
    class Forgetful(fakes.Counting):
        def ask(self, requests):
            yield from list(super().ask(requests))[1:]

    class Twice(fakes.Counting):
        def ask(self, requests):
            for pair in super().ask(requests):
                yield from (pair, pair)

    with pytest.raises(RuntimeError, match="1 requests got no result"):
        complete(fakes.prompts(list("abc")), fakes.door(tmp_path, Forgetful()), False)
    with pytest.raises(RuntimeError, match="two results for request"):
        complete(fakes.prompts(list("xyz")), fakes.door(tmp_path, Twice()), False)


def test_half_a_character_in_a_reply_can_be_written(tmp_path):
    backend = fakes.Counting(lambda request: Reply("a \ud83d b", "stop", 1, 1))
    completions, _ = complete(fakes.prompts(["a"], prompt=fakes.ASK._replace(reply="text")),
                              fakes.door(tmp_path, backend), False)  # fmt: skip
    write_table(completions, tmp_path / "completions.parquet", "completions")
    assert completions.loc[0, "text"] == "a ? b"


KILLED = """
import sys
from pathlib import Path
import llm_fakes as fakes
from unlearning.llm.complete import complete

class Noted(fakes.Counting):
    def _answers(self, flight):
        for position, request in flight:
            reply = fakes.slow(request)
            with open(sys.argv[2], "a") as log:
                log.write(request.inputs["text"] + "\\n")
            yield position, reply

complete(fakes.prompts([f"t{i}" for i in range(400)]), fakes.door(Path(sys.argv[1]), Noted(window=3)), False)
"""


def test_a_killed_job_asks_only_for_what_was_not_stored(tmp_path):
    answered = tmp_path / "answered.txt"
    path = os.pathsep.join([str(ROOT / "workflow"), str(ROOT / "tests")])
    job = subprocess.Popen(
        [sys.executable, "-c", KILLED, tmp_path, answered],
        env=os.environ | {"PYTHONPATH": path},
        stderr=subprocess.PIPE,
    )
    waited = time.monotonic()
    while not answered.exists() or answered.read_text().count("\n") < 12:
        assert time.monotonic() - waited < 60 and job.poll() is None, job.stderr.read()
        time.sleep(0.01)
    job.send_signal(signal.SIGKILL)
    job.wait()
    seen = answered.read_text().split()
    backend = fakes.Counting()
    completions, _ = complete(fakes.prompts([f"t{i}" for i in range(400)]), fakes.door(tmp_path, backend), False)
    again = {r.inputs["text"] for r in backend.sent}
    assert len(seen) < 400 and len(set(seen) & again) <= 1  # the one that was killed between reply and store
    assert len(backend.sent) == len(again) and len(again | set(seen)) == 400
    assert [text for _, _, text in told(completions)] == [f"t{i}!0" for i in range(400)]


def test_the_offline_engines_answer_by_their_inputs(tmp_path):
    with open_door(OFFLINE, tmp_path) as opened:
        same, _ = complete(table("equivalence", {"english_value": "Café au lait", "back": "cafe  au lait"}), opened)
        other, _ = complete(table("equivalence", {"english_value": "tea", "back": "coffee"}), opened)
        refined, usage = complete(table("refiner", {"question": "What {{ x }}?", "answer": "Été."}), opened)
    assert json.loads(same.loc[0, "parsed"])["equivalent"] is True
    assert json.loads(other.loc[0, "parsed"]) == {"equivalent": False, "reason": "'coffee' is not 'tea'"}
    assert json.loads(refined.loc[0, "parsed"]) == {"question": "What {{ x }}?", "answer": "Été."}
    assert usage.loc[0, ["backend", "asked"]].to_list() == ["offline", 1]
    assert usage[["model", "cost"]].isna().all(axis=None)
    assert list(tmp_path.iterdir()) == []


def table(role: str, inputs: dict) -> pd.DataFrame:
    kind = {"equivalence": "equivalence", "refiner": "refinement"}[role]
    return fakes.prompt_table(fakes.ASK._replace(user="?", reply=kind), role, ["x"], [inputs])


def test_offline_engines_of_one_prompt_text_are_told_apart_by_their_inputs(tmp_path):
    asked = pd.concat(
        [table("equivalence", {"english_value": "tea", "back": b}).assign(prompt_id=b) for b in ("tea", "soup")],
        ignore_index=True,
    )
    with open_door(OFFLINE, tmp_path) as opened:
        completions, _ = complete(asked, opened)
    assert [json.loads(p)["equivalent"] for p in completions["parsed"]] == [True, False]


def test_a_role_without_an_offline_engine_is_refused_with_the_roles_that_have_one(tmp_path):
    asked = fakes.prompt_table(fakes.ASK, "rater_1", ["x"], [{"text": "a"}])
    with pytest.raises(ValueError, match="rater_1 has no offline engine; .*: .*equivalence.*refiner"):
        with open_door(OFFLINE, tmp_path) as opened:
            complete(asked, opened)


def test_the_key_stands_in_no_file_table_or_error(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PLANTED_KEY", KEY)
    echo = fakes.Counting(
        lambda r: (
            Failure(f"400: no {KEY}", refused=True) if r.inputs["text"] == "b" else Reply(f"your {KEY}", "stop", 1, 1)
        )
    )
    door = fakes.door(tmp_path, echo, Budget(tmp_path / "spending.sqlite", 1.0, {"input": 1.0, "output": 1.0}))
    completions, usage = complete(fakes.prompts(list("abc")), door._replace(key_env="PLANTED_KEY"))
    write_table(completions, tmp_path / "completions.parquet", "completions")
    write_table(usage, tmp_path / "usage.parquet", "usage")
    with pytest.raises(EndpointError) as caught, kept_out("PLANTED_KEY"):
        try:
            raise OSError(f"header {KEY}")
        except OSError as error:
            raise RuntimeError("refused") from error
    shown = "".join([*capsys.readouterr(), str(caught.value), repr(caught.value.__context__), completions.to_string()])
    assert KEY not in shown and "[key]" in shown and "your [key]" in completions.loc[0, "text"]
    assert all(KEY.encode() not in path.read_bytes() for path in tmp_path.iterdir())


def test_a_missing_key_is_told_by_its_variable(monkeypatch):
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    with pytest.raises(ValueError, match="environment variable NO_SUCH_KEY is not set"):
        read_key("NO_SUCH_KEY")
    assert read_key(None) is None


def test_placeholders_of_local_servers_are_no_secrets(monkeypatch, tmp_path):
    monkeypatch.setenv("LOCAL_KEY", "EMPTY")
    backend = fakes.Counting(lambda request: Reply('{"translation": "EMPTY"}', "stop", 1, 1))
    completions, _ = complete(fakes.prompts(["a"]), fakes.door(tmp_path, backend)._replace(key_env="LOCAL_KEY"), False)
    assert told(completions) == [("p0", 0, "EMPTY")]


def test_the_door_needs_no_torch(tmp_path):
    code = (
        "import sys; from unlearning.llm import complete, estimate; import unlearning.llm.backends.offline; "
        "heavy = {'torch', 'transformers', 'vllm', 'openai'} & set(sys.modules); assert not heavy, heavy"
    )
    env = os.environ | {"PYTHONPATH": str(ROOT / "workflow")}
    subprocess.run([sys.executable, "-c", code], check=True, env=env)
