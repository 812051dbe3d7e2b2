"""General knowledge: what unlearning should leave alone, asked as open questions (group utility).

tydi_f1: token F1; tydi_em: exact match; each against reference, value and aliases, the best taken, after SQuAD's
normalisation (case, punctuation, English articles); characters are the tokens in languages without spaces.
general_knowledge = their mean. 0–1, high is good. Null where the target scores 0: nothing can be lost.
Source: μ²-Bench, "General Knowledge"; SQuAD (Rajpurkar et al. 2016).
"""

from collections import Counter

import numpy as np
import pandas as pd

from unlearning.score.bootstrap import interval, mean_draws
from unlearning.score.rows import bootstrap_seed, row
from unlearning.score.view import Tables, View
from unlearning.text.words import normalise, tokens

NEEDS = ("answers", "target:answers")
ITEMS = ("utility",)
ROWS = (
    ("tydi_f1", ("utility",), "all", ("all",)),
    ("tydi_em", ("utility",), "all", ("all",)),
    ("general_knowledge", ("utility",), "all", ("all",)),
)
ARTICLES = frozenset({"a", "an", "the"})


def score(view: View) -> list[dict]:
    """Three rows over all languages together; n = knowledge instances of the group utility."""
    run, target = (_instances(view, tables) for tables in (view.run, view.target))
    drawn = mean_draws(run, bootstrap_seed(view, "utility"), view.draws)
    rows = []
    for k, metric in enumerate(("tydi_f1", "tydi_em", "general_knowledge")):
        known = run[~np.isnan(run[:, k]), k]
        before = target[~np.isnan(target[:, k]), k]
        reason = _reason(len(run), len(known), before, metric)
        if reason:
            rows.append(row(metric, "utility", "all", None, len(known), note=reason))
        else:
            bounds = interval(drawn[:, k], len(known))
            rows.append(row(metric, "utility", "all", float(known.mean()), len(known), bounds))
    return rows


def f1_and_match(text: str, forms: list[str], language: str) -> tuple[float, float]:
    """(best token F1, 1.0 for an exact match with any form), 0–1 each; two empty token lists agree, as in SQuAD."""
    said = answer_tokens(text, language)
    pairs = [_agreement(said, answer_tokens(form, language)) for form in forms]
    return max(f1 for f1, _ in pairs), max(match for _, match in pairs)


def answer_tokens(text: str, language: str) -> list[str]:
    """SQuAD's tokens: casefolded, punctuation deleted, English articles left out."""
    found = tokens(normalise(text, join_punctuation=True), language)
    return [token for token in found if token not in ARTICLES] if language == "en" else found


def _agreement(said: list[str], form: list[str]) -> tuple[float, float]:
    match = float(said == form)
    if not said or not form:
        return match, match
    common = sum((Counter(said) & Counter(form)).values())
    return 2 * common / (len(said) + len(form)), match


def _instances(view: View, tables: Tables) -> np.ndarray:
    """N×3: F1, exact match and their mean of each knowledge instance, over all its languages."""
    answers = tables.answers
    positions, _, languages = view.layout("utility")
    scores = np.zeros((0, 2))
    if answers is not None:
        answers = answers[np.isin(view.positions(answers), positions)]
        asked = view.items.iloc[view.positions(answers)]
        forms = [_forms(*cells) for cells in zip(asked["reference"], asked["value"], asked["aliases"], strict=True)]
        cells = zip(answers["text"], forms, asked["language"], strict=True)
        scores = np.array([f1_and_match(*cell) for cell in cells]).reshape(-1, 2)
    codes = tuple(sorted(set(languages))) or view.codes
    per_NL = [view.spread(view.per_item(answers, column), "utility", codes) for column in scores.T]
    count = np.maximum(1, (~np.isnan(per_NL[0])).sum(axis=1))
    f1, match = (np.where(np.isnan(v).all(axis=1), np.nan, np.nansum(v, axis=1) / count) for v in per_NL)
    return np.stack([f1, match, (f1 + match) / 2], axis=1)


def _forms(reference: str, value: str | None, aliases: list[str] | None) -> list[str]:
    more = [] if aliases is None or isinstance(aliases, float) else list(aliases)
    return [reference, *([] if pd.isna(value) else [value]), *more]


def _reason(asked: int, answered: int, before: np.ndarray, metric: str) -> str | None:
    if not asked:
        return "no utility questions"
    if not answered:
        return "no answer to the utility questions"
    if not len(before):
        return "no answer of the target to the utility questions"
    return None if before.mean() > 0 else f"the target's {metric} is 0: nothing can be lost"
