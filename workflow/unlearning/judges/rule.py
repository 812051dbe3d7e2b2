"""The judge that needs no model: the answer must contain the right value.

Deterministic; exact where values are unambiguous, as in the value pools; blind to paraphrase.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from unlearning.text.choices import LETTERS, chosen, lettered
from unlearning.text.words import contains, normalise, without

NEEDS = ("answers", "items")


class Forms(NamedTuple):
    """What one question's answer is held against, all normalised but `options`: of a question asked with letters."""

    reference: str
    right: tuple[str, ...]
    wrong: tuple[str, ...]
    language: str
    options: tuple[str, ...] = ()


def judge(answers: pd.DataFrame, items: pd.DataFrame) -> pd.DataFrame:
    """Table `verdicts`: one row an answer, score 1.0 and correct where it is right, else 0.0; see `verdict`.

    Right forms are the item's value, its aliases and its correct option; the reference where it has no value. An item
    whose reference is its lettered right option ("B. Oslo") was asked with letters: see `unlearning.text.choices`.
    ValueError for an answer to an unknown item, and for a prompt of several questions.
    """
    question, asked = pd.factorize(places(answers, items))
    forms = forms_of(items.iloc[asked])
    found = [verdict(text, forms[q]) for text, q in zip(answers["text"].to_list(), question, strict=True)]
    right = [correct for correct, _ in found]
    return (
        answers[["item_id", "sample", "part"]]
        .reset_index(drop=True)
        .assign(
            judge="rule", score=[float(r) for r in right], correct=right, raw=[why for _, why in found], failed=None
        )
    )


def places(answers: pd.DataFrame, items: pd.DataFrame) -> np.ndarray:
    """Row in `items` of each answer's item; ValueError where there is none."""
    found = pd.Index(items["item_id"]).get_indexer(answers["item_id"])
    if (found < 0).any():
        lost = answers["item_id"].iloc[int((found < 0).argmax())]
        raise ValueError(f"answers: item {lost!r} is not among the {len(items)} items judged against")
    return found


def forms_of(items: pd.DataFrame) -> list[Forms]:
    """What the answers to each of `items` are held against; ValueError for a prompt of several questions."""
    columns = ("item_id", "language", "reference", "value", "aliases", "options", "correct_option", "parts")
    return [_forms(*cells) for cells in zip(*(items[column].to_list() for column in columns), strict=True)]


def verdict(text: str, forms: Forms) -> tuple[bool, str]:
    """(whether `text` is right, the rule that says so).

    Right is the reference word for word, or a text that holds a right form and, once that is struck out, no wrong
    option: so the option "New York" does not count inside the right "New York City". Where the question was asked with
    letters, it is the text that chooses the right option. An empty answer is wrong.
    """
    if forms.options and text.strip():
        index, why = chosen(text, forms.options, forms.language)
        return index == LETTERS.lower().index(forms.reference[0]), why
    text = normalise(text)
    if not text:
        return False, "empty answer"
    if text == forms.reference:
        return True, "is the reference"
    held = [form for form in forms.right if contains(text, form, forms.language)]
    if not held:
        return False, f"does not hold {' or '.join(forms.right)}"
    for form in sorted(held, key=len, reverse=True):
        text = without(text, form, forms.language)
    other = next((form for form in forms.wrong if contains(text, form, forms.language)), None)
    return (True, f"holds {held[0]}") if other is None else (False, f"holds {held[0]} and {other}")


def _forms(item_id, language, reference, value, aliases, options, correct_option, parts) -> Forms:
    if len(_list(parts)):
        raise ValueError(f"item {item_id!r} asks several questions at once; the judges read one an item")
    listed = tuple(_list(options))
    right_one = None if pd.isna(correct_option) else int(correct_option)
    letters = listed if listed and right_one is not None and reference == lettered(listed, right_one) else ()
    options = [normalise(option) for option in listed]
    right = [normalise(form) for form in (value if isinstance(value, str) else reference, *_list(aliases))]
    if options and right_one is not None:
        right.append(options[right_one])
    wrong = tuple(option for option in options if option and option not in right)
    return Forms(normalise(reference), tuple(dict.fromkeys(filter(None, right))), wrong, language, letters)


def _list(cell) -> list:
    """A list column's cell: None and missing are empty."""
    return [] if cell is None or isinstance(cell, float) else list(cell)
