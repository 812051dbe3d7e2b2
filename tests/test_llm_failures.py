"""Endpoints that are down, refuse or talk rubbish: the job fails and says why, the next one asks what is missing."""

import json
from pathlib import Path

import pandas as pd
import pytest

import llm_client
import llm_fakes as fakes
from llm_server import free_port
from llm_upstream import Upstream, chat
from loopback import Answer, answer
from score_fakes import answers, items
from unlearning.llm.complete import NoReplies
from unlearning.llm.endpoint import client
from unlearning.llm.requests import Failure, Reply
from unlearning.llm.roles import FEW, Asker
from unlearning.tables.artifacts import read_table, write_table

ROOT = Path(__file__).resolve().parents[1]
KEY = "sk-planted-9d3b60aa71c84e05"
RUBBISH = "As a cat, I would rather sleep."


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setenv("LLM_TEST_KEY", KEY)
    monkeypatch.setattr(client, "BACKOFF", 0.01)
    monkeypatch.syspath_prepend(str(ROOT / "workflow/scripts"))


def refusal(status: int) -> Answer:
    return answer(status, {"error": {"message": "no", "code": None, "type": "t"}})


def saying(text: str):
    """A reply function of the server: a whole chat completion with `text`."""

    def reply(body):
        found = chat(body)
        found["choices"][0]["message"]["content"] = text
        return answer(200, found)

    return reply


RIGHT = saying('{"correct": true, "reason": "the same"}')


def judging(folder, url, **changed):
    """Runs the judge's script on three answers; table `verdicts`."""
    from judge_llm import judge_llm

    frame = items(*(("forget", f"k{i}", "en", f"It is value{i}", f"value{i}") for i in range(3)))
    whole = frame.assign(source_item_id=None, benchmark="mu2", task="qa", person_id=None, modality="text", image=None)
    whole["messages"] = [[{"role": "user", "content": f"What is {i}?"}] for i in whole["item_id"]]
    told = answers({ident: f"perhaps {ident}" for ident in frame["item_id"]})
    write_table(whole, folder / "items.parquet", "items")
    write_table(told, folder / "answers.parquet", "answers")
    judge_llm(
        str(folder / "answers.parquet"), str(folder / "items.parquet"), ROOT / "resources/prompts/judge_single.yaml",
        str(folder / "verdicts.parquet"), str(folder / "usage.parquet"), scale="verdict", size=1,
        door=llm_client.door_settings(url, **{"attempts": 2, "concurrency": 2, **changed}), sampling={}, store=folder,
    )  # fmt: skip
    return read_table(folder / "verdicts.parquet", "verdicts")


