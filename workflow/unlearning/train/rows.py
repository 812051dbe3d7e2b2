"""From tables to the rows a run trains on. No torch."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from unlearning.models.encode import Encoded, encode_all, mark_questions
from unlearning.models.pictures import pictures
from unlearning.train.data import refusal_choice, refusals_in
from unlearning.train.spans import PIPELINE, with_spans

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


class RowsError(ValueError):
    """The rows asked for are not there; the message says which table and what it holds."""


@dataclass(frozen=True)
class Rows:
    """Encoded examples. `refusals`: per language the token ids of each refusal, where a term needs them.

    `refusal_ref_logprob`: (example, place of a refusal in its language's list, its number of tokens) → its
    log-probability under the reference model, for those that are drawn.
    `domains`: the subject area that each example is of, empty where the data has but one.
    """

    ids: list[str]
    languages: list[str]
    encoded: list[Encoded]
    ref_logprob: np.ndarray | None = None
    refusals: dict[str, list[list[int]]] = field(default_factory=dict)
    refusal_ref_logprob: dict[tuple[str, int, int], float] = field(default_factory=dict)
    domains: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def lengths(self) -> np.ndarray:
        """Tokens of each example with its own answer."""
        return np.array([len(e.prompt_ids) + len(e.answer_ids) for e in self.encoded])

    def take(self, indices: Sequence[int], answers: str, seed: int, epoch: int) -> list[Encoded]:
        """The examples at `indices`, with their own answers (reference) or the epoch's refusals (refusal).

        both: first all with their own answers, then all with the refusals, so that one forward pass serves the two.
        """
        own = [self.encoded[i] for i in indices] if answers != "refusal" else []
        refused = [self.refused(i, self.drawn(i, seed, epoch)) for i in indices] if answers != "reference" else []
        return own + refused

    def drawn(self, i: int, seed: int, epoch: int) -> int:
        """Which refusal of its language's list example `i` gets in an epoch."""
        return refusal_choice(seed, epoch, self.ids[i], len(self._choices(i)))

    def refused(self, i: int, refusal: int) -> Encoded:
        """Example `i` with that refusal as its answer."""
        answer = self._choices(i)[refusal]
        return self.encoded[i]._replace(answer_ids=answer, value_mask=[False] * len(answer), spans=None)

    def _choices(self, i: int) -> list[list[int]]:
        return refusals_in(self.refusals, self.languages[i])

    def refusal_refs(self, indices: Sequence[int], seed: int, epoch: int) -> np.ndarray:
        """The reference log-probabilities of the epoch's refusals, nats.

        RowsError where one is not known: the table was computed for another seed or tokenizer, or for fewer epochs.
        """
        found = []
        for i in indices:
            drawn = self.drawn(i, seed, epoch)
            key = (self.ids[i], drawn, len(self._choices(i)[drawn]))
            if key not in self.refusal_ref_logprob:
                raise RowsError(
                    f"ref_logprobs: nothing for example {key[0]!r} with refusal {drawn} of {key[2]} tokens, drawn in "
                    f"epoch {epoch + 1} of seed {seed}; compute the table again for this seed and all epochs"
                )
            found.append(self.refusal_ref_logprob[key])
        return np.array(found)


def joined(first: Rows, second: Rows) -> Rows:
    """`first` followed by `second`, for plain training (no reference log-probabilities, no refusals)."""
    return Rows(first.ids + second.ids, first.languages + second.languages, first.encoded + second.encoded)


def of_group(examples: pd.DataFrame, group: str, languages: Sequence[str] | None = None) -> pd.DataFrame:
    """The rows of `group` in `languages` (None = all). RowsError, with what there is, if there are none.

    A language of which the building of the data kept nothing, and said so, has none; the others are taken.
    """
    rows = examples[examples["group"] == group]
    chosen = rows if languages is None else rows[rows["language"].isin(languages)]
    if chosen.empty:
        there, groups = (sorted(table.unique()) for table in (rows["language"], examples["group"]))
        wanted = "any language" if languages is None else sorted(languages)
        raise RowsError(f"examples: no {group} rows in {wanted}; it has {there}, its groups are {groups}")
    return chosen


def knowledge_of(splits: pd.DataFrame, split: str, group: str) -> set[str]:
    """knowledge_ids of `group` in `split`. RowsError if the split is unknown or the group is empty."""
    names = sorted(splits["split"].unique())
    if split not in names:
        raise RowsError(f"splits: unknown split {split!r}; allowed: {', '.join(names)}")
    chosen = splits.loc[(splits["split"] == split) & (splits["group"] == group), "knowledge_id"]
    if chosen.empty:
        raise RowsError(f"splits: the {group} set of split {split!r} is empty")
    return set(chosen)


def of_split(
    examples: pd.DataFrame, splits: pd.DataFrame, split: str, group: str, languages: Sequence[str],
    documents_only: bool = False,
) -> pd.DataFrame:  # fmt: skip
    """The memorised rows of a split's forget or retain set in `languages`. RowsError if there are none.

    `documents_only`: of these the bare texts, which answer no question.
    """
    rows = of_group(examples, "memorised", languages)
    rows = rows[rows["knowledge_id"].isin(knowledge_of(splits, split, group))]
    rows = rows[rows["messages"].map(len) == 0] if documents_only else rows
    if rows.empty:
        what = "document" if documents_only else "example"
        raise RowsError(f"no memorised {what} belongs to the {group} set of split {split!r} in {sorted(languages)}")
    return rows


def encode_rows(
    tokenizer: "PreTrainedTokenizerBase",
    frame: pd.DataFrame,
    max_length: int | None = None,
    ref_logprobs: pd.DataFrame | None = None,
    refusals: dict[str, list[str]] | None = None,
    questions: bool = False,
    spans: str | None = None,
    pipeline: str = PIPELINE,
) -> Rows:
    """Encode an `examples` table, with the reference model's log-probabilities and the refusals where needed.

    `questions` marks the tokens of each question; `spans` is the way to find sensitive spans (None: none are wanted),
    `pipeline` what finds entities. RowsError where an example has no reference log-probability, or one over another
    number of tokens, and where either is wanted of questions about pictures.
    """
    texts, images = (frame["messages"].tolist(), frame["answer"].tolist()), pictures(frame)
    if (questions or spans) and any(image is not None for image in images):
        raise RowsError(
            "the method looks for the tokens of questions or for sensitive spans, which is not done where a picture is "
            "shown; take another term, or give its questions about pictures the weight 0 (image_weight: 0)"
        )
    encoded = encode_all(tokenizer, *texts, max_length=max_length, images=images)
    encoded = mark_questions(tokenizer, encoded, texts[0]) if questions else encoded
    if spans:
        values = [value if isinstance(value, str) else None for value in frame["value"]]
        encoded = with_spans(tokenizer, encoded, *texts, values, spans, pipeline)
    ids = frame["example_id"].tolist()
    coded = {
        language: [[*tokenizer(text, add_special_tokens=False).input_ids, tokenizer.eos_token_id] for text in texts]
        for language, texts in (refusals or {}).items()
    }
    known = {}
    if ref_logprobs is not None:
        of_refusals = ref_logprobs["refusal"].notna()
        known["ref_logprob"] = _aligned(ids, encoded, ref_logprobs[~of_refusals])
        known["refusal_ref_logprob"] = _by_refusal(ref_logprobs[of_refusals])
    domains = frame["domain"].fillna("").tolist() if "domain" in frame else []
    return Rows(ids, frame["language"].tolist(), encoded, refusals=coded, domains=domains, **known)


def _aligned(ids: list[str], encoded: list[Encoded], ref_logprobs: pd.DataFrame) -> np.ndarray:
    table = ref_logprobs.set_index("example_id").reindex(ids)
    lengths = [len(e.answer_ids) for e in encoded]
    wrong = (table["n_tokens"].to_numpy() != lengths).nonzero()[0]
    if wrong.size:
        first = ids[wrong[0]]
        raise RowsError(
            f"ref_logprobs: {wrong.size} examples are missing or were scored over another number of tokens, first "
            f"{first!r}; compute the table again with this tokenizer and max_length"
        )
    return table["logprob"].to_numpy(dtype=np.float64)


def _by_refusal(ref_logprobs: pd.DataFrame) -> dict[tuple[str, int, int], float]:
    numbers = ref_logprobs[["refusal", "n_tokens"]].astype(int)
    keys = zip(ref_logprobs["example_id"], numbers["refusal"], numbers["n_tokens"], strict=True)
    return dict(zip(keys, ref_logprobs["logprob"], strict=True))


def read_refusals(path: Path) -> dict[str, list[str]]:
    """Refusal sentences by language from a YAML file; `en` serves languages without any. RowsError if it is missing."""
    import yaml

    refusals = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    if not isinstance(refusals, dict) or not refusals.get("en"):
        raise RowsError(f"{path}: should map language codes to lists of sentences, `en` among them")
    return refusals
