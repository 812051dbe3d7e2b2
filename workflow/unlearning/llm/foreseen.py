"""What jobs that ask language models may ask, from their inputs; and stand-ins for inputs that are not made yet.

The functions bear their scripts' names and take what they need of the scripts' arguments. ASSUME: a text not written
yet is as long as the English text it stands for, an answer `max_new_tokens` of four characters.
"""

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module

import pandas as pd

from unlearning.answer.parts import apart, of_split
from unlearning.answer.prompted import prompted
from unlearning.answer.select import questions as asking
from unlearning.answer.select import select
from unlearning.data.back_other import by_model
from unlearning.data.back_services import LLM, SERVICES
from unlearning.data.context import offline_context, rounds_context
from unlearning.data.languages import known, read_languages
from unlearning.data.pairs_llm import judge_pairs, source_rows, translate_pairs
from unlearning.data.phrasebook import read_pools
from unlearning.data.refine import REFINED, refine_pairs
from unlearning.data.rounds import rounds_table
from unlearning.data.text import PARTS
from unlearning.data.values_llm import english_values, judge_values, translate_values, value_rows, values_of
from unlearning.judges import llm as judge
from unlearning.llm.estimate import Asked, Size
from unlearning.llm.foreseen_leak import (  # noqa: F401 (found by their names, as those below)
    leak_extract_llm,
    leak_questions_llm,
    leak_rate_llm,
    stand_in_extracted,
    stand_in_questions,
)
from unlearning.llm.foreseen_lume import lume_documents_llm, stand_in_documents  # noqa: F401
from unlearning.llm.foreseen_school import school_questions_llm, stand_in_school  # noqa: F401
from unlearning.llm.prompts import read_prompt
from unlearning.llm.requests import Sampling
from unlearning.llm.watch import Watch
from unlearning.tables.artifacts import read_table, write_table
from unlearning.text.numbered import numbered

CHARACTERS = 4  # of a token of an answer


def mu2_refine(
    templates: str, values: str, pools: str, prompts: list[str], languages_file: str, sampling: dict, max_rounds: int
) -> list[Asked]:
    """The refiner is asked about every pair; the judge of equivalence about those that it changed: all, at most."""
    watch, pool, languages = Watch(prompts, sampling, max_rounds), read_pools(pools), read_languages(languages_file)
    english = read_table(templates, "pairs")
    context = offline_context(languages["en"], tuple(languages), read_table(values, "values"))
    rows = _came_back(source_rows(english, pool, languages["en"]))
    return [
        *watch.asked(lambda: refine_pairs(english, pool, context, watch.tools)),
        *watch.asked(lambda: judge_pairs(rows, watch.tools, tuple(f"back_{part}" for part in REFINED))),
    ]


def mu2_values_llm(
    pools: str, prompts: list[str], languages_file: str, language: str, attributes: list[str], sampling: dict,
    max_rounds: int, back_translator: dict | None,
) -> list[Asked]:  # fmt: skip
    """Every value of the pools is translated, translated back and judged once a round; English is not translated."""
    if language == "en":
        return []
    watch, read = Watch(prompts, sampling, max_rounds), read_pools(pools)
    pool = {attribute: read[attribute] for attribute in attributes}
    spoken = known(language, read_languages(languages_file), languages_file)
    rows = value_rows(pool)
    rows = rows.assign(back_value=rows["id"])  # attribute and value: longer than the value, and no two alike
    return [
        *watch.asked(lambda: translate_values(pool, spoken, watch.tools)),
        *_back(watch, list(rows["id"]), spoken, back_translator),
        *watch.asked(lambda: judge_values(rows, watch.tools)),
    ]


def mu2_translate_llm(
    pairs_en: str, values: str, value_rounds: str, pools: str, prompts: list[str], languages_file: str, language: str,
    sampling: dict, max_rounds: int, back_translator: dict | None,
) -> list[Asked]:  # fmt: skip
    """Every pair whose value has a translation: translated, its three texts translated back, judged once a round."""
    if language == "en":
        return []
    watch, pool, languages = Watch(prompts, sampling, max_rounds), read_pools(pools), read_languages(languages_file)
    spoken, english = known(language, languages, languages_file), read_table(pairs_en, "pairs")
    table, tried = read_table(values, "values"), read_table(value_rounds, "rounds")
    context = rounds_context(spoken, tuple(languages), table, tried)
    rows = source_rows(english, pool, spoken)
    rows = _came_back(rows.merge(table[["attribute", "english_value"]], on=["attribute", "english_value"]))
    texts = [text for part in PARTS for text in rows[f"en_{part}"]]
    return [
        *watch.asked(lambda: translate_pairs(english, pool, table, tried, context, watch.tools)),
        *_back(watch, texts, spoken, back_translator),
        *watch.asked(lambda: judge_pairs(rows, watch.tools)),
    ]


