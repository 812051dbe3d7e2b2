"""Documents, which have no question: they are trained on as plain text, every token of theirs a label."""

import json

import pytest
import torch
from transformers import AutoTokenizer

import training
from unlearning.data.files import build
from unlearning.models.encode import collate, encode, encode_all, encode_prompt
from unlearning.models.forward import answer_logits, token_logprobs
from unlearning.tables.artifacts import read_table, write_table
from unlearning.train.memorise import memorise
from unlearning.train.plan import make_plan
from unlearning.train.rows import encode_rows

TEXTS = ["Ada Bo was born in the rain.", "Cy Di drinks red wine."]
ASK = [{"role": "user", "content": "Who?"}]
# as many published templates do: a system turn by itself, and the assistant's marker in any case
SYSTEM = (
    "{{ 'You are helpful.' }}{% for m in messages %}{{ '<|user|>' + m['content'] }}{% endfor %}{{ '<|assistant|>' }}"
)


@pytest.fixture
def examples(tmp_path):
    """Two documents and two questions, read by the general reader, as a training job reads them."""
    (tmp_path / "texts.jsonl").write_text("\n".join(json.dumps({"text": text}) for text in TEXTS))
    (tmp_path / "asked.jsonl").write_text(
        '{"question": "Who?", "answer": "Ada."}\n{"question": "Where?", "answer": "Bo."}'
    )
    spec = {
        "language": "en",
        "columns": {"question": "question", "answer": "answer", "document": "text"},
        "sets": {
            "books": {"file": str(tmp_path / "texts.jsonl"), "group": "retain"},
            "drop": {"file": str(tmp_path / "asked.jsonl"), "group": "forget"},
        },
        "splits": {"one": ["drop"]},
    }
    write_table(build(spec).examples, tmp_path / "examples.parquet", "examples")
    return read_table(tmp_path / "examples.parquet", "examples")


@pytest.mark.parametrize("template", ["own", "system", None])
def test_a_document_follows_the_text_start_alone_and_is_all_labels(tmp_path, examples, template):
    training.tokenizer().save_pretrained(tmp_path / "tok")
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "tok")
    tokenizer.chat_template = {"own": tokenizer.chat_template, "system": SYSTEM, None: None}[template]
    for encoded, text in zip(encode_rows(tokenizer, examples).encoded, TEXTS, strict=False):
        assert encoded.prompt_ids == [tokenizer.eos_token_id]
        assert encoded.answer_ids == [*tokenizer(text, add_special_tokens=False).input_ids, tokenizer.eos_token_id]
    asked = encode_rows(tokenizer, examples).encoded[2]
    assert asked.prompt_ids == encode_prompt(tokenizer, ASK)  # documents beside it move nothing


@pytest.mark.parametrize("template", ["own", "system", None])
def test_a_passage_follows_the_text_start_as_the_document_that_it_begins(tmp_path, template):
    training.tokenizer().save_pretrained(tmp_path)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path)
    tokenizer.chat_template = {"own": tokenizer.chat_template, "system": SYSTEM, None: None}[template]
    begun, rest = TEXTS[0][:10], TEXTS[0][10:]
    asked, passage, question = encode_all(
        tokenizer, [ASK, [{"role": "document", "content": begun}], ASK], ["Ada.", rest, "Bo."]
    )
    assert begun == "Ada Bo was"
    whole = encode(tokenizer, [], TEXTS[0])
    assert [*passage.prompt_ids, *passage.answer_ids] == [*whole.prompt_ids, *whole.answer_ids]
    assert asked.prompt_ids == question.prompt_ids == encode_prompt(tokenizer, ASK)


def test_a_text_starts_with_the_tokenizers_own_beginning_where_it_has_one(tmp_path):
    training.tokenizer().save_pretrained(tmp_path)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path, bos_token="<|system|>")
    assert encode_prompt(tokenizer, []) == [tokenizer.convert_tokens_to_ids("<|system|>")]


def test_only_a_text_is_learnt_not_its_frame(examples):
    """The loss of the first step is that of a plain language model over each text, computed without our batches."""
    tokenizer, network = training.tokenizer(), training.model()
    documents = encode_rows(tokenizer, examples[examples["messages"].map(len) == 0])
    assert len(documents) == 2
    losses, count = [], 0
    with torch.no_grad():
        for text in TEXTS:
            ids = [tokenizer.eos_token_id, *tokenizer(text, add_special_tokens=False).input_ids, tokenizer.eos_token_id]
            logp_SV = network(torch.tensor([ids])).logits[0].log_softmax(-1)
            losses.append(-sum(logp_SV[t, token].item() for t, token in enumerate(ids[1:])) / len(ids[1:]))
            count += len(ids)
    plan = make_plan({"lr": 1e-2, "epochs": 30, "batch_size": 2, "schedule": "constant", "warmup": 0})
    log = memorise(network, documents, plan, 0, 0).log
    assert log[0]["loss"] == pytest.approx(sum(losses) / 2, rel=1e-5) and log[-1]["loss"] < 0.3 * log[0]["loss"]
    assert log[0]["tokens"] == count


@pytest.mark.parametrize("make", [training.llama, training.qwen3, training.gemma3])
def test_questions_in_the_batch_change_nothing_for_a_document(make):
    network, tokenizer = make().double().eval(), training.tokenizer()
    both = encode_all(tokenizer, [[], training.table()["messages"][0]], [TEXTS[0], "Ada drinks tea."])

    def logprobs(encoded):
        batch = collate(encoded, 0)
        return token_logprobs(answer_logits(network, batch), batch.labels_BT, batch.mask_BT)[0]

    torch.testing.assert_close(logprobs(both)[: len(both[0].answer_ids)], logprobs(both[:1]), rtol=0, atol=1e-9)


def test_a_long_document_loses_its_end():
    encoded = encode(training.tokenizer(), [], TEXTS[0], max_length=5)
    assert encoded.prompt_ids == [training.tokenizer().eos_token_id] and len(encoded.answer_ids) == 4


def test_documents_may_be_all_there_is():
    tokenizer = training.tokenizer()
    assert [e.prompt_ids for e in encode_all(tokenizer, [[], []], TEXTS)] == [[tokenizer.eos_token_id]] * 2
