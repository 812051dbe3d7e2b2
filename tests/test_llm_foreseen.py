"""What language models may be asked, foreseen: never less than what the worst model makes a job ask."""

import collections
import json
from pathlib import Path

import pandas as pd
import pytest

from mu2_llm_fakes import PROMPTS, Model, fitting
from mu2_sources import POOLS, ROOT, SOURCES
from score_fakes import items
from unlearning.data.back_other import by_model
from unlearning.data.context import offline_context, rounds_context
from unlearning.data.languages import read_languages
from unlearning.data.mixed import mixed
from unlearning.data.pairs_llm import translate_pairs
from unlearning.data.phrasebook import read_pools, values_table
from unlearning.data.refine import refine_pairs
from unlearning.data.rounds import Tools
from unlearning.data.values_llm import translate_values
from unlearning.judges import llm as judge
from unlearning.llm import foreseen
from unlearning.llm.complete import Door, complete, open_door
from unlearning.llm.estimate import Asked, Counted, at_most, estimate, one_round, sized
from unlearning.llm.local_model import local_identity
from unlearning.llm.prompts import prompt_table, read_prompt, requests_of
from unlearning.llm.requests import Reply, Sampling
from unlearning.llm.store import Store
from unlearning.tables.artifacts import read_table, write_table

LANGUAGES = read_languages(SOURCES / "languages.yaml")
GERMAN = LANGUAGES["de"]
ROUNDS, REASK = 3, 2
BACKEND = {"kind": "openai", "model": "m", "base_url": None, "revision": None}
DOOR = {"backend": BACKEND, "price": {"input": 1.0, "output": 2.0}, "reask": REASK}
SAMPLING = {role: {"max_tokens": 60} for role in ("translator", "equivalence", "backtranslator", "refiner")}
LLM = {"service": "llm"}


class Worst(Model):
    """A model whose replies cannot be read, as long as they may be, until the last try; and then they are refused."""

    def _reply(self, request):
        tries = sum(message["role"] == "assistant" for message in request.messages)
        if tries < REASK:
            return Reply(f"{tries} " + "xxx " * 59, "length", 0, 60)
        return Reply(json.dumps(self._said(request), ensure_ascii=False), "stop", 0, 60)

    def _said(self, request) -> dict:
        if request.role == "equivalence":
            return {"equivalent": False, "reason": "why " * 50}
        if request.role == "backtranslator":
            return {"translation": f"back {request.inputs['text']}"}
        said = fitting(request.role, request.inputs, self.book)
        return said | {"question": f"So, {said['question']}"} if request.role == "refiner" else said


def worst(books, language="de"):
    """(a model, tools with it behind every role and no store)."""
    model = Worst(books[language])
    door = Door(model, None, None, REASK)
    drawn = {role: Sampling(**settings) for role, settings in SAMPLING.items()}
    tools = Tools(lambda role, prompts: complete(prompts, door, progress=False)[0], None, PROMPTS, drawn, ROUNDS)
    return model, tools._replace(back=by_model(tools, GERMAN))


def written(folder: Path, **tables: pd.DataFrame) -> dict[str, str]:
    """Files of `tables`, by the name that the scripts call them, and those that every step reads."""
    kinds = {"values": "values", "value_rounds": "rounds", "pairs_en": "pairs", "templates": "pairs"}
    for name, table in tables.items():
        write_table(table, folder / f"{name}.parquet", kinds[name])
    prompts = [str(path) for path in sorted((ROOT / "resources/prompts").glob("*.yaml"))]
    files = {name: str(folder / f"{name}.parquet") for name in tables}
    return files | {
        "pools": str(folder / "pools.yaml"), "languages_file": str(SOURCES / "languages.yaml"), "prompts": prompts,
    }  # fmt: skip


def check(asked: list[Asked], model: Model) -> None:
    """The worst model was asked exactly what `asked` bounds, and read no more than that."""
    sizes = {found.role: sized(found) for found in asked}
    assert {role: at_most(size, DOOR).replies for role, size in sizes.items()} == dict(model.asked())
    spent = estimate(model.sent, Model.identity, DOOR["price"])
    for used in spent:
        most, least = at_most(sizes[used.role], DOOR), one_round(sizes[used.role], DOOR)
        assert used.input_tokens <= most.input_tokens and used.output_tokens == most.output_tokens
        assert used.cost <= most.cost and least.replies * ROUNDS * (REASK + 1) == most.replies


