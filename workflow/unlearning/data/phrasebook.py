"""Pools, phrasebooks and the pairs made from them.

A pool lists an attribute's English values with a definition each. A phrasebook holds, for one language and each
attribute, the question, answer and paraphrase templates and the translation of each value.
"""

import re
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from unlearning.data.yaml_files import ResourceError, mapping, read_yaml, text

PLACEHOLDER = re.compile(r"(\{[^{}]*\})")
# how often each template must name the person and the value
TEMPLATES = {"question": ("{name}",), "answer": ("{name}", "{value}"), "paraphrase": ("{name}", "{value}")}
Pools = dict[str, dict[str, str]]


class Entry(NamedTuple):
    """One attribute of a phrasebook; `values` maps an English value to its translation."""

    question: str
    answer: str
    paraphrase: str
    values: dict[str, str]


class Phrasebook(NamedTuple):
    """One language's templates and values: `attributes` is {attribute: Entry}."""

    language: str
    attributes: dict[str, Entry]


def read_pools(path: Path | str) -> Pools:
    """{attribute: {English value: definition}} in the file's order. ResourceError names attribute and value."""
    pools: Pools = {}
    for attribute, pool in mapping(read_yaml(path).get("attributes"), f"{path}, attributes").items():
        where = f"{path}, {attribute}"
        entries = mapping(pool, where).get("values")
        if not isinstance(entries, list) or not entries:
            raise ResourceError(f"{where}.values: should be a list of value and definition, is {entries!r}")
        pools[attribute] = {}
        for row, entry in enumerate(entries):
            value = text(mapping(entry, f"{where}.values[{row}]").get("value"), f"{where}.values[{row}].value")
            if value in pools[attribute]:
                raise ResourceError(f"{where}: value {value!r} occurs twice; keep one")
            pools[attribute][value] = text(entry.get("definition"), f"{where}, {value}, definition")
    return pools


def read_phrasebook(path: Path | str, pools: Pools | None = None) -> Phrasebook:
    """The phrasebook at `path`; with `pools`, one that translates exactly their values, in their order.

    ResourceError names the attribute, value or placeholder that is missing, unknown or given twice.
    """
    content = read_yaml(path)
    attributes = mapping(content.get("attributes"), f"{path}, attributes")
    wanted = attributes if pools is None else pools
    _same_keys(attributes, wanted, f"{path}, attributes")
    entries = {a: _entry(attributes[a], pools and pools[a], f"{path}, {a}") for a in wanted}
    return Phrasebook(text(content.get("language"), f"{path}, language"), entries)


def _entry(found: object, pool: dict[str, str] | None, where: str) -> Entry:
    _same_keys(mapping(found, where), Entry._fields, where)
    for key, needed in TEMPLATES.items():
        _check_template(text(found[key], f"{where}.{key}"), needed, f"{where}.{key}")
    if found["paraphrase"] == found["answer"]:
        raise ResourceError(f"{where}.paraphrase: the same words as the answer; write it in other words")
    values = mapping(found["values"], f"{where}.values")
    wanted = values if pool is None else pool
    _same_keys(values, wanted, f"{where}.values")
    translations = {text(v, f"{where}.values"): text(values[v], f"{where}.values.{v}") for v in wanted}
    return Entry(found["question"], found["answer"], found["paraphrase"], translations)


def _same_keys(found: dict, expected, where: str) -> None:
    missing = [key for key in expected if key not in found]
    unknown = [key for key in found if key not in expected]
    if missing or unknown:
        raise ResourceError(f"{where}: missing {missing}, unknown {unknown}; add the missing, remove the unknown")


def _check_template(template: str, needed: tuple[str, ...], where: str) -> None:
    found = PLACEHOLDER.findall(template)
    if sorted(found) != sorted(needed):
        raise ResourceError(
            f"{where}: placeholders {found} in {template!r}; each of {list(needed)} is needed exactly once"
        )


def values_table(pools: Pools, phrasebook: Phrasebook, language: str) -> pd.DataFrame:
    """All values of all pools in `language` (table `values`), used or not: what the uniqueness checks look at."""
    if phrasebook.language != language:
        raise ResourceError(f"the phrasebook is for {phrasebook.language!r}, {language!r} was asked for")
    rows = [(a, language, v, phrasebook.attributes[a].values[v]) for a, pool in pools.items() for v in pool]
    return pd.DataFrame(rows, columns=["attribute", "language", "english_value", "value"], dtype="str")


def english_pairs(profiles: pd.DataFrame, phrasebook_en: Phrasebook) -> pd.DataFrame:
    """One English question–answer pair for each row of `profiles` (table `pairs`), in its order."""
    knowledge = profiles.rename(columns={"value": "english_value"})
    knowledge["knowledge_id"] = knowledge["person_id"] + "/" + knowledge["attribute"]
    pools = {attribute: entry.values for attribute, entry in phrasebook_en.attributes.items()}
    return translate(knowledge, values_table(pools, phrasebook_en, "en"), phrasebook_en)


def translate(pairs_en: pd.DataFrame, values: pd.DataFrame, phrasebook: Phrasebook) -> pd.DataFrame:
    """`pairs_en` in the phrasebook's language (table `pairs`), same rows, same order.

    `values` (table `values`) gives each value's translation; ValueError names one that it lacks.
    """
    kept = ["knowledge_id", "person_id", "role", "attribute", "name", "english_value"]
    keys = ["attribute", "english_value"]
    pairs = pairs_en[kept].merge(values[[*keys, "value"]], on=keys, how="left", validate="many_to_one")
    if pairs["value"].isna().any():
        row = pairs[pairs["value"].isna()].iloc[0]
        raise ValueError(
            f"{phrasebook.language}: no translation of {row.attribute} {row.english_value!r} in the values table"
        )
    pairs["language"] = phrasebook.language
    pairs["pair_id"] = pairs["knowledge_id"] + "/" + phrasebook.language
    for part in TEMPLATES:
        templates = {a: getattr(entry, part) for a, entry in phrasebook.attributes.items()}
        filled = [fill(templates[a], rows) for a, rows in pairs.groupby("attribute", sort=False)]
        pairs[part] = pd.concat(filled) if filled else ""
    order = ["pair_id", "knowledge_id", "person_id", "role", "attribute", "language"]
    return pairs[[*order, "name", *TEMPLATES, "value", "english_value"]]


def fill(template: str, rows: pd.DataFrame) -> pd.Series:
    """`template` with {name} and {value} from `rows`' columns; braces inside these are left as they are."""
    filled = pd.Series("", index=rows.index, dtype="str")
    for piece in PLACEHOLDER.split(template):
        filled = filled + (rows[piece[1:-1]] if PLACEHOLDER.fullmatch(piece) else piece)
    return filled
