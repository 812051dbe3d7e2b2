"""All mechanical checks, over the pairs of one language."""

import json

import pandas as pd

from unlearning.data.checks import (
    answer_contains_value,
    language_identified,
    name_kept,
    no_placeholder,
    question_hides_value,
    script,
    unique_back_translation,
    unique_translation,
)
from unlearning.data.context import Context
from unlearning.data.reasons import known

# imported by name, so that the code fingerprint of a script that checks reaches every check
CHECKS = {
    "answer_contains_value": answer_contains_value,
    "language_identified": language_identified,
    "name_kept": name_kept,
    "no_placeholder": no_placeholder,
    "question_hides_value": question_hides_value,
    "script": script,
    "unique_back_translation": unique_back_translation,
    "unique_translation": unique_translation,
}


def run_checks(pairs: pd.DataFrame, context: Context, round_: int = 0) -> tuple[pd.DataFrame, pd.DataFrame]:
    """(rows of `pairs` that pass every check, table `rejected` with one row per refused row and failed check).

    Nothing is dropped silently: each refused row is in `rejected` with every reason, the round and its content as JSON.
    """
    reasons = {name: check.failures(pairs, context) for name, check in CHECKS.items()}
    refused = [rejected(pairs[found.notna()], name, found.dropna(), round_) for name, found in reasons.items()]
    passed = pd.DataFrame(reasons).isna().all(axis="columns")
    return pairs[passed].reset_index(drop=True), pd.concat(refused, ignore_index=True).sort_values(
        ["id", "check"], ignore_index=True
    )


def rejected(rows: pd.DataFrame, check: str, reasons: pd.Series, round_: int) -> pd.DataFrame:
    """Table `rejected`: `rows` of table `pairs`, each with its reason and its content as JSON."""
    content = [json.dumps(row, ensure_ascii=False, sort_keys=True) for row in rows.to_dict("records")]
    return pd.DataFrame({
        "id": rows["pair_id"], "language": rows["language"], "check": known(check), "reason": reasons.astype("str"),
        "round": round_, "content": content,
    })  # fmt: skip
