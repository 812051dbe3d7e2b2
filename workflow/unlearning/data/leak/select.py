"""The same number of questions of each type."""

import pandas as pd

from unlearning.data.leak.matches import TYPES
from unlearning.seeds import seed_for

ON_SHORT = ("error", "smallest", "report")


class ShortError(ValueError):
    """A type has too few questions; the message names the types and the step at which each lost its rows."""


def balanced(
    questions: pd.DataFrame, funnel: pd.DataFrame, per_type: int, seed: int, on_short: str = "error"
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """`per_type` questions of each type, and the funnel with the step kept.

    The order of choice is a hash of seed and match, so that more questions leave the choice among the others as it was.
    `on_short`, where a type has fewer: error; smallest (every type gets as many as the smallest has); report (that type
    gives what it has). ShortError; ValueError: an unknown word, or per_type under 1.
    """
    if on_short not in ON_SHORT or per_type < 1:
        raise ValueError(f"on_short {on_short!r}, per_type {per_type}: should be {', '.join(ON_SHORT)}, and 1 or more")
    found = {name: int((questions["type"] == name).sum()) for name in _types(funnel)}
    short = {name: n for name, n in found.items() if n < per_type}
    if short and on_short == "error":
        raise ShortError("; ".join(_lost(name, per_type, funnel) for name in short) + "; give a smaller per_type, more "
                         "facts, or on_short: smallest or report")  # fmt: skip
    wanted = min(per_type, *found.values()) if on_short == "smallest" else per_type
    rank = [seed_for(seed, "leak select", ident) for ident in questions["match_id"]]
    order = questions.assign(rank=rank).sort_values("rank")
    chosen = order.groupby("type", sort=False).head(wanted).index
    kept = questions[questions.index.isin(chosen)].reset_index(drop=True)
    counts = pd.DataFrame([(name, "kept", min(n, wanted)) for name, n in found.items()], columns=["type", "step", "n"])
    return kept, pd.concat([funnel[funnel["step"] != "kept"], counts], ignore_index=True)


def _types(funnel: pd.DataFrame) -> list[str]:
    return [name for name in TYPES if name in set(funnel["type"])]


def _lost(name: str, per_type: int, funnel: pd.DataFrame) -> str:
    """Which step left `name` with fewer than `per_type`."""
    steps = funnel[(funnel["type"] == name) & (funnel["step"] != "kept")]
    counts = dict(zip(steps["step"], steps["n"], strict=True))
    step = next(step for step, n in counts.items() if n < per_type)
    told = ", ".join(f"{key} {n}" for key, n in counts.items())
    return f"{name}: {per_type} questions wanted; fewer are left at step {step} ({told})"


def draw(matches: pd.DataFrame, per_type: int, seed: int) -> pd.DataFrame:
    """At most `per_type` matches of each type, by the order of `balanced`: for a composer that costs something."""
    rank = pd.Series([seed_for(seed, "leak select", ident) for ident in matches["match_id"]], index=matches.index)
    chosen = matches.loc[rank.sort_values().index].groupby("type", sort=False).head(per_type).index
    return matches[matches.index.isin(chosen)].reset_index(drop=True)