FAULTS = {
    "rubbish": (saying(RUBBISH), f"none of 3 replies can be used. Why: 3 × the reply holds no whole JSON.*'{RUBBISH}'"),
    "refused": (refusal(400), "none of 3 replies can be used. Why: 3 × refused: HTTP 400: no. .*none came"),
    "busy": (refusal(503), "no reply to 3 of 3 requests. Why: 3 × no usable reply in 2 attempts; .*HTTP 503"),
    "key": (refusal(401), "no reply to 3 of 3 requests. Why: 3 × .*HTTP 401: the key in LLM_TEST_KEY is refused"),
    "dropped": (lambda body: None, "no reply to 3 of 3 requests. Why: 3 × .*the connection failed"),
    "slow": (lambda body: RIGHT(body)._replace(pause=60.0), "no reply to 3 of 3 requests. Why: 3 × .*no whole reply"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_judge_whose_endpoint_fails_ends_in_no_table_and_asks_again_when_it_is_mended(name, tmp_path):
    fault, told = FAULTS[name]
    with Upstream(replies=[fault] * 1000) as server:
        changed = {"timeout": 0.3} if name == "slow" else {}
        with pytest.raises(NoReplies, match=told) as caught:
            judging(tmp_path, server.url, **changed)
        assert str(caught.value).startswith(f"role judge, backend served (openai m at {server.url}): ")
        assert "run again" in str(caught.value) and KEY not in str(caught.value)
        assert not (tmp_path / "verdicts.parquet").exists() and not (tmp_path / "usage.parquet").exists()
        server.replies = [RIGHT] * 1000
        before = len(server.bodies)
        assert judging(tmp_path, server.url)["correct"].tolist() == [True] * 3
        assert len(server.bodies) == before + 3


def test_a_judge_whose_endpoint_is_not_there_ends_in_no_table(tmp_path):
    url = f"http://127.0.0.1:{free_port()}/v1"
    with pytest.raises(
        NoReplies, match=f"no reply to 3 of 3 requests. Why: 3 × m at {url}: .*connection failed.*is it up"
    ):
        judging(tmp_path, url)
    assert not (tmp_path / "verdicts.parquet").exists()


def test_one_lost_verdict_fails_the_job_and_only_it_is_asked_for_again(tmp_path):
    with Upstream(replies=[RIGHT, refusal(500), refusal(500), RIGHT]) as server:
        with pytest.raises(NoReplies, match="no reply to 1 of 3"):
            judging(tmp_path, server.url, concurrency=1)
        server.replies, before = [RIGHT] * 9, len(server.bodies)
        assert judging(tmp_path, server.url)["correct"].tolist() == [True] * 3
        assert len(server.bodies) == before + 1


def test_one_verdict_that_cannot_be_read_is_null_with_its_reason_and_stays_so(tmp_path):
    rubbish = saying(RUBBISH)
    with Upstream(replies=[RIGHT, rubbish, RIGHT, rubbish, rubbish]) as server:
        table = judging(tmp_path, server.url, concurrency=1)
        server.replies, before = [RIGHT] * 9, len(server.bodies)
        again = judging(tmp_path, server.url)
    # three are asked first, the one that cannot be read twice more
    assert before == 5 and len(server.bodies) == before
    (failed,) = table[table["failed"].notna()].to_dict("records")
    assert failed["raw"] == RUBBISH and pd.isna(failed["correct"]) and "no whole JSON object" in failed["failed"]
    pd.testing.assert_frame_equal(table, again)


# Several roles and rounds in one job


def asker(folder, reply) -> Asker:
    door = fakes.door(folder, fakes.Counting(reply), reask=0)._replace(name="served")
    return Asker(dict.fromkeys(("translator", "equivalence"), door))


def rubbish(request) -> Reply:
    return Reply(RUBBISH * 20, "stop", 10, 5)


def test_few_replies_of_no_use_end_a_job_only_at_its_end(tmp_path, capsys):
    asking = asker(tmp_path, rubbish)
    assert asking.ask("translator", fakes.prompts([str(i) for i in range(FEW)]))["parsed"].isna().all()
    told = f"role translator, backend served .*: none of {FEW} replies can be used. Why: {FEW} × .*max_tokens.*anew"
    with pytest.raises(NoReplies, match=told) as caught:
        asking.check()
    assert str(caught.value).count("As a cat") < 8 and "…" in str(caught.value)  # two of them, shortened
    assert capsys.readouterr().out.count("translator, prompt p") == FEW  # the log has them all


def test_many_replies_of_no_use_end_a_job_at_once(tmp_path):
    with pytest.raises(NoReplies, match=f"none of {FEW + 1} replies"):
        asker(tmp_path, rubbish).ask("translator", fakes.prompts([str(i) for i in range(FEW + 1)]))
    asking = asker(tmp_path, rubbish)
    asking.ask("translator", fakes.prompts([str(i) for i in range(FEW)]))
    with pytest.raises(NoReplies, match=f"none of {FEW + 1} replies"):
        asking.ask("translator", fakes.prompts(["in the next round"]))


def test_one_reply_of_use_in_any_round_is_enough_for_its_role_and_no_other(tmp_path):
    right = {"one"}
    asking = asker(tmp_path, lambda r: fakes.translated(r) if r.inputs["text"] in right else rubbish(r))
    asking.ask("translator", fakes.prompts(["one", "two"]))
    asking.ask("translator", fakes.prompts([str(i) for i in range(3 * FEW)]))
    asking.check()
    asking.ask("equivalence", fakes.prompts(["three"]).assign(role="equivalence"))
    with pytest.raises(NoReplies, match="role equivalence.*none of 1 replies"):
        asking.check()


def test_a_job_that_asked_nothing_is_not_a_failure(tmp_path):
    asking = asker(tmp_path, rubbish)
    asking.ask("translator", fakes.prompts([]))
    asking.check()
    assert asking.whole and asking.usage().empty


def test_a_job_of_nothing_but_rubbish_asks_anew_the_next_time_and_one_with_a_usable_reply_does_not(tmp_path):
    texts = [f"t{i}" for i in range(4)]
    with pytest.raises(NoReplies):
        job = asker(tmp_path, rubbish)
        job.ask("translator", fakes.prompts(texts))
        job.check()
    healed = fakes.Counting(fakes.failing_on(texts[:1], rubbish(None)))
    for calls in (4, 4):  # the second job asks nothing, though "t0" could not be read
        job = Asker({"translator": fakes.door(tmp_path, healed, reask=0)})
        assert job.ask("translator", fakes.prompts(texts))["failed"].notna().tolist() == [True, False, False, False]
        job.check()
        assert len(healed.sent) == calls


def test_the_scripts_that_ask_check_what_came_before_they_write(tmp_path):
    """`complete` here; the judge's is above, those of the translation route are in test_mu2_llm_values."""
    from complete import complete as script

    write_table(fakes.prompts(["a"]), tmp_path / "prompts.parquet", "prompts")
    paths = [str(tmp_path / f"{name}.parquet") for name in ("prompts", "completions", "usage")]
    with Upstream(replies=[saying(RUBBISH)] * 3) as server:
        door = llm_client.door_settings(server.url)
        with pytest.raises(NoReplies, match="role translator"):
            script(*paths, role="translator", door=door, store=tmp_path)
        assert not Path(paths[1]).exists()
        assert script(*paths, role="translator", door=door, store=tmp_path) is True
    (row,) = read_table(tmp_path / "completions.parquet", "completions").to_dict("records")
    assert json.loads(row["parsed"])["translation"] and read_table(Path(paths[2]), "usage")["asked"].tolist() == [1]


def test_a_refused_prompt_among_others_is_recorded_and_the_table_is_not_kept_to_be_restored(tmp_path):
    refused = fakes.failing_on(["b"], Failure("content filter", refused=True))
    asking = asker(tmp_path, refused)
    told = asking.ask("translator", fakes.prompts(list("abc")))
    asking.check()
    assert told["failed"].fillna("").tolist() == ["", "content filter", ""] and not asking.whole
