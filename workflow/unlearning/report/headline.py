"""What was found, in a sentence or two per panel, from the numbers and no more strongly than their intervals allow."""

from collections.abc import Callable
from typing import NamedTuple

import pandas as pd

from unlearning.criteria.mu2_retain_ps import KEEPS
from unlearning.report.kinds import REFERENCES
from unlearning.report.write import NAMES, number

LEARNT = 0.5  # the share of blanks below which a target counts as taught nothing


class Number(NamedTuple):
    """A value with its interval; NaN where there is none."""

    value: float
    low: float
    high: float


def _pick(
    rows: pd.DataFrame, method: str, metric: str, group: str | None, language: str, task: str = "all"
) -> Number | None:
    found = rows[
        (rows["method"] == method) & (rows["attack"] == "none") & (rows["metric"] == metric)
        & (rows["language"] == language) & (rows["task"] == task) & rows["value"].notna()
    ]  # fmt: skip
    found = found if group is None else found[found["group"] == group]
    return None if found.empty else Number(*found.iloc[0][["value", "low", "high"]])


def _text(number_: Number | None, metric: str) -> str:
    if number_ is None:
        return "no value"
    bounds = "" if pd.isna(number_.low) else f" [{number(number_.low, metric)}, {number(number_.high, metric)}]"
    return number(number_.value, metric) + bounds


def compare(a: Number | None, b: Number | None) -> str:
    """above, below or level: how `a` lies to `b` by their intervals; unknown where one is missing."""
    if a is None or b is None or any(pd.isna(x) for x in (*a, *b)):
        return "unknown"
    if a.low > b.high:
        return "above"
    return "below" if a.high < b.low else "level"


AGAINST_RETRAINED = {
    "above": "more than the retrained model",
    "below": "less than the retrained model",
    "level": "not distinguishable from the retrained model, as their intervals overlap",
    "unknown": "not comparable with the retrained model here",
}


def _usable(rows: pd.DataFrame, metric: str, group: str | None, language: str) -> tuple[list[str], list[str], int]:
    """(methods, those of them that keep KEEPS of the target's score and did not collapse, collapsed)."""
    methods = sorted(set(rows.loc[rows["attack"] == "none", "method"]) - set(REFERENCES))
    target = _pick(rows, "target", metric, group, language)
    collapsed = set(rows.loc[rows["collapsed"], "method"])
    kept = []
    for method in methods:
        own = _pick(rows, method, metric, group, language)
        if target is not None and own is not None and method not in collapsed and own.value >= KEEPS * target.value:
            kept.append(method)
    return methods, kept, len(collapsed & set(methods))


def _count(methods: list[str], kept: list[str], collapsed: int, what: str) -> str:
    noun = "unlearned method keeps" if len(methods) == 1 else "unlearned methods keep"
    if len(methods) > 1 and len(kept) == 1:
        noun = "unlearned methods keeps"
    text = f"{len(kept) or 'None'} of {len(methods)} {noun} at least {KEEPS * 100:.0f} % of the target's {what}"
    return text + (f" ({collapsed} collapsed)" if collapsed else "")


def _best(
    rows: pd.DataFrame, keeping: tuple, what: str, by: tuple, choose: Callable[[list], tuple]
) -> tuple[str, str | None]:
    """(how many methods keep enough of `what`, in words; which of these has the lowest or highest number, by `choose`).

    `keeping`, `by`: metric, group, language and, where it is not all, task. None where no method that keeps enough has
    such a number.
    """
    methods, kept, collapsed = _usable(rows, *keeping)
    scored = [(n.value, m) for m in kept if (n := _pick(rows, m, *by)) is not None]
    return _count(methods, kept, collapsed, what), choose(scored)[1] if scored else None


def _compared(rows: pd.DataFrame, method: str, language: str) -> str:
    own, target, retrained = (_pick(rows, m, "se", "forget", language) for m in (method, "target", "retrain"))
    text = f"{_text(own, 'se')} (target {_text(target, 'se')}, retrained {_text(retrained, 'se')})"
    if compare(target, retrained) == "level":
        return text + ", where the target itself is not distinguishable from the retrained model"
    return f"{text}, {AGAINST_RETRAINED[compare(own, retrained)]}"


def _mu2(rows: pd.DataFrame) -> str:
    text, best = _best(
        rows,
        ("ps", "retain", "train"),
        "retain probability (PS) on the training languages",
        ("se", "forget", "train"),
        min,
    )
    if best is None:
        return text + "."
    return (
        f"{text}. Of these, {best} answers the fewest forget questions; its SE there is "
        f"{_compared(rows, best, 'train')}; on the hold-out languages {_compared(rows, best, 'holdout')}."
    )


