"""Offline equivalence: a value and its back-translation are the same if spelled the same."""

import json
from collections.abc import Mapping

from unlearning.data.text import fold


def answer(inputs: Mapping) -> str:
    """Reply `equivalence` for inputs `english_value` and `back`: case, accents and spaces do not count."""
    value, back = inputs["english_value"], inputs["back"]
    same = fold(value) == fold(back)
    reason = "spelled the same" if same else f"{back!r} is not {value!r}"
    return json.dumps({"equivalent": same, "reason": reason}, ensure_ascii=False)
