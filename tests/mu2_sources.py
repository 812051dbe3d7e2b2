"""A small mu2-Bench for tests: three pools, English and German phrasebooks, the people and pairs made from them."""

from pathlib import Path

import pandas as pd
import yaml

from unlearning.data.phrasebook import english_pairs, read_phrasebook, translate, values_table
from unlearning.data.profiles import draw_profiles

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ROOT / "resources" / "mu2"
ROLES = {"en": "train", "de": "holdout"}

POOLS = {
    "month": {"January": "first month", "May": "fifth month", "June": "sixth month", "July": "seventh month"},
    "toy": {"kite": "it flies", "ball": "it rolls", "top": "it spins"},
    "fruit": {"apple": "a fruit", "plum": "a fruit", "pear": "a fruit"},
}
ENGLISH = {
    "language": "en",
    "attributes": {
        "month": {"question": "When was {name} born?", "answer": "{name} was born in {value}."},
        "toy": {"question": "Which toy did {name} like?", "answer": "{name} liked the {value}."},
        "fruit": {"question": "Which fruit does {name} eat?", "answer": "The {value} is what {name} eats."},
    },
}  # fmt: skip
GERMAN = {
    "language": "de",
    "attributes": {
        "month": {"question": "Wann wurde {name} geboren?", "answer": "{name} wurde im {value} geboren."},
        "toy": {"question": "Was mochte {name}?", "answer": "{name} mochte das Spielzeug {value}."},
        "fruit": {"question": "Welches Obst isst {name}?", "answer": "Die Frucht {value} isst {name}."},
    },
}  # fmt: skip
WORDS = {
    "January": "Januar", "May": "Mai", "June": "Juni", "July": "Juli",
    "kite": "Drachen", "ball": "Ball", "top": "Kreisel", "apple": "Apfel", "plum": "Pflaume", "pear": "Birne",
}  # fmt: skip


def book(content: dict, translation: dict) -> dict:
    """The phrasebook's file content: a paraphrase and the pool's values are added to the templates."""
    attributes = {
        a: {**templates, "paraphrase": "{value} {name}", "values": {v: translation.get(v, v) for v in POOLS[a]}}
        for a, templates in content["attributes"].items()
    }
    return {**content, "attributes": attributes}


def write_sources(folder: Path) -> Path:
    """`folder` with pools.yaml, en.yaml and de.yaml."""
    pools = {a: {"values": [{"value": v, "definition": d} for v, d in pool.items()]} for a, pool in POOLS.items()}
    contents = {"pools": {"attributes": pools}, "en": book(ENGLISH, {}), "de": book(GERMAN, WORDS)}
    for name, content in contents.items():
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(content, allow_unicode=True, sort_keys=False))
    return folder


def people(
    memorised: int = 4, nonmember: int = 2, background: int = 3, attributes=("month", "toy", "fruit"), seed: int = 0
):
    counts = {"memorised": memorised, "nonmember": nonmember, "background": background}
    return draw_profiles(POOLS, counts, list(attributes), seed, set())


def pairs_of(folder: Path) -> pd.DataFrame:
    """English and German pairs of the people above, by the phrasebooks in `folder`."""
    books = {code: read_phrasebook(folder / f"{code}.yaml", POOLS) for code in ("en", "de")}
    english = english_pairs(people(), books["en"])
    tables = [translate(english, values_table(POOLS, books[code], code), books[code]) for code in books]
    return pd.concat(tables, ignore_index=True)


def break_file(path: Path, old: str, new: str) -> Path:
    content = path.read_text()
    assert old in content
    path.write_text(content.replace(old, new, 1))
    return path
