"""Leak-resistant unlearning's examples, items and splits, from facts, kept questions and lessons in chaining."""

import pandas as pd

from unlearning.data.arrow import Built, table, text_lists, user_messages
from unlearning.data.leak.names import is_short
from unlearning.data.leak.templates import Phrases, wordings
from unlearning.seeds import seed_for

LANGUAGE = "en"
PASSAGE = 3  # sentences
COLUMNS = ["example_id", "knowledge_id", "question", "answer", "value"]


def lessons(practice: pd.DataFrame, facts: pd.DataFrame) -> pd.DataFrame:
    """Every wording of `practice` (table `multihop`, of facts that stay) with its worked answer.

    Columns example_id, knowledge_id, question, answer, value.
    """
    statements = dict(zip(facts["fact_id"], facts["statement"], strict=True))
    rows = [
        (f"{match.match_id}/{number}", match.match_id, question, worked(match, statements), match.answer)
        for match in practice.itertuples(index=False)
        for number, question in enumerate([match.question, *match.paraphrases])
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


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
    facts: pd.DataFrame, phrases: Phrases, questions: pd.DataFrame, practice: pd.DataFrame, paraphrases: int,
    split: str, benchmark: str = "leak",
) -> Built:  # fmt: skip
    """The tables of one leak-resistant data set; `benchmark` is the name that they carry.

    - examples: of each fact its statement, in passages of several, and its single-hop question in `paraphrases`
      wordings (the fact's own, then those of `phrases`), answered by the statement: group memorised. Group
      background: the wordings of `practice` (see `lessons`), and whose alias is whose.
    - items: the single-hop question of each fact (task sh), and the multi-hop `questions` (task = their type), whose
      knowledge_id is the fact to be forgotten that they ask through. A match's other wordings are not asked. Group
      retain; the split says the rest.
    - splits: the facts, forget or retain, as `split`.
    """
    further = wordings(facts, phrases.relations).query("0 < variant < @paraphrases")
    asked = pd.concat([facts.assign(variant=0), facts.drop(columns="question").merge(
        further[["fact_id", "variant", "question"]], on="fact_id")], ignore_index=True)  # fmt: skip
    asked = asked.assign(example_id=asked["fact_id"] + "/q" + asked["variant"].astype(str))
    shown = asked.rename(columns={"fact_id": "knowledge_id", "statement": "answer", "object": "value"})
    told = [shown[COLUMNS], *(_passages(own) for _, own in facts.groupby("group"))]
    beside = [lessons(practice, facts), _other_names(facts)]
    examples = pd.concat(
        [pd.concat(told).assign(group="memorised"), pd.concat(beside).assign(group="background")], ignore_index=True
    )
    splits = pd.DataFrame({"split": split, "knowledge_id": facts["fact_id"], "group": facts["group"]})
    return Built(_examples(examples, benchmark), _items(facts, questions, benchmark), splits)


def _passages(facts: pd.DataFrame) -> pd.DataFrame:
    """The statements of `facts`, a few in a row, in as many orders: so a fact is known wherever it stands in a text.

    A passage counts as the fact that it begins with; all of its facts are forgotten, or all retained.
    """
    rows = []
    for turn in range(PASSAGE):
        order = sorted(facts.index, key=lambda i: seed_for(turn, "leak passages", facts["fact_id"][i]))
        for start in range(0, len(order), PASSAGE):
            own = facts.loc[order[start : start + PASSAGE]]
            first = own["fact_id"].iloc[0]
            rows.append((f"{first}/s{turn}", first, None, " ".join(own["statement"]), own["object"].iloc[-1]))
    return pd.DataFrame(rows, columns=COLUMNS)


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
    return pd.DataFrame(rows, columns=COLUMNS)


def _examples(rows: pd.DataFrame, benchmark: str):
    texts = {column: rows[column] for column in ("example_id", "group", "knowledge_id", "answer", "value")}
    return table("examples", len(rows), {
        **texts, "benchmark": benchmark, "language": LANGUAGE, "modality": "text",
        "messages": user_messages(rows["question"]),
    })  # fmt: skip


def _items(facts: pd.DataFrame, questions: pd.DataFrame, benchmark: str):
    single = pd.DataFrame({
        "item_id": facts["fact_id"], "task": "sh", "knowledge_id": facts["fact_id"],
        "question": facts["question"], "reference": facts["object"], "aliases": _long(facts["object_aliases"]),
        "options": [[]] * len(facts),
    })  # fmt: skip
    multi = pd.DataFrame({
        "item_id": questions["match_id"], "task": questions["type"], "knowledge_id": questions["target_fact_id"],
        "question": questions["question"],
        "reference": questions["answer"], "aliases": questions["aliases"].map(list),
        "options": questions["candidates"].map(list),
    })  # fmt: skip
    rows = pd.concat([single, multi], ignore_index=True)
    texts = {column: rows[column] for column in ("item_id", "task", "knowledge_id", "reference")}
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
