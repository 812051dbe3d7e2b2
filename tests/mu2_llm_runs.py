"""What the tests of the translation route share: values, pairs and refined English made by a fake model."""

import pandas as pd

from mu2_llm_fakes import Model, tools
from mu2_sources import POOLS, SOURCES
from unlearning.data.context import offline_context, rounds_context
from unlearning.data.languages import read_languages
from unlearning.data.pairs_llm import translate_pairs
from unlearning.data.phrasebook import values_table
from unlearning.data.refine import refine_pairs
from unlearning.data.rounds import rounds_table
from unlearning.data.values_llm import translate_values, values_of
from unlearning.tables.artifacts import to_table

LANGUAGES = read_languages(SOURCES / "languages.yaml")
CODES = tuple(LANGUAGES)
GERMAN = LANGUAGES["de"]


def values(books, fault=None, max_rounds=3, back=None):
    """(history, model) of the values' translation to German."""
    model = Model(books["de"], fault or (lambda ident, inputs: None))
    return translate_values(POOLS, GERMAN, tools(model, books["en"], max_rounds, back)), model


def pairs(books, english, fault=None, max_rounds=3, decided=None, value_fault=None, back=None):
    """(built tables, model) of the pairs' translation to German."""
    history, _ = values(books, value_fault, max_rounds)
    table, rounds = values_of(history, "de"), rounds_table(history, "de")
    model = Model(books["de"], fault or (lambda ident, inputs: None))
    given = tools(model, books["en"], max_rounds, back)
    context = rounds_context(GERMAN, CODES, table, rounds)
    built = translate_pairs(english, POOLS, table, rounds, context, given, decided)
    to_table(built.pairs, "pairs"), to_table(built.rejected, "rejected"), to_table(built.rounds, "rounds")
    assert set(built.pairs["pair_id"]) | set(built.rejected["id"]) == set(english["knowledge_id"] + "/de")
    assert not set(built.pairs["pair_id"]) & set(built.rejected["id"])
    return built, model


def said_of(history: pd.DataFrame, ident: str) -> list[tuple]:
    """(round, value, checks that refused it) of one value's attempts."""
    rows = history[history["id"] == ident]
    return [(row["round"], row["value"], [c for c, _ in row["reasons"]]) for row in rows.to_dict("records")]


def row_of(english: pd.DataFrame, attribute: str, at: int = 0) -> pd.Series:
    return english[english["attribute"] == attribute].iloc[at]


def refined(books, english, fault=None, decided=None, max_rounds=2):
    model = Model(books["en"], fault or (lambda ident, inputs: None))
    context = offline_context(LANGUAGES["en"], CODES, values_table(POOLS, books["en"], "en"))
    table, rounds = refine_pairs(english, POOLS, context, tools(model, books["en"], max_rounds), decided)
    to_table(table, "pairs"), to_table(rounds, "rounds")
    assert list(table["pair_id"]) == list(english["pair_id"])
    return table.set_index("pair_id"), rounds, model


def by_refiner(replies: dict):
    def fault(ident, inputs):
        if inputs["role"] == "equivalence":
            return {"equivalent": True, "reason": ""}
        return replies.get(ident)

    return fault


def decision(ident, word, row=None, **texts) -> dict:
    given = dict.fromkeys(("question", "answer", "paraphrase", "value")) | texts
    value = row["english_value"] if row is not None else None
    return {"id": ident, "decision": word, **given, "comment": "too stiff", "reviewer": "r", "english_value": value,
            "note": None}  # fmt: skip


def decided(*rows) -> pd.DataFrame:
    return pd.DataFrame(list(rows), dtype=object)


def translation(row, **changes) -> dict:
    """A right German pair about `row` (attribute toy), with changes."""
    words = {"kite": "Drachen", "ball": "Ball", "top": "Kreisel"}[row["english_value"]]
    right = {
        "question": f"Was mochte {row['name']}?",
        "answer": f"{row['name']} mochte das Spielzeug {words}.",
        "paraphrase": f"{words} {row['name']}",
    }
    return right | {key: text.format(value=words, name=row["name"]) for key, text in changes.items()}


FAULTS = {
    "question_hides_value": {"question": "Was mochte {name}, den {value}?"},
    "name_kept": {"answer": "Das Kind mochte das Spielzeug {value}."},
    "language_identified": {"question": "Which toy did {name} like?", "answer": "{name} liked the {value}."},
    "answer_contains_value": {"answer": "{name} mochte das Spielzeug Tretroller."},
    "no_placeholder": {"question": "Was mochte {name} [NAME]?"},
    "script": {"question": "Τι άρεσε στον {name}?"},
}
