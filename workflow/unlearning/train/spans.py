"""Sensitive spans and key tokens: which parts of a question and its answer carry what is to be forgotten.

Four ways, by name:
- value      the last occurrence in the answer of the example's value (known from the data)
- pos        names, verbs and numbers of question and answer, by a cheap rule without any tagger
- entities   named entities of both, by a spaCy pipeline (an optional package)
- entropy    the tokens of both whose masking changes the entropy of the model's later predictions most

The first three find spans of characters in a text, and tokens that overlap them; the last needs a model.
"""

import functools
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from unlearning.models.encode import Encoded, Span, check_offsets, collate, located, value_span

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

WAYS = ("value", "entropy", "pos", "entities")
PIPELINE = "en_core_web_sm"
# The share of a question's and answer's tokens that `entropy` takes, at least one (our reading).
IMPORTANT_SHARE = 0.2


class SpansError(ValueError):
    """Spans cannot be found; the message says what is missing and how to mend it."""


# English words that are neither names nor verbs which carry a fact, though a sentence may start with one.
AUXILIARIES = frozenset(
    """do does did is are was were am be been being has have had will would can could may might must shall should to
    don't doesn't didn't isn't aren't wasn't weren't hasn't haven't hadn't won't wouldn't can't couldn't""".split()
)
PRONOUNS = frozenset("i you he she it we they who".split())
CLOSED = frozenset(
    """a an the this that these those my your his her its our their me him us them mine yours hers ours theirs what
    which whose whom when where why how and or but nor so yet if as than then because while although though since until
    unless whether of in on at by for with from into onto about after before between during under over through against
    without within along across up down out off near per not no yes there here also only very too all any each every
    some both either neither none""".split()
)
WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


def names_verbs_numbers(text: str) -> list[Span]:
    """Spans of names, verbs and numbers in `text`, by rule; neighbouring names are one span.

    - number: a word with a digit in it.
    - name: a word with a capital, unless it is English of a closed class (What, The, In) or I.
    - verb: a word in small letters that ends in -ed or -ing, follows a name or a pronoun, or follows an auxiliary, also
      across names and pronouns (does Ada *drink*), but not a genitive (Ada's); English closed classes are none.

    Made for English. Languages that write nouns with capitals have them among the names; those without capitals give
    little but numbers.
    """
    spans, last, asked = [], "", False
    for word in WORD.finditer(text):
        if last == "name" and text[: word.start()].rstrip().endswith(("'s", "’s")):
            last, asked = "other", False
        kind = _kind(word.group(), last, asked)
        asked = word.group().lower() in AUXILIARIES or (asked and kind in ("name", "pronoun"))
        joined = kind == last == "name" and text[spans[-1][1] : word.start()].isspace()
        if joined:
            spans[-1] = (spans[-1][0], word.end())
        elif kind in ("name", "verb", "number"):
            spans.append(word.span())
        last = kind
    return spans


def _kind(word: str, last: str, asked: bool) -> str:
    """name, verb, number, pronoun or other, given the kind of the word before and whether an auxiliary waits."""
    lower = word.lower().replace("’", "'")
    if any(character.isdigit() for character in word):
        return "number"
    if lower in PRONOUNS:
        return "pronoun"
    if lower in AUXILIARIES or lower in CLOSED:
        return "other"
    if word != lower:
        return "name"
    follows = asked or last in ("name", "pronoun")
    return "verb" if follows or re.search("[a-z]{2}(ed|ing)$", word) else "other"


def content_words(text: str) -> list[Span]:
    """Spans of the words of `text` that are not English of a closed class: what is left where no way finds anything."""
    words = ((word.group().lower().replace("’", "'"), word.span()) for word in WORD.finditer(text))
    return [span for lower, span in words if lower not in AUXILIARIES | PRONOUNS | CLOSED]


@functools.cache
def _pipeline(name: str) -> Callable:
    try:
        import spacy

        return spacy.load(name)
    except (ImportError, OSError) as error:
        raise SpansError(
            f"params.spans: entities needs spaCy and its pipeline {name} ({error}); install them with `pip install "
            f"spacy` and `python -m spacy download {name}` (or that pipeline's package), name another pipeline as "
            "params.pipeline, or choose another of value, pos, entropy"
        ) from error


def find(text: str, way: str, value: str | None = None, pipeline: str = PIPELINE) -> list[Span]:
    """The spans of characters (from, to) that `way` finds in `text`, in order.

    entropy finds the whole text: what it chooses from. SpansError on an unknown way, or where entities has no spaCy.
    """
    if way == "value":
        span = value_span(text, value)
        return [span] if span else []
    if way == "pos":
        return names_verbs_numbers(text)
    if way == "entities":
        return [(entity.start_char, entity.end_char) for entity in _pipeline(pipeline)(text).ents]
    if way == "entropy":
        return [(0, len(text))]
    raise SpansError(f"params.spans: {way!r} is unknown; allowed: {', '.join(WAYS)}")


