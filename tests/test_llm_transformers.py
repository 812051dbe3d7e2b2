"""Backend `transformers`: the model's own answers, whatever the batches; and what local backends refuse."""

import json
import shutil
from importlib.util import find_spec

import pytest

from answering import PAIRS, model, tokenizer
from unlearning.llm.backends import transformers as backend
from unlearning.llm.backends import vllm
from unlearning.llm.local_model import revision_of
from unlearning.llm.requests import Failure, Reply, Request, Sampling
from unlearning.models.encode import encode_prompt
from unlearning.models.load import ModelError

GREEDY = Sampling(max_tokens=48)
WARM = Sampling(temperature=2.0, top_p=0.95, max_tokens=12, seed=3)
QUESTIONS = [question for _, question, _, _ in PAIRS]
LIMIT = 512  # of the tiny model


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("chat_model")
    model().save_pretrained(path)
    tokenizer().save_pretrained(path)
    return path


@pytest.fixture
def door(folder):
    opened = []

    def with_batches_of(batch_size=4, path=folder):
        settings = {"kind": "transformers", "model": str(path), "revision": None, "dtype": "float32"}
        opened.append(backend.open(settings | {"batch_size": batch_size, "device": "cpu"}))
        return opened[-1]

    yield with_batches_of
    for one in opened:
        one.close()


def request(question, sampling=GREEDY, sample=0, number=0):
    messages = [{"role": "user", "content": question}]
    return Request(f"p{number}", sample, messages, sampling, None, {}, "judge")


def every_question(sampling=GREEDY, sample=0):
    return [request(question, sampling, sample, i) for i, question in enumerate(QUESTIONS)]


def replies(opened, requests):
    results = list(opened.ask(requests))
    assert sorted(position for position, _ in results) == list(range(len(requests)))
    return [result for _, result in sorted(results, key=lambda pair: pair[0])]


def test_each_question_gets_its_own_answer_once(door):
    asked = [request(question, number=i) for i, question in enumerate(QUESTIONS * 12)]  # more than a window of 4 x 32
    found = replies(door(4), asked)
    assert [reply.text for reply in found] == [answer for _, _, answer, _ in PAIRS] * 12
    assert {reply.finish_reason for reply in found} == {"stop"}


def test_tokens_are_those_of_the_chat_template_and_of_the_answer_with_its_end(door):
    for (_, question, answer, _), reply in zip(PAIRS, replies(door(), every_question()), strict=True):
        assert reply.input_tokens == len(encode_prompt(tokenizer(), [{"role": "user", "content": question}]))
        assert reply.output_tokens == len(tokenizer()(answer, add_special_tokens=False).input_ids) + 1


@pytest.mark.parametrize("sampling", [GREEDY, WARM])
def test_neither_batch_size_nor_the_other_requests_change_a_reply(door, sampling):
    alone = replies(door(1), every_question(sampling))
    assert replies(door(5), every_question(sampling)) == alone
    assert replies(door(64), every_question(sampling)[::-1])[::-1] == alone
    assert replies(door(3), every_question(sampling)[4:7]) == alone[4:7]


def test_a_draw_depends_on_seed_and_sample_only(door):
    first = replies(door(), every_question(WARM))
    assert replies(door(), every_question(WARM)) == first
    other = replies(door(), every_question(WARM, sample=1))
    assert other != first
    assert replies(door(), every_question(WARM._replace(seed=4))) == other  # sample i is drawn with seed + i


def test_requests_drawn_differently_share_a_window(door):
    mixed = [request(QUESTIONS[i % 12], (GREEDY, WARM, GREEDY._replace(max_tokens=2))[i % 3]) for i in range(30)]
    assert replies(door(4), mixed) == [replies(door(1), [one])[0] for one in mixed]


def test_a_reply_that_is_cut_says_so(door):
    [reply] = replies(door(), [request(QUESTIONS[2], GREEDY._replace(max_tokens=2))])
    assert (reply.finish_reason, reply.output_tokens) == ("length", 2)
    assert "Ben likes the red fox best of all animals.".startswith(reply.text)


def test_a_prompt_too_long_fails_by_itself(door):
    long, just_fits = "?" * 3 * LIMIT, "?"
    while len(encode_prompt(tokenizer(), [{"role": "user", "content": just_fits}])) + 48 < LIMIT:
        just_fits += "約"
    found = replies(door(), [request(QUESTIONS[0]), request(long), request(just_fits + "約約"), request(QUESTIONS[1])])
    assert [type(result) for result in found] == [Reply, Failure, Failure, Reply]
    assert "max_tokens" in found[1].reason and str(LIMIT) in found[1].reason
    assert isinstance(replies(door(), [request(just_fits[:-1])])[0], Reply)


