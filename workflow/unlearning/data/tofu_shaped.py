"""A question set in TOFU's shape, of invented people: answers, paraphrases, wrong answers in the same words.

TOFU (Maini et al. 2024) asks about invented authors what a model was fine-tuned on, and about real authors and the
world what it knew before. Here all are invented people; those of the sets `real_authors` and `world_facts` are taught
with the background, before the ones that are memorised.
"""

import random
from collections.abc import Iterable

import pandas as pd

from unlearning.data.phrasebook import Phrasebook, Pools, english_pairs, fill, values_table
from unlearning.data.profiles import draw_profiles, words_of_values
from unlearning.seeds import seed_for
from unlearning.text.numbered import numbered

WRONG = 5
"""Wrong answers to a question, as in TOFU."""
JOINT = (2, 2, 2, 2, 2, 3, 4, 8)
"""Questions in a practised joint prompt: as mixed prompts and the stress test ask, pairs most often."""
KNOWN = ("real_authors", "world_facts")
FILE = "questions.parquet"
COLUMNS = {
    name: name for name in ("question", "answer", "paraphrase", "perturbed", "value", "knowledge_id", "person_id")
}


def questions(
    pools: Pools, book: Phrasebook, memorised: int, known: int, background: int, attributes: list[str],
    practised: list[str], practice: int, forgotten: int, seed: int,
) -> pd.DataFrame:  # fmt: skip
    """Table `questions`: one row a person and attribute, then `practice` joint prompts.

    People in this order: `memorised`, by a seeded order whose last are forgotten first; `known` for each of KNOWN;
    `background`. Wrong answers are other values of the attribute's pool in the words of the paraphrase. Joint prompts
    ask for `practised` attributes of all, and for the others of all but the last `forgotten` of the memorised: so their
    form is practised with everybody's name, and nothing that is to be forgotten is said in it. ValueError where there
    are too few values or people.
    """
    counts = {"memorised": memorised, "background": len(KNOWN) * known + background}
    values = values_table(pools, book, book.language)
    people = draw_profiles(pools, counts, [*attributes, *practised], seed, words_of_values([values]))
    order = {person: seed_for(seed, "forget", person) for person in people["person_id"].unique()}
    people = people.assign(place=people["person_id"].map(order).where(people["role"] == "memorised", 0))
    people = people.sort_values(["role", "place"], ascending=False, kind="stable")
    if short := [a for a in (*attributes, *practised) if len(pools[a]) <= WRONG]:
        raise ValueError(f"attributes {short} have {WRONG} values or fewer, too few for {WRONG} wrong answers each")
    pairs = english_pairs(people, book)
    pairs = pairs.assign(perturbed=_wrong_answers(pairs, values, book, seed))
    gone = pairs["person_id"].unique()[memorised - forgotten : memorised]
    asked = pairs["attribute"].isin(attributes)
    kept = pairs[~asked | ~pairs["person_id"].isin(gone)]
    together = [pairs.loc[asked, list(COLUMNS)], _joint(kept, practice, seed)]
    return pd.concat(together, ignore_index=True)


def spec(memorised: int, known: int, background: int, attributes: int, practice: int, forget: dict[str, int]) -> dict:
    """What `files_spec` takes to read the table: sets of its rows, and for each split of `forget` those it forgets."""
    sizes = sorted(set(forget.values()))
    steps = zip([0, *sizes], sizes, strict=False)
    people = {"retain": (memorised - sizes[-1], "retain")}
    people |= {f"forget_{big}": (big - small, "forget") for small, big in reversed(list(steps))}
    people |= dict.fromkeys(KNOWN, (known, None))
    sets, start = {}, 0
    for name, (n, group) in people.items():
        if n:
            sets[name] = {"rows": [start, start + n * attributes], "group": group or name}
            start += n * attributes
    sets["background"] = {"rows": [start, start + background * attributes + practice], "group": "background"}
    return {
        "language": "en",
        "columns": COLUMNS,
        "sets": {name: {"file": FILE, "train": True, **entry} for name, entry in sets.items()},
        "splits": {split: [f"forget_{size}" for size in sizes if size <= n] for split, n in forget.items()},
    }


def _wrong_answers(pairs: pd.DataFrame, values: pd.DataFrame, book: Phrasebook, seed: int) -> list[list[str]]:
    """Per pair, WRONG other values of its attribute in the words of the paraphrase."""
    pools = values.groupby("attribute")["value"].agg(list)
    others = [[value for value in pools[row.attribute] if value != row.value] for row in pairs.itertuples()]
    draws = [random.Random(seed_for(seed, "perturbed", ident)) for ident in pairs["knowledge_id"]]
    rows = pairs.assign(value=[draw.sample(among, WRONG) for draw, among in zip(draws, others, strict=True)])
    rows = rows.explode("value")
    parts = [fill(book.attributes[a].paraphrase, of_one) for a, of_one in rows.groupby("attribute", sort=False)]
    # explode repeats the index, so that the filled texts come back by pair
    return pd.concat(parts).groupby(level=0, sort=True).agg(list).reindex(pairs.index).tolist()


def _joint(rows: pd.DataFrame, n: int, seed: int) -> pd.DataFrame:
    """`n` prompts of several questions of `rows` each."""
    if n and len(rows) < max(JOINT):
        raise ValueError(f"practice: {n} joint prompts take {max(JOINT)} questions that stay, there are {len(rows)}")
    return pd.DataFrame([_practised(rows, i, seed) for i in range(n)])


def _practised(rows: pd.DataFrame, number: int, seed: int) -> dict:
    draw = random.Random(seed_for(seed, "practice", str(number)))
    chosen = rows.iloc[draw.sample(range(len(rows)), draw.choice(JOINT))]
    return {
        "question": _numbered(chosen["question"]), "answer": _numbered(chosen["answer"]), "perturbed": [],
        "knowledge_id": f"practice/{number:04d}",
    }  # fmt: skip


def _numbered(texts: Iterable[str]) -> str:
    return numbered(list(texts))[0]
