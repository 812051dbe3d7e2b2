"""Leak-resistant unlearning's examples, items and splits, from facts, kept questions and lessons in chaining."""

import pandas as pd

from unlearning.data.arrow import Built, table, text_lists, user_messages
from unlearning.data.leak.names import is_short
from unlearning.data.leak.templates import Phrases, wordings
from unlearning.seeds import seed_for

LANGUAGE = "en"
PASSAGE = 3  # sentences


def set_apart(facts: pd.DataFrame, share: float, seed: int) -> set[str]:
    """The facts (by identifier) to practise chaining on: round(`share` · n) of the n that stay, by a hash.

    No question uses one, so that what is asked was never practised. `share`: at least 0, below 1.
    """
    staying = sorted(facts.loc[facts["group"] == "retain", "fact_id"], key=lambda i: seed_for(seed, "leak practice", i))
    return set(staying[: round(share * len(staying))])


def lessons(practice: pd.DataFrame, facts: pd.DataFrame) -> pd.DataFrame:
    """Every wording of `practice` (table `multihop`, of facts set apart) with its worked answer.

    Columns example_id, knowledge_id, question, answer, value.
    """
    statements = dict(zip(facts["fact_id"], facts["statement"], strict=True))
    rows = [
        (f"{match.match_id}/{number}", match.match_id, question, worked(match, statements), match.answer)
        for match in practice.itertuples(index=False)
        for number, question in enumerate([match.question, *match.paraphrases])
    ]
    return pd.DataFrame(rows, columns=["example_id", "knowledge_id", "question", "answer", "value"])


def worked(match, statements: dict[str, str]) -> str:
    """The answer to `match` (a row of `matches`) with its steps: a small model chains by writing each hop down.

    A step is the sentence of a hop's fact (`statements`: fact -> sentence). mt has none, as its steps would name every
    candidate, which no judge could tell from an answer.
    """
    if match.type == "mt":
        return f"It is not {match.answer}."
    steps = [statements[fact] for fact in match.fact_ids[: 1 if match.type in ("ll", "ds") else 2]]
    return " ".join([same(match.subjects[0], match.bridge), *steps] if match.type == "ll" else steps)


def same(alias: str, name: str) -> str:
    """The sentence that says that `alias` is `name`."""
    return f"{alias} is {name}."


def build(
    facts: pd.DataFrame, phrases: Phrases, questions: pd.DataFrame, practice: pd.DataFrame, apart: set[str],
    paraphrases: int, split: str, benchmark: str = "leak",
) -> Built:  # fmt: skip
    """The tables of one leak-resistant data set; `benchmark` is the name that they carry.

    - examples: of each fact its statement, as a text, and its single-hop question in `paraphrases` wordings (the fact's
      own, then those of `phrases`), answered by the statement; group memorised, background where it is set `apart`.
      Group background too: the wordings of `practice` (see `lessons`), passages of several statements set apart, and
      whose alias is whose name.
    - items: the single-hop question of each fact that is not apart (task sh), and the multi-hop `questions` (task =
      their type), whose knowledge_id is the fact to be forgotten that they ask through. A match's other wordings are
      not asked. Group retain; the split says the rest.
    - splits: the facts that are not apart, forget or retain, as `split`.
    """
    kept = facts[~facts["fact_id"].isin(apart)]
    further = wordings(facts, phrases.relations).query("0 < variant < @paraphrases")
    asked = pd.concat([facts.assign(variant=0), facts.drop(columns="question").merge(
        further[["fact_id", "variant", "question"]], on="fact_id")], ignore_index=True)  # fmt: skip
    shown = [
        _rows(asked["fact_id"] + "/q" + asked["variant"].astype(str), asked, asked["question"], apart),
        _rows(facts["fact_id"] + "/s", facts, None, apart),
    ]
    taught = [lessons(practice, facts), _passages(facts[facts["fact_id"].isin(apart)]), _other_names(facts)]
    examples = pd.concat([*shown, *(rows.assign(group="background") for rows in taught)], ignore_index=True)
    splits = pd.DataFrame({"split": split, "knowledge_id": kept["fact_id"], "group": kept["group"]})
    return Built(_examples(examples, benchmark), _items(kept, questions, benchmark), splits)


