"""What the mechanical checks know beyond the pairs themselves."""

from typing import NamedTuple

import pandas as pd

from unlearning.data.languages import Language
from unlearning.data.text import fold


class Context(NamedTuple):
    """The language checked, the codes to identify among, the whole pools' values, and what they come back as.

    `values` is a `values` table of this language. `back` has columns attribute, value, back: `back` is the English that
    a translated value comes back as; several rows for a value that can mean several things.
    """

    language: Language
    codes: tuple[str, ...]
    values: pd.DataFrame
    back: pd.DataFrame


def reverse_table(values: pd.DataFrame) -> pd.DataFrame:
    """Back-translations by looking each value up in the same pool, its spelling without case and accents.

    The offline stand-in for a back-translator: two values that differ by an accent only come back as both.
    """
    folded = values.assign(spelling=values["value"].map(fold))
    back = folded[["attribute", "spelling", "english_value"]].rename(columns={"english_value": "back"})
    return folded[["attribute", "value", "spelling"]].merge(back, on=["attribute", "spelling"])[
        ["attribute", "value", "back"]
    ]


def offline_context(language: Language, codes: tuple[str, ...], values: pd.DataFrame) -> Context:
    """The context of the phrasebook route: values come back through the reverse table."""
    return Context(language, codes, values, reverse_table(values))


def rounds_context(
    language: Language, codes: tuple[str, ...], values: pd.DataFrame, value_rounds: pd.DataFrame
) -> Context:
    """The context of the translation route: values come back as they really did (`value_rounds`, table `rounds`)."""
    stands = value_rounds[value_rounds["verdict"] == "accepted"]
    back = stands["id"].str.split("/", n=1, expand=True).reindex(columns=[0]).set_axis(["attribute"], axis="columns")
    back = back.assign(value=stands["value"], back=stands["back_value"].map(fold))
    return Context(language, codes, values, back.reset_index(drop=True))
