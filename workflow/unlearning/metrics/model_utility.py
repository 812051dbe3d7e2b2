"""TOFU's model utility: the harmonic mean of nine numbers that should stay high.

probability, rouge_l_recall and truth_ratio (mean max(0, 1 − r), never the forget set's min(r, 1/r)), each on retain,
real_authors and world_facts, over all languages. 0–1, high is good; 0 if any part is 0, null if any is null. The parts
stand beside it as tasks `<group>:<part>`. Source: TOFU (Maini et al. 2024), section 2.2.
"""

import numpy as np

from unlearning.metrics import probability, rouge_l, truth_ratio
from unlearning.score.bootstrap import interval, mean_draws
from unlearning.score.rows import bootstrap_seed, row
from unlearning.score.view import View

NEEDS = ("answers", "likelihoods")
ITEMS = ("perturbed", "real_authors", "world_facts")
ROWS = (
    (
        "model_utility",
        ("all",),
        "all",
        (
            "all",
            "retain:probability", "retain:rouge_l_recall", "retain:truth_ratio",
            "real_authors:probability", "real_authors:rouge_l_recall", "real_authors:truth_ratio",
            "world_facts:probability", "world_facts:rouge_l_recall", "world_facts:truth_ratio",
        ),
    ),
)  # fmt: skip
GROUPS = ("retain", "real_authors", "world_facts")


def score(view: View) -> list[dict]:
    """Ten rows: the utility and its nine parts; its n = the instances of all three groups."""
    parts = {
        "probability": probability.item_scores(view),
        "rouge_l_recall": rouge_l.item_scores(view)[0],
        "truth_ratio": truth_ratio.truth_ratio(truth_ratio.log_ratios(view, view.run)),
    }
    rows, values, draws, sizes = [], [], [], []
    for group in GROUPS:
        spread = [view.instances(view.spread(value, group), ["all"]) for value in parts.values()]
        values_N3 = np.hstack(spread)
        draws_B3 = mean_draws(values_N3, bootstrap_seed(view, group), view.draws)
        sizes.append(len(values_N3))
        for k, part in enumerate(parts):
            known = values_N3[~np.isnan(values_N3[:, k]), k]
            values.append(float(known.mean()) if len(known) else np.nan)
            draws.append(draws_B3[:, k])
            note = None if len(known) else f"no {part} of {group} questions"
            bounds = interval(draws_B3[:, k], len(known))
            rows.append(row("model_utility", "all", "all", values[-1], len(known), bounds, note, f"{group}:{part}"))
    missing = [r["task"] for r in rows if r["note"]]
    bounds = interval(harmonic_mean(np.stack(draws, axis=1)), min(sizes))
    note = f"no {', '.join(missing)}" if missing else None
    return [row("model_utility", "all", "all", float(harmonic_mean(np.array(values))), sum(sizes), bounds, note), *rows]


def harmonic_mean(values_9: np.ndarray) -> np.ndarray:
    """Harmonic mean over the last axis of values ≥ 0; 0 if any is 0, NaN if any is NaN."""
    with np.errstate(divide="ignore"):
        return values_9.shape[-1] / np.sum(1 / values_9, axis=-1)