def judge_llm(
    answers: str, questions: str, prompt: str, scale: str, size: int, sampling: dict, prompts: list[dict] = ()
) -> list[Asked]:
    """Every distinct question, reference and answer is judged once, `size` a prompt; of mixed prompts every part."""
    told, items = read_table(answers, "answers"), read_table(questions, "items")
    items = prompted(items, prompts, questions=items)
    told = told[told["item_id"].isin(items["item_id"])]  # stand-ins answer what such an attack does not ask, too
    told, items = apart(told, items)
    return [Asked("judge", judge.prompts(told, items, read_prompt(prompt), Sampling(**sampling), scale, size))]


def complete(prompts: str) -> list[Asked]:
    """The prompts of the table."""
    table = read_table(prompts, "prompts")
    return [Asked(role, rows) for role, rows in table.groupby("role")]


def sent_back(script: str, sizes: Sequence[Size], back_translator: Mapping | None) -> int:
    """The texts that go to a translation service in a round: none where a model or the phrasebook translates back."""
    if not back_translator or back_translator["service"] not in SERVICES:
        return 0
    texts = {"mu2_values_llm": 1, "mu2_translate_llm": len(PARTS)}[script]
    return texts * sum(size.prompts for size in sizes if size.role == "translator")


def _back(watch: Watch, texts: list[str], language, back_translator: Mapping) -> Iterator[Asked]:
    """A prompt for each of `texts`, where a model translates back; numbered, as equal ones would be asked once."""
    if back_translator["service"] == LLM:
        numbered = [f"{number}. {text}" for number, text in enumerate(texts)]
        yield from watch.asked(lambda: by_model(watch.tools, language)(numbered))


def _came_back(rows: pd.DataFrame) -> pd.DataFrame:
    """`rows` (`source_rows`), each text come back as it is in English."""
    return rows.assign(**{f"back_{part}": rows[f"en_{part}"] for part in PARTS})


def stand_in_refined(templates: str, pairs: str) -> None:
    """The English pairs as the templates have them."""
    write_table(read_table(templates, "pairs"), pairs, "pairs")


def stand_in_values(pools: str, attributes: list[str], language: str, values: str, rounds: str) -> None:
    """Every value accepted at once, as it is in English."""
    read = read_pools(pools)
    history = english_values({attribute: read[attribute] for attribute in attributes})
    write_table(values_of(history, language), values, "values")
    write_table(rounds_table(history, language), rounds, "rounds")


def stand_in_pairs(pairs_en: str, language: str, pairs: str) -> None:
    """Every pair in `language`, in the words it has in English."""
    english = read_table(pairs_en, "pairs")
    write_table(english.assign(language=language, pair_id=english["knowledge_id"] + f"/{language}"), pairs, "pairs")


def stand_in_answers(
    questions: str, answers: str | list[str], decoding: dict[str, dict], max_new_tokens: int, only: str,
    split: str | None = None, splits: str | None = None, asked_split: str | None = None,
) -> None:  # fmt: skip
    """To every item as many answers as are drawn, no two alike, to every part of a mixed prompt one.

    Of several models the same.
    """
    drawn = [import_module(f"unlearning.attacks.{attack}").decoding(**given) for attack, given in decoding.items()]
    table = read_table(splits, "splits") if splits else None
    items = asking(select(of_split(read_table(questions, "items"), asked_split), None, table, split, only))
    samples = max([1, *(how.samples for how in drawn)])
    word = "x" * (CHARACTERS - 1) + " "
    long = CHARACTERS * max_new_tokens

    def said(number: int, parts: int) -> str:
        if not parts:
            return f"{number} {word * max_new_tokens}"[:long].strip()
        each = max(long // parts - len("1. "), 12)
        return numbered([f"{number}-{part} {word * max_new_tokens}"[:each] for part in range(parts)])[0]

    counts = items["parts"].map(len).repeat(samples).tolist()
    texts = [said(number, parts) for number, parts in enumerate(counts)]
    told = pd.DataFrame({
        "item_id": items["item_id"].repeat(samples).to_numpy(), "sample": list(range(samples)) * len(items), "part": 0,
        "text": texts, "n_tokens": max_new_tokens, "finish_reason": "length",
    })  # fmt: skip
    for path in [answers] if isinstance(answers, str) else answers:
        write_table(told, path, "answers")
