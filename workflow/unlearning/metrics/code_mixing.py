"""Code mixing: answers that give the right value in another language than the question's.

Share of answers that hold the value's form in another language of the setting, and not its form in their own; looked
up in the table of values, no judge. A form that is also some value's form in the question's language says nothing and
never counts. 0–1, low is good. Source: μ²-Bench, "Existence of Code-mixed Output".
"""

from collections import defaultdict

import numpy as np
import pandas as pd

from unlearning.score.rows import mean_rows
from unlearning.score.view import View
from unlearning.text.words import contains, normalise

NEEDS = ("answers", "values")
ITEMS = ("languages", "value")
ROWS = (("code_mixing", ("forget", "retain"), "selections", ("all",)),)
GROUPS = ("forget", "retain")


def score(view: View) -> list[dict]:
    """One row a group and selection of languages; items whose value is not in the table are left out and counted."""
    answers, values, what = view.run.answers, np.zeros(0), "answer with a value of the table"
    if len(view.codes) < 2:
        answers, what = None, "second language to mix in"
    elif view.values is None:
        answers, what = None, "table of values to look up in"
    if answers is not None:
        forms = foreign_forms(view.items, view.values, view.codes)
        languages = view.items["language"].to_list()
        cells = zip(answers["text"].to_list(), view.positions(answers), strict=True)
        values = np.array([_mixed(text, forms[place], languages[place]) for text, place in cells])
    return mean_rows(view, "code_mixing", view.per_item(answers, values), what, GROUPS)


def foreign_forms(items: pd.DataFrame, values: pd.DataFrame, codes: tuple[str, ...]) -> list[tuple | None]:
    """For each item (own form, ((form, language), …) of the same value elsewhere), normalised; None where its value
    is not in `values`. The attribute is the part of `knowledge_id` after the last slash."""
    by_form = _by_form(values[values["language"].isin(codes)])
    cells = zip(*(items[c].to_list() for c in ("knowledge_id", "language", "value")), strict=True)
    return [
        by_form.get((knowledge.rsplit("/", 1)[-1], language, normalise(value))) if isinstance(value, str) else None
        for knowledge, language, value in cells
    ]


def _by_form(values: pd.DataFrame) -> dict[tuple[str, str, str], tuple]:
    """(attribute, language, form) -> (form, ((form, language), …) of the same value in other languages)."""
    keys = list(zip(*(values[c].to_list() for c in ("attribute", "english_value", "language")), strict=True))
    forms = [normalise(value) for value in values["value"].to_list()]
    same, alike = defaultdict(list), defaultdict(set)
    for (attribute, english, language), form in zip(keys, forms, strict=True):
        same[attribute, english].append((form, language))
        alike[attribute, language].add(form)
    return {
        (attribute, language, own): (
            own,
            tuple(pair for pair in same[attribute, english] if pair[0] not in alike[attribute, language]),
        )
        for (attribute, english, language), own in zip(keys, forms, strict=True)
    }


def _mixed(text: str, forms: tuple | None, language: str) -> float:
    if forms is None:
        return np.nan
    own, foreign = forms
    text = normalise(text)
    if contains(text, own, language):
        return 0.0
    return float(any(contains(text, form, code) for form, code in foreign))
