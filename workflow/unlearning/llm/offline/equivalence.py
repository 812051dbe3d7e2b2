"""Offline equivalence: two versions say the same if they are spelled the same."""

import json
from collections.abc import Mapping

from unlearning.data.text import fold


def answer(inputs: Mapping) -> str:
    """Reply `equivalence`: case, accents and spaces do not count.

    Inputs `texts` (each with its `first` and `second` version), or `english_value` and `back`.
    """
    pairs = (
        [(t["first"], t["second"]) for t in inputs["texts"]]
        if "texts" in inputs
        else [(inputs["english_value"], inputs["back"])]
    )
    other = next(((one, two) for one, two in pairs if fold(one) != fold(two)), None)
    reason = f"{other[1]!r} is not {other[0]!r}" if other else "spelled the same"
    return json.dumps({"equivalent": other is None, "reason": reason}, ensure_ascii=False)
