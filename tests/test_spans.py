"""Sensitive spans and key tokens: found in texts, marked on tokens, narrowed by what hiding a token changes."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
import torch

import training
from unlearning.models.encode import EncodeError, collate, encode, encode_all, located
from unlearning.train.spans import (
    SpansError,
    _pipeline,
    entropy_change,
    find,
    keep_important,
    names_verbs_numbers,
    with_spans,
)

torch.set_num_threads(1)
ASK = [{"role": "user", "content": "What does Ada Bo drink?"}]
SAY = "Ada Bo drinks red wine since 1987."


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("What does Ada Bo drink?", ["Ada Bo", "drink"]),
        (SAY, ["Ada Bo", "drinks", "1987"]),
        ("Who was born in Paris, and who told you?", ["born", "Paris", "told"]),
        ("Ada Bo's favourite drink is tea.", ["Ada Bo's", "tea"]),  # after an auxiliary: as far as a rule goes
        ("He has written 12 books about Jean-Luc O'Hara.", ["written", "12", "Jean-Luc O'Hara"]),
        ("It lies in France. The capital, founded late, is Paris.", ["lies", "France", "founded", "Paris"]),
        ("อาดาชอบ 1987", ["1987"]),
        ("the colour of the sea", []),
        ("", []),
    ],
)
def test_names_verbs_and_numbers(text, found):
    assert [text[start:stop] for start, stop in names_verbs_numbers(text)] == found


def test_ways_to_find_spans():
    assert find("tea, then tea", "value", "tea") == [(10, 13)]
    assert find(SAY, "value", "coffee") == find(SAY, "value", None) == []
    assert find(SAY, "pos") == names_verbs_numbers(SAY)
    assert find(SAY, "entropy") == [(0, len(SAY))]
    with pytest.raises(SpansError, match="params.spans: 'ner' is unknown; allowed: value, entropy, pos, entities"):
        find(SAY, "ner")


def test_entities_come_from_a_spacy_pipeline(monkeypatch):
    def load(name):
        assert name == "xx_small"
        return lambda text: SimpleNamespace(ents=[SimpleNamespace(start_char=0, end_char=6)])

    _pipeline.cache_clear()
    monkeypatch.setitem(sys.modules, "spacy", SimpleNamespace(load=load))
    assert find(SAY, "entities", pipeline="xx_small") == [(0, 6)]


def test_entities_without_spacy_say_what_to_install(monkeypatch):
    _pipeline.cache_clear()
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(SpansError, match="needs spaCy and its pipeline en_core_web_sm .*`pip install spacy`"):
        find(SAY, "entities")


def spans_of(way, conversations=(ASK,), answers=(SAY,), values=("red wine",), max_length=None):
    tokenizer = training.tokenizer()
    encoded = encode_all(tokenizer, conversations, answers, max_length=max_length)
    return with_spans(tokenizer, encoded, conversations, answers, values, way)


def shown(encoded):
    """The text of each span, by its number."""
    ids = encoded.prompt_ids + encoded.answer_ids
    assert len(ids) == len(encoded.spans)
    numbers = sorted(set(encoded.spans) - {0})
    return [
        training.tokenizer().decode([i for i, n in zip(ids, encoded.spans, strict=True) if n == m]) for m in numbers
    ]


def test_spans_are_marked_on_the_tokens_of_question_and_answer():
    assert [text.strip() for text in shown(spans_of("pos")[0])] == [
        "Ada Bo", "drink", "Ada Bo", "drinks", "1987",
    ]  # fmt: skip
    assert [text.strip() for text in shown(spans_of("value")[0])] == ["red wine"]
    assert shown(spans_of("entropy")[0]) == [ASK[0]["content"], SAY]  # neither template nor end of text


def test_spans_of_documents_and_of_cut_answers():
    document = spans_of("pos", [[]], ["Ada drinks."], [None])[0]
    assert [text.strip() for text in shown(document)] == ["Ada", "drinks"]
    whole = spans_of("pos")[0]
    cut = spans_of("pos", max_length=len(whole.prompt_ids) + 3)[0]
    assert cut.spans == whole.spans[: len(whole.prompt_ids) + 3]


def test_an_example_without_a_span_is_allowed_but_not_all_of_them():
    some = spans_of("value", [ASK, ASK], [SAY, SAY], [None, "wine"])
    assert not any(some[0].spans) and any(some[1].spans)
    with pytest.raises(
        SpansError, match="params.spans: value finds nothing in any of 1 examples, first 'Ada Bo drinks"
    ):
        spans_of("value", values=[None])


def test_a_slow_tokenizer_is_refused():
    with pytest.raises(EncodeError, match="SimpleNamespace gives no character offsets, so the tokens of a sensitive"):
        with_spans(SimpleNamespace(is_fast=False), [], [], [], [], "pos")


def test_a_prompt_tells_where_its_tokens_and_its_question_stand():
    tokenizer = training.tokenizer()
    told = [{"role": "system", "content": "Answer. Who?"}, {"role": "user", "content": " Who? "}]
    text, places, questions = located(tokenizer, told)
    assert [text[start:stop] for start, stop in questions] == ["Who?"] and text.index("Who?") < questions[0][0]
    assert len(places) == len(encode(tokenizer, told, "x").prompt_ids)
    assert located(tokenizer, []) == ("", [(0, 0)], [])


@pytest.mark.parametrize("make", [training.model, training.qwen3])
def test_entropy_change_is_that_of_leaving_the_token_out_at_its_place(make):
    network, one = make().eval(), spans_of("entropy")[0]
    places = np.flatnonzero(one.spans)
    got = entropy_change(network, one, places, 0, batch_size=7)
    ids = torch.tensor(one.prompt_ids + one.answer_ids)
    P, S = len(one.prompt_ids), len(ids)

    def entropies(kept):
        """By place: the entropy of what is predicted there, in float64 and without the places left out."""
        with torch.no_grad():
            logits = network(ids[None, kept], position_ids=torch.tensor([kept])).logits[0].double()
        return {
            place: torch.distributions.Categorical(logits=row).entropy()
            for place, row in zip(kept, logits, strict=True)
        }

    whole = entropies(list(range(S)))
    for place, change in zip(places, got, strict=True):
        without = entropies([i for i in range(S) if i != place])
        later = [i for i in range(P - 1, S - 1) if i > place]
        wanted = sum(abs(without[i] - whole[i]).item() for i in later) / max(len(later), 1)
        assert change == pytest.approx(wanted, abs=2e-5)
    assert got[-1] == 0 and got.max() > 1e-3  # nothing is predicted behind the last word but the end of text


def test_the_first_token_can_be_hidden():
    one = encode(training.tokenizer(), [], SAY)
    change = entropy_change(training.model().eval(), one, [0, 1], 0)
    assert np.isfinite(change).all() and change.min() > 0


def test_the_tokens_that_change_most_are_kept(monkeypatch):
    changes = {3: 0.1, 4: 0.9, 5: 0.8, 6: 0.0, 9: 0.9, 10: 0.1}
    monkeypatch.setattr(
        "unlearning.train.spans.entropy_change", lambda m, e, places, p: np.array([changes[i] for i in places])
    )
    one = encode(training.tokenizer(), ASK, SAY)
    one = one._replace(spans=[int(i in changes) for i in range(len(one.prompt_ids) + len(one.answer_ids))])

    def kept(share):
        spans = keep_important(None, one, 0, share).spans
        return {i: number for i, number in enumerate(spans) if number}

    assert kept(0.5) == {4: 1, 5: 1, 9: 2}  # neighbours are one span
    assert kept(0.01) == {4: 1}  # at least one; of equal ones the first
    empty = one._replace(spans=[0] * len(one.spans))
    assert keep_important(None, empty, 0) == empty


def test_spans_reach_the_batch_through_padding():
    first, second = spans_of("pos", [ASK, ASK[:0]], [SAY, "Ada."], [None, None])
    batch = collate([first, second._replace(spans=None)], 0)
    assert batch.spans_BS[0, : len(first.spans)].tolist() == first.spans and not batch.spans_BS[1].any()
    both = collate([second, first], 0)
    start = len(first.prompt_ids) - len(second.prompt_ids)
    assert both.spans_BS[0, start : start + len(second.spans)].tolist() == second.spans