def _tofu(rows: pd.DataFrame) -> str:
    text, best = _best(rows, ("model_utility", None, "all"), "model utility", ("forget_quality", None, "all"), max)
    if best is None:
        return text + "."
    value = _pick(rows, best, "forget_quality", None, "all").value
    reading = (
        "at the 5 % level the test does not tell it from the retrained model (which is no proof that they are equal)"
        if value >= 0.05
        else "the test tells it from the retrained model at the 5 % level"
    )
    utility, target = (_pick(rows, m, "model_utility", None, "all") for m in (best, "target"))
    return (
        f"{text}. Of these, {best} has the highest forget quality, p = {number(value, 'forget_quality')}: {reading}. "
        f"Its model utility is {_text(utility, 'model_utility')} (target {_text(target, 'model_utility')})."
    )


def _leak(rows: pd.DataFrame) -> str:
    text, best = _best(
        rows, ("accuracy", "retain", "all"), "accuracy on retain questions", ("fq", "forget", "all"), max
    )
    if best is None:
        return text + "."
    quality, robust = (_text(_pick(rows, best, metric, "forget", "all"), metric) for metric in ("fq", "robustness"))
    return f"{text}. Of these, {best} has the highest forget quality, {quality}; its robustness is {robust}."


def _lume(rows: pd.DataFrame) -> str:
    text, best = _best(
        rows, ("knowledge", "retain", "all"), "knowledge on retain questions", ("knowledge", "forget", "all"), min
    )
    if best is None:
        return text + "."
    own, target, retrained = (_pick(rows, m, "knowledge", "forget", "all") for m in (best, "target", "retrain"))
    parts = {m: _text(_pick(rows, best, m, g, "all"), m) for m, g in (("mia_auc", "forget"), ("task_aggregate", "all"))}
    return (
        f"{text}. Of these, {best} answers the fewest forget questions: its knowledge there is "
        f"{_text(own, 'knowledge')} (target {_text(target, 'knowledge')}, retrained {_text(retrained, 'knowledge')}), "
        f"{AGAINST_RETRAINED[compare(own, retrained)]}; membership attack {parts['mia_auc']}, aggregate "
        f"{parts['task_aggregate']}."
    )


def _seps(rows: pd.DataFrame) -> str:
    text, best = _best(rows, ("mu", "all", "all"), "model utility (MU)", ("h_avg", "all", "all"), max)
    if best is not None:
        overall = _text(_pick(rows, best, "h_avg", "all", "all"), "h_avg")
        text = f"{text}. Of these, {best} has the highest H-Avg, {overall}"
    methods = sorted(set(rows.loc[rows["attack"] == "none", "method"]) - set(REFERENCES))
    separated = [(n.value, m) for m in methods if (n := _pick(rows, m, "seps", "all", "all")) is not None]
    if not separated:
        return text + "."
    most = max(separated)[1]
    value = {m: _text(_pick(rows, most, m, "all", "all"), m) for m in ("seps", "fe", "mu")}
    return (
        f"{text}. Of all, {most} best tells forget from retain questions in one prompt: SEPS {value['seps']} "
        f"(FE {value['fe']}, MU {value['mu']})."
    )


def _umu(rows: pd.DataFrame) -> str:
    by = ("acc_f", "forget", "all", "cloze")
    text, best = _best(rows, ("utility_average", "all", "all"), "average utility", by, min)
    if best is None:
        return text + "."
    own, target, retrained = (_pick(rows, m, *by) for m in (best, "target", "retrain"))
    if target is not None and target.value < LEARNT:
        return (
            f"The target fills few of the blanks on forget: Acc F {_text(target, 'acc_f')}. It has not learnt what is "
            "to be forgotten, so that nothing can be said of forgetting it."
        )
    one_sided = [_pick(rows, best, f"forgotten_{side}_only", *by[1:]) for side in ("text", "image")]
    in_text, about_picture = (_text(share, "forgotten_text_only") for share in one_sided)
    return (
        f"{text}. Of these, {best} fills the fewest blanks on forget: Acc F {_text(own, 'acc_f')} (target "
        f"{_text(target, 'acc_f')}, retrained {_text(retrained, 'acc_f')}), "
        f"{AGAINST_RETRAINED[compare(own, retrained)]}. Of what the target filled in both modalities, it forgot "
        f"{in_text} in text only, {about_picture} about the picture only."
    )


FINDINGS = {"leak": _leak, "lume": _lume, "mu2": _mu2, "seps": _seps, "tofu": _tofu, "files": _tofu, "umu": _umu}


def headline(panel: dict[str, str], rows: pd.DataFrame) -> str:
    """One or two sentences on a panel; `rows` are its averaged scores."""
    finding = FINDINGS.get(panel["benchmark"])
    if finding and (rows["method"] == "target").any():
        return finding(rows)
    methods = [NAMES.get(m, m) for m in sorted(set(rows["method"]))]
    missing = " No target model was scored here, so nothing is compared." if finding else ""
    return f"{len(methods)} models were scored ({', '.join(methods)}).{missing}"
