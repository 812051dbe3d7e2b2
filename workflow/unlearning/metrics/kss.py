"""Knowledge Separability Score: does forgetting tell the forget set from everything else?

S_i = mean over languages of (1 − s(k_{i,l})), s = p_{i,l} (prob) or the judge's 0/1 (gen); label 1 = forget, 0 =
retain. kss_prob_roc, kss_gen_roc: AUROC (ties half); kss_prob_pr, kss_gen_pr: average precision; 0–1, high is good.
Against the retrained model f_R, per cent: `_ratio` = 100·KSS(f)/KSS(f_R), our primary reading of a formula the paper's
source lost, and `_chance` = 100·(KSS(f) − c)/(KSS(f_R) − c), c = 0.5 (ROC) or the share of targets (PR); null where
the retrained model is not above chance. Source: Hwang et al. 2026; μ²-Bench.
"""

import numpy as np

from unlearning.score.bootstrap import auroc, average_precision, interval, stratified_draws
from unlearning.score.items import correct, probability
from unlearning.score.languages import names
from unlearning.score.rows import bootstrap_seed, row
from unlearning.score.view import View

NEEDS = ("likelihoods", "verdicts", "retrain:likelihoods", "retrain:verdicts")
ROWS = (
    ("kss_prob_roc", ("forget",), "roles", ("all",)),
    ("kss_prob_roc_ratio", ("forget",), "roles", ("all",)),
    ("kss_prob_roc_chance", ("forget",), "roles", ("all",)),
    ("kss_prob_pr", ("forget",), "roles", ("all",)),
    ("kss_prob_pr_ratio", ("forget",), "roles", ("all",)),
    ("kss_prob_pr_chance", ("forget",), "roles", ("all",)),
    ("kss_gen_roc", ("forget",), "roles", ("all",)),
    ("kss_gen_roc_ratio", ("forget",), "roles", ("all",)),
    ("kss_gen_roc_chance", ("forget",), "roles", ("all",)),
    ("kss_gen_pr", ("forget",), "roles", ("all",)),
    ("kss_gen_pr_ratio", ("forget",), "roles", ("all",)),
    ("kss_gen_pr_chance", ("forget",), "roles", ("all",)),
)
SOURCES = {"prob": probability, "gen": correct}
CURVES = {"roc": auroc, "pr": average_precision}


def score(view: View) -> list[dict]:
    """Twelve rows per role of languages; n = forget and retain instances together."""
    models = [tables for tables in (view.run, view.retrain) if tables is not None]
    rows = []
    for source, measure in SOURCES.items():
        values = [measure(view, tables) for tables in models]
        targets, others = ([forgetting_scores(view, v, group) for v in values] for group in ("forget", "retain"))
        for s, name in enumerate(names("roles", view.languages)):
            rows += _rows(view, source, name, [t[:, s] for t in targets], [o[:, s] for o in others])
    return rows


def forgetting_scores(view: View, values_I: np.ndarray, group: str) -> np.ndarray:
    """N×S (roles): S_i = mean over the role's languages of (1 − s), 0–1."""
    return 1 - view.instances(view.spread(values_I, group), names("roles", view.languages))


def ratio(run: np.ndarray, retrained: np.ndarray) -> np.ndarray:
    """100·KSS(f)/KSS(f_R), per cent; NaN where KSS(f_R) = 0."""
    return 100 * run / np.where(retrained > 0, retrained, np.nan)


def above_chance(run: np.ndarray, retrained: np.ndarray, chance: float) -> np.ndarray:
    """100·(KSS(f) − c)/(KSS(f_R) − c), per cent; NaN where KSS(f_R) ≤ c."""
    room = retrained - chance
    return 100 * (run - chance) / np.where(room > 1e-12, room, np.nan)


def _rows(view: View, source: str, name: str, targets: list[np.ndarray], others: list[np.ndarray]) -> list[dict]:
    if any(np.isnan(column).all() for column in (*targets[1:], *others[1:])):
        targets, others = targets[:1], others[:1]
    target_PK, other_MK = (_complete(np.stack(columns, axis=1)) for columns in (targets, others))
    n = len(target_PK) + len(other_MK)
    if not len(target_PK) or not len(other_MK):
        note = f"no {'retain' if len(target_PK) else 'forget'} questions with {source} values"
        keys = [f"kss_{source}_{curve}{end}" for curve in CURVES for end in ("", "_ratio", "_chance")]
        return [row(key, "forget", name, None, n, note=note) for key in keys]
    seed = bootstrap_seed(view, "kss")
    drawn = stratified_draws(tuple(CURVES.values()), target_PK, other_MK, seed, view.draws)
    rows = []
    for (curve, statistic), draws_BK in zip(CURVES.items(), drawn, strict=True):
        chance = 0.5 if curve == "roc" else len(target_PK) / n
        point_K = np.array([statistic(t, o)[0] for t, o in zip(target_PK.T, other_MK.T, strict=True)])
        few = min(len(target_PK), len(other_MK))
        rows += _curve_rows(f"kss_{source}_{curve}", name, point_K, draws_BK, chance, n, few)
    return rows


def _complete(scores_NK: np.ndarray) -> np.ndarray:
    return scores_NK[~np.isnan(scores_NK).any(axis=1)]


def _curve_rows(
    metric: str, name: str, point_K: np.ndarray, draws_BK: np.ndarray, chance: float, n: int, few: int
) -> list[dict]:
    rows = [row(metric, "forget", name, float(point_K[0]), n, interval(draws_BK[:, 0], few))]
    for end, formula in (("ratio", ratio), ("chance", lambda run, ref: above_chance(run, ref, chance))):
        if len(point_K) == 1:
            rows.append(row(f"{metric}_{end}", "forget", name, None, n, note="no values of a retrained model"))
            continue
        value = float(formula(*point_K))
        note = f"the retrained model's {metric} is {point_K[1]:.3f}, chance {chance:.3f}: nothing to compare with"
        bounds = interval(formula(draws_BK[:, 0], draws_BK[:, 1]), few)
        rows.append(row(f"{metric}_{end}", "forget", name, value, n, bounds, note if np.isnan(value) else None))
    return rows