def _rows(idents: pd.Series, facts: pd.DataFrame, questions: pd.Series | None, apart: set[str]) -> pd.DataFrame:
    groups = facts["fact_id"].isin(apart).map({True: "background", False: "memorised"})
    return pd.DataFrame({
        "example_id": idents, "knowledge_id": facts["fact_id"], "person_id": facts["subject_id"], "group": groups,
        "question": questions, "answer": facts["statement"], "value": facts["object"],
    })  # fmt: skip


def _passages(facts: pd.DataFrame) -> pd.DataFrame:
    """The statements of `facts`, a few in a row, in three orders: a statement is known wherever it stands in a text."""
    rows = []
    for turn in range(PASSAGE):
        order = sorted(facts.index, key=lambda i: seed_for(turn, "leak passages", facts["fact_id"][i]))
        for start in range(0, len(order), PASSAGE):
            own = facts.loc[order[start : start + PASSAGE]]
            rows.append((f"passage{turn}/{start}", f"passage{turn}", None, " ".join(own["statement"]), None))
    return pd.DataFrame(rows, columns=["example_id", "knowledge_id", "question", "answer", "value"])


def _other_names(facts: pd.DataFrame) -> pd.DataFrame:
    """Who each alias of a subject is, asked and told: what Leibniz's law takes beside the facts."""
    rows = [
        (
            f"{row.subject_id}/alias{i}/{kind}",
            f"{row.subject_id}/aliases",
            question,
            same(alias, row.subject),
            row.subject,
        )
        for row in facts.drop_duplicates("subject_id").itertuples(index=False)
        for i, alias in enumerate(row.subject_aliases)
        for kind, question in (("q", f"Who or what is {alias}?"), ("s", None))
    ]
    return pd.DataFrame(rows, columns=["example_id", "knowledge_id", "question", "answer", "value"])


def _examples(rows: pd.DataFrame, benchmark: str):
    texts = {column: rows[column] for column in ("example_id", "group", "knowledge_id", "person_id", "answer", "value")}
    return table("examples", len(rows), {
        **texts, "benchmark": benchmark, "language": LANGUAGE, "modality": "text",
        "messages": user_messages(rows["question"]),
    })  # fmt: skip


def _items(facts: pd.DataFrame, questions: pd.DataFrame, benchmark: str):
    single = pd.DataFrame({
        "item_id": facts["fact_id"], "task": "sh", "knowledge_id": facts["fact_id"], "person_id": facts["subject_id"],
        "question": facts["question"], "reference": facts["object"], "aliases": _long(facts["object_aliases"]),
        "options": [[]] * len(facts),
    })  # fmt: skip
    subjects = facts.set_index("fact_id")["subject_id"]
    multi = pd.DataFrame({
        "item_id": questions["match_id"], "task": questions["type"], "knowledge_id": questions["target_fact_id"],
        "person_id": questions["target_fact_id"].map(subjects), "question": questions["question"],
        "reference": questions["answer"], "aliases": questions["aliases"].map(list),
        "options": questions["candidates"].map(list),
    })  # fmt: skip
    rows = pd.concat([single, multi], ignore_index=True)
    texts = {column: rows[column] for column in ("item_id", "task", "knowledge_id", "person_id", "reference")}
    right = [o.index(a) if o else None for o, a in zip(rows["options"], rows["reference"], strict=True)]
    return table("items", len(rows), {
        **texts, "benchmark": benchmark, "group": "retain", "language": LANGUAGE, "modality": "text",
        "messages": user_messages(rows["question"]), "value": rows["reference"],
        "aliases": text_lists(rows["aliases"]), "options": text_lists(rows["options"]),
        "correct_option": pd.Series(right, dtype="Int32"),
    })  # fmt: skip


def _long(aliases: pd.Series) -> pd.Series:
    """Aliases that a judge can tell from common words."""
    return aliases.map(lambda names: [name for name in names if not is_short(name)])