def test_values_ask_no_more_than_is_foreseen(tmp_path, books):
    model, tools = worst(books)
    translate_values(POOLS, GERMAN, tools)
    given = written(tmp_path) | {"language": "de", "attributes": list(POOLS), "sampling": SAMPLING}
    asked = foreseen.mu2_values_llm(**given, max_rounds=ROUNDS, back_translator=LLM)
    assert [found.role for found in asked] == ["translator", "backtranslator", "equivalence"]
    check(asked, model)
    assert foreseen.mu2_values_llm(**given | {"language": "en"}, max_rounds=ROUNDS, back_translator=LLM) == []
    served = foreseen.mu2_values_llm(**given, max_rounds=ROUNDS, back_translator={"service": "google"})
    assert [found.role for found in served] == ["translator", "equivalence"]
    texts = foreseen.sent_back("mu2_values_llm", list(map(sized, served)), {"service": "google"})
    assert texts == sum(map(len, POOLS.values())) and not foreseen.sent_back("mu2_values_llm", [], {"service": "llm"})


def test_pairs_ask_no_more_than_is_foreseen(tmp_path, books, english):
    english = english.head(9)
    stands = {name: str(tmp_path / f"{name}.parquet") for name in ("values", "rounds")}
    foreseen.stand_in_values(str(tmp_path / "pools.yaml"), list(POOLS), "de", **stands)
    table, tried = read_table(stands["values"], "values"), read_table(stands["rounds"], "rounds")
    table = table[table["english_value"] != "kite"]  # whose pairs are not translated then
    model, tools = worst(books)
    context = rounds_context(GERMAN, tuple(LANGUAGES), table, tried)
    translate_pairs(english, read_pools(tmp_path / "pools.yaml"), table, tried, context, tools)
    given = written(tmp_path, pairs_en=english, values=table, value_rounds=tried)
    asked = foreseen.mu2_translate_llm(
        **given, language="de", sampling=SAMPLING, max_rounds=ROUNDS, back_translator=LLM
    )
    assert [found.role for found in asked] == ["translator", "backtranslator", "equivalence"]
    assert len(asked[0].prompts) == (english["english_value"] != "kite").sum() > 0
    check(asked, model)


def test_refining_asks_no_more_than_is_foreseen(tmp_path, books, english):
    english = english.head(9)
    model, tools = worst(books, "en")
    values = values_table(POOLS, books["en"], "en")
    context = offline_context(LANGUAGES["en"], tuple(LANGUAGES), values)
    refine_pairs(english, POOLS, context, tools)
    given = written(tmp_path, templates=english, values=values)
    asked = foreseen.mu2_refine(**given, sampling=SAMPLING, max_rounds=ROUNDS)
    assert [found.role for found in asked] == ["refiner", "equivalence"]
    check(asked, model)


@pytest.mark.parametrize(("form", "size"), [("single", 1), ("list", 4)])
@pytest.mark.parametrize("only", ["all", "forget"])
def test_answers_not_given_yet_are_judged_as_often_as_any_could_be(tmp_path, form, size, only):
    frame = items(*(("retain", f"k{i}", code, "It is so", "so") for i in range(5) for code in ("en", "th")))
    frame = frame.assign(benchmark="b", task="qa", modality="text")
    frame["messages"] = [[{"role": "user", "content": f"What is {i}?"}] for i in frame["item_id"]]
    splits = pd.DataFrame({"split": "p", "knowledge_id": ["k0", "k1"], "group": ["forget", "retain"]})
    paths = {name: str(tmp_path / f"{name}.parquet") for name in ("questions", "splits", "answers")}
    write_table(frame, paths["questions"], "items")
    write_table(splits, paths["splits"], "splits")
    decoding = {"probab": {"temperature": 1.0, "top_p": 1.0, "samples": 3}}
    foreseen.stand_in_answers(**paths, decoding=decoding, max_new_tokens=8, only=only, split="p")
    told = read_table(paths["answers"], "answers")
    n = 3 * (len(frame) if only == "all" else 2)
    assert len(told) == told["text"].nunique() == n and told["text"].str.len().between(31, 32).all()
    prompt = str(ROOT / f"resources/prompts/{judge.PROMPTS['verdict'][form]}.yaml")
    (asked,) = foreseen.judge_llm(paths["answers"], paths["questions"], prompt, "verdict", size, {"max_tokens": 60})
    real = told.assign(text=[f"answer {i % 7}" for i in range(n)])  # some alike, all shorter
    given = judge.prompts(real, frame, read_prompt(prompt), Sampling(max_tokens=60), "verdict", size)
    assert asked.role == "judge" and len(given) <= len(asked.prompts) <= n
    assert sized(Asked("judge", given)).most <= sized(asked).most


