"""Mixed prompts: a question to forget and one to retain in one conversation, answered together (SEPS).

Which tokens are the forget question's and its answer's is known from where their characters were put: nothing is
searched for.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from transformers import PreTrainedTokenizerBase

from unlearning.models.encode import Encoded, encode_marked, pad_id
from unlearning.text.numbered import numbered
from unlearning.train.data import Schedule, endless, refusal_choice, refusals_in
from unlearning.train.loop import Side, Trained, train
from unlearning.train.rows import RowsError
from unlearning.train.terms import Term
from unlearning.train.unlearn import Given


def unlearn(given: Given, term: Term, whole: bool) -> Trained:
    """Train by `term`, which gives the losses {forget, retain} of a mixed prompt, on both orders of every pair.

    The loss of a pair is the sum over its orders, weighted by `forget_weight` and `retain_weight`; a step's is the mean
    over its pairs. An epoch is one pass over the forget set. `whole`: the term is about the whole text, else about the
    answers.
    """
    plan, refusals = given.plan, given.refusals if term.answers == "refusal" else None
    rows = MixedRows(given.tokenizer, given.forget, given.retain, whole, refusals, plan.max_length)
    n = len(given.forget)
    schedule = Schedule(n, plan.batch_size, plan.epochs, given.seed)
    side = Side("mixed", term, {"forget": plan.forget_weight, "retain": plan.retain_weight}, rows, scale=2.0)

    def draw(step: int) -> list[np.ndarray]:
        leading = schedule.leading(step)
        return [np.concatenate([leading, n + leading])]

    steps = schedule.steps_per_epoch
    return train(given.model, [side], draw, steps, plan, given.seed, pad_id(given.tokenizer), **given.running)


class MixedRows:
    """Place i holds forget example i after its partner, place n + i the same two the other way round.

    The partner of an epoch is a retain example in the same language, drawn without replacement until those are used up.
    Taken rows are encoded when asked for; `value_mask` marks the forget question and answer. RowsError where a language
    has nothing to retain, or an example is no question in text.
    """

    ref_logprob = None

    def __init__(
        self,
        tokenizer: PreTrainedTokenizerBase,
        forget: pd.DataFrame,
        retain: pd.DataFrame,
        whole: bool,
        refusals: dict[str, list[str]] | None = None,
        max_length: int | None = None,
    ) -> None:
        self.tokenizer, self.whole, self.refusals, self.max_length = tokenizer, whole, refusals, max_length
        self.forget, self.retain = forget.to_dict("records"), retain.to_dict("records")
        for row in (*self.forget, *self.retain):
            if not len(row["messages"]) or row["modality"] != "text":
                raise RowsError(
                    f"example {row['example_id']!r} is no question in text, so it cannot stand in a mixed prompt; "
                    "leave such examples out of the split, or take another method"
                )
        self.partners = {
            language: np.flatnonzero(retain["language"] == language) for language in set(forget["language"])
        }
        if lonely := sorted(language for language, rows in self.partners.items() if not len(rows)):
            raise RowsError(f"the retain set has no example in {lonely}, so forget examples have no partner there")
        self.ranks = forget.groupby("language").cumcount().tolist()
        self.counts = forget["language"].value_counts().to_dict()

    def __len__(self) -> int:
        return 2 * len(self.forget)

    @property
    def lengths(self) -> np.ndarray:
        """Characters of each place's question to forget and its answer: how long the prompts are, roughly."""
        return np.tile([len(row["messages"][-1]["content"]) + len(row["answer"]) for row in self.forget], 2)

    def partner(self, i: int, seed: int, epoch: int) -> int:
        """The place of the retain example that forget example `i` is paired with in `epoch`."""
        language = self.forget[i]["language"]
        place = epoch * self.counts[language] + self.ranks[i]
        there = self.partners[language]
        return int(there[endless(len(there), seed, f"partner/{language}", place, place + 1)[0]])

    def take(self, indices: Sequence[int], answers: str, seed: int, epoch: int) -> list[Encoded]:
        """The mixed prompts at `indices`; with `answers` = refusal the forget question is refused."""
        return [self._mixed(int(i), answers, seed, epoch) for i in indices]

    def _mixed(self, i: int, answers: str, seed: int, epoch: int) -> Encoded:
        first, i = i >= len(self.forget), i % len(self.forget)
        gone, kept = self.forget[i], self.retain[self.partner(i, seed, epoch)]
        said = gone["answer"]
        if answers == "refusal":
            choices = refusals_in(self.refusals, gone["language"])
            said = choices[refusal_choice(seed, epoch, gone["example_id"], len(choices))]
        *before, asked = gone["messages"]
        questions, answered = [asked["content"], kept["messages"][-1]["content"]], [said, kept["answer"]]
        place = 0 if first else 1
        prompt, prompt_spans = numbered(questions if first else questions[::-1])
        answer, answer_spans = numbered(answered if first else answered[::-1])
        messages, spans = [*before, {"role": "user", "content": prompt}], (prompt_spans[place], answer_spans[place])
        encoded = encode_marked(self.tokenizer, messages, spans[0], answer, spans[1], self.max_length)
        if not self.whole:
            return encoded
        ids = [*encoded.prompt_ids, *encoded.answer_ids]
        return Encoded(ids[:1], ids[1:], [*encoded.question_mask, *encoded.value_mask][1:])