def test_requests_are_pulled_a_window_at_a_time_and_none_loads_nothing(door):
    opened, pulled = door(1), []
    assert list(opened.ask(iter(()))) == [] and "_loaded" not in vars(opened)
    results = opened.ask(pulled.append(i) or request(QUESTIONS[i % 12]) for i in range(80))
    next(results)
    assert len(pulled) == backend.WINDOW


def test_a_closed_backend_holds_no_weights_and_may_be_closed_twice(door):
    opened = door()
    replies(opened, every_question())
    held = opened._loaded[0]
    opened.close()
    opened.close()
    assert {weights.device.type for weights in held.parameters()} == {"meta"}


def test_a_conversation_the_template_refuses_fails_with_what_the_template_says(door, folder, tmp_path):
    shutil.copytree(folder, tmp_path / "m")
    template = (
        "{% if messages|length > 1 %}{{ raise_exception('one message only') }}{% endif %}{{ messages[0].content }}"
    )
    (tmp_path / "m/chat_template.jinja").write_text(template)
    two = request("a")._replace(messages=[{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}])
    found = replies(door(4, tmp_path / "m"), [two, request("Tea?")])
    assert "one message only" in found[0].reason and isinstance(found[1], Reply)


def test_a_model_that_cannot_chat_is_refused(door, folder, tmp_path):
    shutil.copytree(folder, tmp_path / "m")
    (tmp_path / "m/chat_template.jinja").unlink()
    with pytest.raises(ModelError, match="chat template"):
        next(door(4, tmp_path / "m").ask([request("Tea?")]))


def test_no_code_that_comes_with_a_model_runs(door, folder, tmp_path):
    shutil.copytree(folder, tmp_path / "m")
    config = json.loads((tmp_path / "m/config.json").read_text())
    config["auto_map"] = {"AutoConfig": "own.Config", "AutoModelForCausalLM": "own.Model"}
    (tmp_path / "m/config.json").write_text(json.dumps(config))
    (tmp_path / "m/own.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()\n")
    assert replies(door(4, tmp_path / "m"), every_question()) == replies(door(), every_question())
    assert not (tmp_path / "ran").exists()


def test_pickled_weights_are_refused(door, folder, tmp_path):
    import torch

    shutil.copytree(folder, tmp_path / "m")
    (tmp_path / "m/model.safetensors").unlink()
    torch.save(model().state_dict(), tmp_path / "m/pytorch_model.bin")
    with pytest.raises(ModelError, match="safetensors"):
        door(4, tmp_path / "m")


def test_another_version_of_a_folder_is_another_model_to_the_store(door, folder, tmp_path):
    shutil.copytree(folder, tmp_path / "m")
    assert revision_of(str(tmp_path / "m"), None) == door().identity["revision"]
    (tmp_path / "m/generation_config.json").write_text("{}")
    assert revision_of(str(tmp_path / "m"), None) != door().identity["revision"]


def test_a_pinned_commit_is_its_own_revision_and_a_model_nowhere_is_named(monkeypatch):
    assert revision_of("some/model", "0123456789" * 4) == "0123456789" * 4
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(ModelError, match="nobody/nothing"):
        revision_of("nobody/nothing", None)


def test_layers_are_spread_over_as_many_gpus_as_share_the_heads_evenly():
    assert [vllm.tensor_parallel(gpus, 32) for gpus in (1, 2, 3, 8)] == [1, 2, 2, 8]
    assert vllm.tensor_parallel(2, 9) == 1


@pytest.mark.parametrize(("device", "built_for_cpu", "said"), [
    ("cuda", True, "build for CPUs"), ("cpu", False, "build for GPUs"), ("auto", False, "finds no GPU"),
])  # fmt: skip
def test_vllm_where_it_cannot_run_says_what_to_install(device, built_for_cpu, said, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(ModelError, match=said) as error:
        vllm._runs_on_cpu(device, built_for_cpu)
    assert "envs/vllm" in str(error.value)


@pytest.mark.skipif(find_spec("vllm") is not None, reason="vLLM is installed")
def test_vllm_that_is_not_installed_says_how_to_install_it(folder):
    settings = {"kind": "vllm", "model": str(folder), "revision": None, "dtype": "auto", "max_length": 512}
    opened = vllm.open(settings | {"memory_share": 0.9, "device": "auto"})
    with pytest.raises(ModelError, match=r"envs/vllm\.txt"):
        next(opened.ask([request("Tea?")]))
    opened.close()