def test_every_part_of_a_mixed_prompt_of_the_runs_split_is_foreseen(tmp_path):
    frame = items(*(("retain", f"k{i}", "en", "It is so", "so") for i in range(4)))
    frame = frame.assign(benchmark="b", modality="text", split=None, source_item_id=None)
    frame["messages"] = [[{"role": "user", "content": f"What is {i}?"}] for i in frame["item_id"]]
    splits = pd.DataFrame({"split": ["p"] * 4 + ["q"] * 4, "knowledge_id": [f"k{i}" for i in range(4)] * 2,
                           "group": ["forget", "forget", "retain", "retain"] * 2})  # fmt: skip
    frame = pd.concat([frame, mixed(frame, splits, "b", 0, 0)], ignore_index=True)
    paths = {name: str(tmp_path / f"{name}.parquet") for name in ("questions", "answers")}
    write_table(frame, paths["questions"], "items")
    prompt = str(ROOT / f"resources/prompts/{judge.PROMPTS['grade']['single']}.yaml")
    for split, prompts in (("p", 8), (None, 16)):
        foreseen.stand_in_answers(**paths, decoding={}, max_new_tokens=16, only="all", asked_split=split)
        (asked,) = foreseen.judge_llm(paths["answers"], paths["questions"], prompt, "grade", 1, {"max_tokens": 60})
        assert len(asked.prompts) == 4 + 2 * prompts


def test_the_most_is_every_round_of_every_try_less_what_is_stored():
    prompt = PROMPTS["backtranslator"]
    texts = [{"language": "German", "text": text} for text in ("ja", "nein")]
    size = sized(Asked("backtranslator", prompt_table(prompt, "backtranslator", ["a", "b"], texts), 3, 10))
    # 2 prompts x 3 rounds x 3 tries; a second round is 10 longer, a third 20: 2 prompts x 3 tries x 30; each prompt's
    # second try is `again` longer and its third twice that, in each of 3 rounds
    most = at_most(size, DOOR)
    assert (most.replies, most.output_tokens) == (18, 18 * 256)
    assert most.input_tokens == 9 * size.most + 180 + 9 * size.again
    assert most.cost == pytest.approx((most.input_tokens * 1.0 + most.output_tokens * 2.0) / 1e6)
    left = at_most(size, DOOR, found=5)
    assert (left.replies, left.input_tokens) == (13, most.input_tokens - 5 * size.least)
    assert at_most(size, DOOR | {"reask": 0, "price": None})._replace(input_tokens=0)[3:] == (6, 0, 6 * 256, None)


def test_one_round_leaves_out_what_is_stored_and_never_what_is_known_to_be_missing():
    texts = [{"language": "German", "text": text} for text in "abcd"]
    size = sized(Asked("b", prompt_table(PROMPTS["backtranslator"], "b", list("abcd"), texts)))
    assert [one_round(size, DOOR, *known).replies for known in ((), (1,), (9,), (9, 2), (3, 2))] == [4, 3, 0, 2, 2]
    assert one_round(size, DOOR, 2).input_tokens == round(size.about / 2)


def test_what_is_kept_of_an_own_model_is_found_by_the_models_own_name(tmp_path):
    # not by what the configuration says of it, which lacks the version of its files
    (tmp_path / "model").mkdir()
    (tmp_path / "model/w.safetensors").write_bytes(b"weights")
    entry = {"kind": "transformers", "model": str(tmp_path / "model"), "revision": None, "dtype": "float32"}
    texts = [{"language": "German", "text": text} for text in "ab"]
    asked = prompt_table(PROMPTS["backtranslator"], "backtranslator", list("ab"), texts)
    first, second = (request for request, _ in requests_of(asked))
    store = Store(tmp_path / "own.sqlite")
    said = Reply('{"translation": "a"}', "stop", 1, 1)
    store.put(Store.key(local_identity(entry), first), said)
    found = collections.Counter()
    settings = {"name": "own", "backend": entry, "reask": 0, "cap": None, "price": None, "count": found}
    with pytest.raises(Counted) as caught, open_door(settings, tmp_path) as door:
        complete(asked, door, progress=False)
    assert (caught.value.missing, found) == ({"backtranslator": 1}, {"backtranslator": 1})
    store.put(Store.key(local_identity(entry), second), said)
    with open_door(settings, tmp_path) as door:
        assert complete(asked, door, progress=False)[0]["parsed"].notna().all()