def with_spans(
    tokenizer: "PreTrainedTokenizerBase",
    encoded: Sequence[Encoded],
    conversations: Sequence[Sequence[dict]],
    answers: Sequence[str],
    values: Sequence[str | None],
    way: str,
    pipeline: str = PIPELINE,
) -> list[Encoded]:
    """`encoded` with `spans`: per token of prompt and answer, the number of the span found that it overlaps, or 0.

    Looked at are the questions (what the user says) and the answers; with the way `value`, answers only. The end of a
    text and the tokens of a chat template belong to none. SpansError where no example has any span; EncodeError for a
    slow tokenizer.
    """
    check_offsets(tokenizer, "a sensitive span")
    coded = tokenizer(list(answers), add_special_tokens=False, return_offsets_mapping=True)["offset_mapping"]
    marked = []
    for one, messages, answer, value, places in zip(encoded, conversations, answers, values, coded, strict=True):
        prompt, prompt_places, questions = located(tokenizer, messages)
        said = find(answer, way, value, pipeline)
        asked = [
            (start + a, start + b)
            for start, stop in (questions if way != "value" else [])
            for a, b in find(prompt[start:stop], way, None, pipeline)
        ]
        of_prompt = _numbers(prompt_places, asked, 1, len(one.prompt_ids))
        of_answer = _numbers(places, said, 1 + len(asked), len(one.answer_ids))
        marked.append(one._replace(spans=of_prompt + of_answer))
    if marked and not any(any(one.spans) for one in marked):
        raise SpansError(
            f"params.spans: {way} finds nothing in any of {len(marked)} examples, first {answers[0]!r}; "
            f"choose another of {', '.join(WAYS)}"
        )
    return marked


def _numbers(offsets: Sequence[Span], spans: Sequence[Span], first: int, n: int) -> list[int]:
    """Per token, `n` of them, the number from `first` on of the span that it overlaps first; 0 for none."""
    found = [next((i for i, (a, b) in enumerate(spans, first) if start < b and stop > a), 0) for start, stop in offsets]
    return (found + [0] * n)[:n]


def keep_important(model: "PreTrainedModel", encoded: Encoded, pad_id: int, share: float = IMPORTANT_SHARE) -> Encoded:
    """`encoded` with only those tokens of its spans left that change the entropy of `model`'s predictions most.

    They are the `share` of the marked tokens, at least one, with the largest `entropy_change`, of equal ones the first;
    neighbours are one span.
    """
    places = np.flatnonzero(encoded.spans)
    if not len(places):
        return encoded
    change = entropy_change(model, encoded, places, pad_id)
    most = places[np.argsort(-change, kind="stable")[: max(round(share * len(places)), 1)]]
    chosen = np.isin(np.arange(len(encoded.spans)), most)
    starts = chosen & ~np.concatenate([[False], chosen[:-1]])
    return encoded._replace(spans=np.where(chosen, starts.cumsum(), 0).tolist())


def entropy_change(
    model: "PreTrainedModel", encoded: Encoded, places: Sequence[int], pad_id: int, batch_size: int = 64
) -> np.ndarray:
    """How much hiding the token at each of `places` (of prompt and answer) changes the later predictions, nats, ≥ 0.

    Mean over the answer's tokens t that are predicted from a later place of |H(p(·|<t, token hidden)) − H(p(·|<t))|, H
    the entropy over the vocabulary; 0 where no prediction comes later. Hidden is a token that no other attends to (our
    reading of "masked": so nothing has to stand in its place); what is predicted from its own place does not count.
    """
    import torch

    from unlearning.models.forward import answer_logits
    from unlearning.train.nll import log_softmax

    def entropies(hidden: Sequence[int | None]) -> np.ndarray:
        batch = collate([encoded] * len(hidden), pad_id)
        for row, place in enumerate(hidden):
            if place is not None:
                batch.attention_mask_BS[row, place] = 0
        logp_BTV = log_softmax(answer_logits(model, batch.to(model.device)))
        return -(logp_BTV.exp() * logp_BTV).sum(-1).double().cpu().numpy()

    with torch.no_grad():
        whole_T = entropies([None])[0]
        parts = [entropies(places[i : i + batch_size]) for i in range(0, len(places), batch_size)]
    change_NT = np.abs(np.concatenate(parts) - whole_T)
    # token t is predicted from the place before it
    later_NT = len(encoded.prompt_ids) - 1 + np.arange(len(whole_T)) > np.asarray(places)[:, None]
    return np.where(later_NT, change_NT, 0.0).sum(1) / np.maximum(later_NT.sum(1), 1)
