"""What a metric sees: the questions of one run, the answers of three models, and the languages of the setting.

Shape letters: I items, N knowledge instances, L languages, S selections of languages.
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd

from unlearning.score.languages import Language, selections
from unlearning.score.tasks import ordered
from unlearning.tables.schemas import GROUPS


@dataclass(frozen=True, eq=False)
class Tables:
    """What one model did with the items: tables of the contracts of the same names, None where there is none."""

    answers: pd.DataFrame | None = None
    likelihoods: pd.DataFrame | None = None
    verdicts: pd.DataFrame | None = None
    embeddings: pd.DataFrame | None = None
    harness: pd.DataFrame | None = None


@dataclass(frozen=True, eq=False)
class View:
    """All that the scores of one run depend on.

    `items`: table `items` with `group` already replaced by the split's. `run`, `target`, `retrain`: the model scored,
    the model before unlearning and the one trained without the forget set (None where there is none). `plain`: the run
    scored, but without its attack; `attacks`: without an attack, the run under each that was tried on it.
    `values`: table `values` of a multilingual benchmark. `judge`: whose verdicts count; `second_judges`: others whose
    verdicts on the run stand in the same table. `seed`, `draws`: bootstrap. `references`: embeddings of the items'
    references. `refusals`: sentences that models are taught to refuse by, by language. `joint`: the questions inside
    mixed prompts, each an item (see `unlearning.answer.parts`), with what run and target said to them; None where there
    are no mixed prompts.
    """

    items: pd.DataFrame
    run: Tables
    target: Tables
    retrain: Tables | None = None
    languages: dict[str, Language] = field(default_factory=dict)
    values: pd.DataFrame | None = None
    seed: int = 0
    draws: int = 1000
    judge: str = "rule"
    second_judges: tuple[str, ...] = ()
    plain: Tables | None = None
    attacks: dict[str, Tables] = field(default_factory=dict)
    references: pd.DataFrame | None = None
    refusals: dict[str, list[str]] = field(default_factory=dict)
    joint: "View | None" = None

    @cached_property
    def codes(self) -> tuple[str, ...]:
        """The languages in the setting's order; those of the items where the setting names none."""
        return tuple(self.languages) or tuple(sorted(self.items["language"].unique()))

    @cached_property
    def selections(self) -> dict[str, tuple[str, ...]]:
        """name -> codes, see `languages.selections`."""
        return {name: chosen or self.codes for name, chosen in selections(self.languages).items()}

    @cached_property
    def groups(self) -> tuple[str, ...]:
        """The groups asked about what was learnt: forget and retain always, others where there are items."""
        present = {"forget", "retain", *self.items["group"].unique()} - {"background", "utility"}
        return tuple(group for group in GROUPS if group in present)

    @cached_property
    def tasks(self) -> tuple[str, ...]:
        """The kinds of question among `groups`, see `tasks.ordered`."""
        return ordered(self.items.loc[self.items["group"].isin(self.groups), "task"])

    @cached_property
    def _index(self) -> pd.Index:
        return pd.Index(self.items["item_id"])

    @cached_property
    def _layouts(self) -> dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]]:
        layouts = {}
        groups, languages = (self.items[column].to_numpy(dtype=object) for column in ("group", "language"))
        for group in set(groups):
            positions = np.flatnonzero(groups == group)
            rows, _ = pd.factorize(self.items["knowledge_id"].iloc[positions], sort=True)
            layouts[group] = (positions, rows, languages[positions])
        return layouts

    def layout(self, group: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(positions of the group's items, row of each by sorted knowledge_id, its language); empty without items."""
        return self._layouts.get(group, (np.zeros(0, int), np.zeros(0, int), np.zeros(0, object)))

    def positions(self, table: pd.DataFrame) -> np.ndarray:
        """Row in `items` of each row of `table`; ValueError where the item is not one of ours."""
        found = self._index.get_indexer(table["item_id"])
        if (found < 0).any():
            lost = table["item_id"].iloc[int(np.argmax(found < 0))]
            raise ValueError(f"a table answers item {lost!r}, which is not among the {len(self._index)} items scored")
        return found

    def per_item(self, table: pd.DataFrame | None, values: np.ndarray) -> np.ndarray:
        """values of `table`'s rows -> I, the mean over each item's rows (samples); NaN where there is none."""
        total, count = np.zeros(len(self.items)), np.zeros(len(self.items))
        if table is not None and len(table):
            values = np.asarray(values, dtype=float)
            known = ~np.isnan(values)
            places = self.positions(table)[known]
            total = np.bincount(places, values[known], minlength=len(total))
            count = np.bincount(places, minlength=len(total))
        return np.divide(total, count, out=np.full(len(total), np.nan), where=count > 0)

    def spread(self, values_I: np.ndarray, group: str, codes: tuple[str, ...] | None = None) -> np.ndarray:
        """I -> N×L: knowledge instances of `group` (sorted by id) by languages `codes`; NaN where absent."""
        codes = codes or self.codes
        positions, rows, languages = self.layout(group)
        columns = pd.Index(codes, dtype=object).get_indexer(languages)
        values = values_I[positions]
        kept = (columns >= 0) & ~np.isnan(values)
        shape = (int(rows.max()) + 1 if len(rows) else 0, len(codes))
        size = shape[0] * shape[1]
        cells = rows[kept] * len(codes) + columns[kept]
        count = np.bincount(cells, minlength=size)
        total = np.bincount(cells, values[kept], minlength=size)
        return np.divide(total, count, out=np.full(size, np.nan), where=count > 0).reshape(shape)

    def matrix(self, table: pd.DataFrame | None, column: str, group: str, codes: tuple[str, ...] | None = None):
        """A column of `table` -> N×L, the mean over samples; see `per_item` and `spread`."""
        values = np.zeros(0) if table is None else table[column].to_numpy(dtype=float, na_value=np.nan)
        return self.spread(self.per_item(table, values), group, codes)

    def instances(self, values_NL: np.ndarray, names: list[str] | None = None) -> np.ndarray:
        """N×L -> N×S: each instance's mean over the languages of each selection; NaN where it has none of them."""
        chosen = [self.selections[name] for name in names or self.selections]
        member_LS = np.stack([np.isin(self.codes, codes) for codes in chosen], axis=1).astype(float)
        known = ~np.isnan(values_NL)
        count = known @ member_LS
        total = np.where(known, values_NL, 0.0) @ member_LS
        return np.divide(total, count, out=np.full(count.shape, np.nan), where=count > 0)
