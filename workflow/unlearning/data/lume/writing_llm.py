"""Stories and biographies by a language model (role writer), in rounds: written, checked in code, written again.

Of stories a question is found in the same round, as one without a verified question is told anew. Without a text that
stands after `max_rounds` a document is left out, and is in `rejected`.
"""

import random
from collections import Counter
from collections.abc import Callable, Mapping
from typing import NamedTuple

import pandas as pd

from unlearning.data.lume import people, stories
from unlearning.data.lume.construct import PERSON_CHECKS, Grammars, assign, story_checks
from unlearning.data.lume.made import Kept, Made, failing, made
from unlearning.data.lume.near import Index
from unlearning.data.lume.questions_llm import questions
from unlearning.data.lume.stories import Draft
from unlearning.data.lume.texts import n_words
from unlearning.data.reasons import reason
from unlearning.data.refused import refusal
from unlearning.data.rounds import Tools, accepted, asked, column, in_rounds, proposed, refused, rounds_table
from unlearning.seeds import seed_for


class Written(NamedTuple):
    """The tables, and table `rounds` with every attempt."""

    made: Made
    rounds: pd.DataFrame


def write_stories(sizes: tuple[int, int], grammars: Grammars, tools: Tools, seed: int) -> Written:
    """Task 1: (to forget, to retain) stories with a verified question each, about casts drawn as for the grammar."""
    groups, names, rows = assign({"task1": sizes}, 0, seed, {}), set(), []
    for ident in groups:
        given = stories.cast(grammars.stories, random.Random(seed_for(seed, "lume document", f"{ident}/0")), names)
        names |= {given.characters[0], *([given.city] if given.genre == "Fantasy" else [])}
        rows.append({"document_id": ident, "kind": given.genre, "characters": given.characters, "city": given.city})
    index = Index()
    checks = story_checks(index)

    def examine(drafts: dict[str, Draft], passed: Counter) -> tuple[dict, dict]:
        wrong = {}
        for ident, draft in drafts.items():
            if failed := failing(draft, checks, passed):
                wrong[ident] = failed
            else:
                index.add(ident, draft.row["text"])
        good = {ident: draft.row["text"] for ident, draft in drafts.items() if ident not in wrong}
        said = questions(good, tools)
        for ident in said.refused:
            index.remove(ident)
        passed["question"] += len(said.found)
        return wrong | said.refused, {ident: [pair] for ident, pair in said.found.items()}

    inputs = [{"genre": r["kind"], "characters": r["characters"], "city": r["city"]} for r in rows]
    return _write("task1", "writer_story", rows, inputs, examine, (*checks, "question"), groups, tools)


def write_people(sizes: tuple[int, int], grammars: Grammars, tools: Tools, seed: int) -> Written:
    """Task 2: (to forget, to retain) biographies that hold every field, about people drawn as for the grammar."""
    groups, taken, known = assign({"task2": sizes}, 0, seed, {}), {field: set() for field in people.UNIQUE}, {}
    for ident in groups:
        known[ident] = people.draw_person(grammars.people.states, seed_for(seed, "lume person", f"{ident}/0"), taken)
        people.take(known[ident], taken)

    def examine(drafts: dict[str, Draft], passed: Counter) -> tuple[dict, dict]:
        found = {ident: failing(draft, PERSON_CHECKS, passed) for ident, draft in drafts.items()}
        wrong = {ident: failed for ident, failed in found.items() if failed}
        return wrong, {ident: people.questions(grammars.people, known[ident]) for ident in drafts}

    rows = [{"document_id": ident, **people.columns(person)} for ident, person in known.items()]
    inputs = [_shown(person, ident, seed) for ident, person in known.items()]
    return _write("task2", "writer_person", rows, inputs, examine, tuple(PERSON_CHECKS), groups, tools)


def _shown(person: people.Person, ident: str, seed: int) -> dict[str, str]:
    written = people.written(person, random.Random(seed_for(seed, "lume format", ident)))
    return {"name": person.name, **written}


def _write(
    task: str, prompt: str, rows: list[dict], inputs: list[dict],
    examine: Callable[[dict[str, Draft], Counter], tuple[Mapping, Mapping]], steps: tuple[str, ...], groups: Mapping,
    tools: Tools,
) -> Written:  # fmt: skip
    """Rounds over `rows`; `examine(drafts, passed)` gives document -> (check, why) and document -> questions."""
    known = {row["document_id"]: row for row in rows}
    given = dict(zip(known, inputs, strict=True))
    pairs: dict[str, list[tuple[str, str]]] = {}
    passed: Counter = Counter()

    def propose(waiting: pd.DataFrame, attempts: list[list[dict]]) -> pd.DataFrame:
        ids = list(waiting["id"])
        passed["drawn"] += len(ids)
        filled = [given[ident] | {"attempts": tries} for ident, tries in zip(ids, attempts, strict=True)]
        replies = asked(tools, "writer", prompt, ids, filled)
        texts = [said and {"text": " ".join(said["text"].split())} for said in replies["parsed"]]
        replies["parsed"] = column(texts, replies)
        return proposed(waiting, replies, ["text"])

    def examined(tried: pd.DataFrame, _: pd.DataFrame) -> pd.DataFrame:
        drafts = {i: Draft(known[i] | {"text": text}, []) for i, text in zip(tried["id"], tried["text"], strict=True)}
        wrong, found = examine(drafts, passed)
        pairs.update(found)
        return tried.assign(reasons=column(([reason(*wrong[i])] if i in wrong else [] for i in tried["id"]), tried))

    history = in_rounds(pd.DataFrame({"id": list(known)}), propose, examined, tools.max_rounds)
    texts = dict(zip(accepted(history)["id"], accepted(history)["text"], strict=True))
    kept = [ident for ident in known if ident in texts]
    last = refused(history).itertuples(index=False)
    lost = [refusal(row.id, *why, row.round, text=row.text) for row in last for why in row.reasons]
    part = Kept(
        [known[ident] | {"text": texts[ident], "n_words": n_words(texts[ident])} for ident in kept],
        [(ident, number, *pair) for ident in kept for number, pair in enumerate(pairs[ident])],
        lost,
        {step: passed[step] for step in ("drawn", *steps)} | {"kept": len(kept)},
    )
    return Written(made({task: part}, groups), rounds_table(history.assign(value=history["text"]), "en"))
