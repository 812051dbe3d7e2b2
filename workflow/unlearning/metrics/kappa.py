"""Agreement between the primary judge and each second one, over the answers that both judged.

`kappa`: Cohen's κ = (p_o − p_e)/(1 − p_e); p_o: share of answers with the same verdict, p_e: that share if each judge
gave its own shares of right and wrong at random. −1 to 1, 0 = no better than chance, 1 = always the same; null where
both judges call every answer the same, as 1 − p_e is 0. `kappa_agreement`: p_o, 0–1. `kappa_answers`: how many answers
both judged. `kappa_failed`: how many one of them gave no verdict on. Tasks: the second judge's name.
Source: Cohen 1960, A coefficient of agreement for nominal scales. All answers of a group and selection of languages
count alike; draws are over knowledge instances.
"""

import numpy as np
import pandas as pd

from unlearning.score.bootstrap import interval, resample
from unlearning.score.items import right, trials
from unlearning.score.rows import bootstrap_seed, row
from unlearning.score.view import View

NEEDS = ("verdicts",)
ITEMS = ("second_judges",)
ROWS = (
    ("kappa", "asked", "selections", "second_judges"),
    ("kappa_agreement", "asked", "selections", "second_judges"),
    ("kappa_answers", "asked", "selections", "second_judges"),
    ("kappa_failed", "asked", "selections", "second_judges"),
)
ANSWER = ["item_id", "sample", "part"]


def score(view: View) -> list[dict]:
    """Four rows a second judge, group and selection of languages; n = instances with an answer that both judged."""
    rows = []
    for judge in view.second_judges:
        answers = _both(view, judge)
        for group in view.groups:
            rows += _rows(view, answers, group, judge)
    return rows


def kappa(counts_BC: np.ndarray) -> np.ndarray:
    """B: κ from counts of answers, C = (both wrong, only the second right, only the first right, both right).

    NaN where there are none, or every verdict is the same.
    """
    wrong, second, first, both = np.moveaxis(np.asarray(counts_BC, float), -1, 0)
    total = wrong + second + first + both
    by_chance = (first + both) * (second + both) + (wrong + second) * (wrong + first)  # p_e · total²
    room = total**2 - by_chance
    return np.divide((wrong + both) * total - by_chance, room, out=np.full(room.shape, np.nan), where=room > 0)


def agreement(counts_BC: np.ndarray) -> np.ndarray:
    """B: p_o, the share of answers with the same verdict; counts as in `kappa`, NaN where there are none."""
    counts_BC = np.asarray(counts_BC, float)
    total = counts_BC.sum(-1)
    same = counts_BC[..., 0] + counts_BC[..., 3]
    return np.divide(same, total, out=np.full(total.shape, np.nan), where=total > 0)


def _both(view: View, judge: str) -> pd.DataFrame:
    """Every answer: its item's place, and `first`, `second`: 1.0 right, 0.0 wrong, NaN without a verdict."""
    tables = [trials(view, view.run, name) for name in (view.judge, judge)]
    if any(table is None for table in tables):
        return pd.DataFrame({"place": np.zeros(0, int), "first": np.zeros(0), "second": np.zeros(0)})
    first, second = (table[ANSWER].assign(verdict=right(table)) for table in tables)
    joined = first.merge(second, on=ANSWER, how="outer", suffixes=("_first", "_second"))
    return pd.DataFrame(
        {"place": view.positions(joined), "first": joined["verdict_first"], "second": joined["verdict_second"]}
    )


def _rows(view: View, answers: pd.DataFrame, group: str, judge: str) -> list[dict]:
    positions, instances, languages = view.layout(group)
    place = pd.Index(positions).get_indexer(answers["place"])
    answers, place = answers[place >= 0], place[place >= 0]
    first, second = answers["first"].to_numpy(float), answers["second"].to_numpy(float)
    instance, language = instances[place], languages[place]
    n_instances = int(instances.max()) + 1 if len(instances) else 0
    rows = []
    for name, codes in view.selections.items():
        chosen = np.isin(language, codes)
        judged = chosen & ~np.isnan(first) & ~np.isnan(second)
        cells = instance[judged] * 4 + (2 * first[judged] + second[judged]).astype(int)
        counts_NC = np.bincount(cells, minlength=4 * n_instances).reshape(n_instances, 4)
        verdicts = (first[judged], second[judged])
        failed = int(chosen.sum() - judged.sum())
        rows += _selection(view, group, name, judge, counts_NC, verdicts, failed)
    return rows


def _selection(
    view: View, group: str, name: str, judge: str, counts_NC: np.ndarray, verdicts: tuple, failed: int
) -> list[dict]:
    n, answers = int((counts_NC.sum(1) > 0).sum()), int(counts_NC.sum())
    why = f"no {group} answer judged by both {view.judge} and {judge}"
    some = f"{failed} of {failed + answers} answers not judged by both" if failed else None
    values = {"kappa": cohen(*verdicts), "kappa_agreement": float(agreement(counts_NC.sum(0)))}
    notes = dict.fromkeys(values, some if answers else why)
    if answers and np.isnan(values["kappa"]):
        notes["kappa"] = "; ".join(filter(None, ["every verdict of both judges is the same: κ is undefined", some]))
    draws = _draws(view, group, counts_NC)
    rows = [
        row(metric, group, name, value, n, interval(draws[metric], n), notes[metric], judge)
        for metric, value in values.items()
    ]
    there = answers + failed > 0
    return rows + [
        row(metric, group, name, float(count) if there else None, n, note=None if there else why, task=judge)
        for metric, count in {"kappa_answers": answers, "kappa_failed": failed}.items()
    ]


def cohen(first: np.ndarray, second: np.ndarray) -> float:
    """κ of two judges' verdicts (1.0 right, 0.0 wrong) by scikit-learn; NaN without any or where all are the same."""
    if not len(first) or len(np.unique(np.concatenate([first, second]))) < 2:
        return float("nan")
    from sklearn.metrics import cohen_kappa_score

    return float(cohen_kappa_score(first, second))


def _draws(view: View, group: str, counts_NC: np.ndarray) -> dict[str, np.ndarray]:
    """metric -> B: its value in each draw of instances."""
    if not counts_NC.any():
        return dict.fromkeys(("kappa", "kappa_agreement"), np.full(view.draws, np.nan))
    chunks = resample(len(counts_NC), bootstrap_seed(view, group), view.draws)
    drawn_BC = np.concatenate([weight_BN @ counts_NC for weight_BN in chunks])
    return {"kappa": kappa(drawn_BC), "kappa_agreement": agreement(drawn_BC)}
