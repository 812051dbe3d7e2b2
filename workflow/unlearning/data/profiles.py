"""Invented people: a name and one value per attribute."""

import math
import random
from collections.abc import Iterable, Iterator

import pandas as pd

from unlearning.data.text import fold
from unlearning.seeds import seed_for

ROLES = ("memorised", "nonmember", "background")
ATTEMPTS = 1_000


def words_of_values(tables: Iterable[pd.DataFrame]) -> set[str]:
    """Every value of the given `values` tables, folded: what no name may contain."""
    return {fold(value) for table in tables for value in table["value"].unique()}


def draw_profiles(
    pools: dict[str, dict[str, str]], counts: dict[str, int], attributes: list[str], seed: int, banned_words: set[str]
) -> pd.DataFrame:
    """Draw `counts[role]` people of each role; one row per person and attribute (table `profiles`).

    Names are Faker's (en_US), values independent uniform draws from `pools[attribute]`. No two people share a name or
    the whole combination of values; no name contains one of `banned_words` (folded) as a word or a run of words. Each
    person has a seed of their own, so more people, or another attribute, leave the rest as they were (unless the
    uniqueness rules make someone draw again). Raises ValueError when the request cannot be met.
    """
    _check_request(pools, counts, attributes)
    from faker import Faker

    faker = Faker("en_US")
    names: set[str] = set()
    combinations: set[tuple[str, ...]] = set()
    rows = []
    for role in ROLES:
        for index in range(counts.get(role, 0)):
            person_id = f"{role}{index:04d}"
            name = _draw(
                _names(faker, seed, person_id), lambda n: n not in names and not _contains(n, banned_words), person_id
            )
            values = _draw(_values(pools, attributes, seed, person_id), lambda v: v not in combinations, person_id)
            names.add(name)
            combinations.add(values)
            rows += [(person_id, name, role, a, v) for a, v in zip(attributes, values, strict=True)]
    return pd.DataFrame(rows, columns=["person_id", "name", "role", "attribute", "value"], dtype="str")


def _check_request(pools: dict, counts: dict[str, int], attributes: list[str]) -> None:
    unknown = [a for a in attributes if a not in pools]
    if unknown or not attributes or len(set(attributes)) < len(attributes):
        raise ValueError(
            f"attributes {attributes}: unknown {unknown}; name each once, at least one of {', '.join(pools)}"
        )
    if set(counts) - set(ROLES) or any(n < 0 for n in counts.values()):
        raise ValueError(f"counts {counts}: should give numbers of people for {', '.join(ROLES)}")
    possible = math.prod(len(pools[a]) for a in attributes)
    if sum(counts.values()) > possible:
        raise ValueError(
            f"{sum(counts.values())} people need different combinations of values, the attributes {attributes} "
            f"have {possible}; ask for fewer people or more attributes"
        )


def _draw(candidates: Iterator, allowed, person_id: str):
    for _ in range(ATTEMPTS):
        if allowed(candidate := next(candidates)):
            return candidate
    raise ValueError(f"{person_id}: {ATTEMPTS} draws gave nothing new; ask for fewer people or more attributes")


def _names(faker, seed: int, person_id: str) -> Iterator[str]:
    faker.seed_instance(seed_for(seed, "name", person_id))
    while True:
        yield f"{faker.first_name()} {faker.last_name()}"


def _values(pools: dict, attributes: list[str], seed: int, person_id: str) -> Iterator[tuple[str, ...]]:
    draws = {a: random.Random(seed_for(seed, "value", f"{person_id}/{a}")) for a in attributes}
    while True:
        yield tuple(draws[a].choice(list(pools[a])) for a in attributes)


def _contains(name: str, banned: set[str]) -> bool:
    words = fold(name).split()
    runs = (" ".join(words[i:j]) for i in range(len(words)) for j in range(i + 1, len(words) + 1))
    return any(run in banned for run in runs)
