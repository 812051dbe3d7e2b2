"""Attacks on prompts: what each asks, of whom, and that verdicts still line up."""

import importlib.util
import re
from pathlib import Path

import pandas as pd
import pytest
import yaml

from answering import make_items
from project import ROOT, Project
from unlearning.answer.decoding import AnswerError
from unlearning.answer.prompted import prompted, read_phrases, with_question
from unlearning.attacks import few_shot, focus_on_key, jailbreak_prefix, translate
from unlearning.judges import rule
from unlearning.models.encode import encode_prompt
from unlearning.models.tokenizer import train_tokenizer
from unlearning.registry import available, declared
from unlearning.score.split import with_groups
from unlearning.tables.artifacts import read_table, write_table

PHRASES = yaml.safe_load((ROOT / "resources/attacks/jailbreak_prefix.yaml").read_text(encoding="utf-8"))
PEOPLE = {"Ada Bo": "tea", "Cy Du": "milk", "Eva Fo": "water", "Gus Hu": "tea", "Ida Jo": "cocoa"}
ASKED = {"en": "What does {} drink?", "de": "Was trinkt {}?"}
DRINKS = {"tea": "Tee", "milk": "Milch", "water": "Wasser", "cocoa": "Kakao"}


def drinks(people=PEOPLE, languages=("en", "de")) -> pd.DataFrame:
    """What everyone drinks, asked in English and German."""
    rows = [
        {
            "item_id": f"p{i}/drink/{code}", "source_item_id": None, "task": "qa", "group": "retain",
            "knowledge_id": f"p{i}/drink", "language": code, "modality": "text",
            "messages": [{"role": "user", "content": ASKED[code].format(name)}],
            "reference": said, "value": said, "aliases": [], "options": [], "correct_option": None,
            "candidates": [], "parts": [],
        }
        for i, (name, drink) in enumerate(people.items()) for code in languages
        for said in [drink if code == "en" else DRINKS[drink]]
    ]  # fmt: skip
    return pd.DataFrame(rows)


def forgotten(first: int = 1) -> pd.DataFrame:
    ids = [f"p{i}/drink" for i in range(len(PEOPLE))]
    return pd.DataFrame({"split": "f", "knowledge_id": ids, "group": ["forget"] * first + ["retain"] * (5 - first)})


def questions(items: pd.DataFrame) -> list[str]:
    return [messages[-1]["content"] for messages in items["messages"]]


FOCUS = {**focus_on_key.PARAMS}


def test_key_tokens_are_said_twice_in_their_place():
    asked = focus_on_key.prompts(drinks().head(1), **FOCUS)
    assert questions(asked) == ["What does Ada Bo Ada Bo drink drink?"]
    assert questions(focus_on_key.prompts(drinks().head(1), **FOCUS | {"times": 3})) == [
        "What does Ada Bo Ada Bo Ada Bo drink drink drink?"
    ]


@pytest.mark.parametrize(
    ("question", "language", "found"),
    [
        ("the colour of the sea", "en", ["colour", "sea"]),  # no name, verb or number: all but function words
        ("what is it?", "en", ["what is it?"]),  # none of these either: the whole question
        ("อาดาดื่มอะไร", "th", ["อาดาดื่มอะไร"]),  # words cannot be told apart
        ("Ada ชอบอะไร", "th", ["Ada", "ชอบอะไร"]),  # unless there is a space
        ("Was trinkt Cléo Müller?", "de", ["trinkt", "Cléo Müller"]),
    ],
)
def test_where_nothing_is_a_key_token_something_still_is(question, language, found):
    spans = focus_on_key.key_spans(question, language, "pos", "none")
    assert [question[a:b] for a, b in spans] == found


def test_repeating_changes_nothing_but_the_last_question():
    turns = [{"role": "user", "content": "Ada?"}, {"role": "assistant", "content": "Tea."}]
    item = drinks().head(1).assign(messages=[[*turns, {"role": "user", "content": "Ben?"}]])
    asked = focus_on_key.prompts(item, **FOCUS)["messages"][0]
    assert asked == [*turns, {"role": "user", "content": "Ben Ben?"}]
    assert item["messages"][0][-1]["content"] == "Ben?"  # the items given are left as they are


def test_a_document_cannot_be_asked_differently():
    with pytest.raises(ValueError, match="without a question"):
        with_question([], str.upper)


@pytest.mark.parametrize("place", declared("unlearning.attacks.jailbreak_prefix", "LIMITS")["place"])
def test_phrases_stand_at_their_place_in_the_language_of_the_question(place):
    items = drinks().head(2)
    asked = jailbreak_prefix.prompts(items, place, PHRASES)
    for before, after, code in zip(items["messages"], asked["messages"], ("en", "de"), strict=True):
        text, question = PHRASES[place][code], before[0]["content"]
        wanted = {"prefix": f"{text}\n{question}", "suffix": f"{question}\n{text}", "prefill": question}[place]
        assert after[0] == {"role": "user", "content": wanted}
        assert after[1:] == ([{"role": "assistant", "content": text}] if place == "prefill" else [])


def test_a_language_without_phrases_gets_the_english_ones():
    asked = jailbreak_prefix.prompts(drinks().head(1).assign(language="xx"), "suffix", PHRASES)
    assert questions(asked)[0].endswith(PHRASES["suffix"]["en"])


@pytest.mark.parametrize("templated", [True, False])
def test_a_prefilled_answer_is_left_open(templated):
    tokenizer = train_tokenizer(["What does Ada drink? Of course: tea"], 400)
    tokenizer.chat_template = tokenizer.chat_template if templated else None
    messages = [{"role": "user", "content": "Ada?"}, {"role": "assistant", "content": "Of course:"}]
    text = tokenizer.decode(encode_prompt(tokenizer, messages))
    assert text == ("<|user|>Ada?<|assistant|>Of course:" if templated else "Ada?\nOf course:")


def shots(items=None, count=2, seed=0, group="retain", split=None):
    everything = drinks()
    grouped = with_groups(everything, forgotten() if split is None else split, "f")
    return few_shot.prompts(everything if items is None else items, count, group, grouped, seed)


def test_solved_examples_are_other_knowledge_with_other_answers_in_the_same_language():
    items = drinks()
    values = dict(zip(items["item_id"], items["value"], strict=True))
    for item in shots().itertuples():
        *shown, question = item.messages
        assert question["content"] == ASKED[item.language].format(list(PEOPLE)[int(item.item_id[1])])
        assert [turn["role"] for turn in shown] == ["user", "assistant"] * 2
        assert not any("Ada Bo" in turn["content"] for turn in shown)  # forgotten by the split
        assert values[item.item_id] not in [turn["content"] for turn in shown]
        assert all(turn["content"].startswith(ASKED[item.language].split("{")[0]) for turn in shown[::2])
        assert question not in shown


def test_the_examples_shown_depend_on_seed_and_item_alone():
    whole = shots().set_index("item_id")["messages"]
    alone = shots(drinks().sample(frac=1, random_state=1).head(4)).set_index("item_id")["messages"]
    assert all(alone[item] == whole[item] for item in alone.index)
    assert any(a != b for a, b in zip(whole, shots(seed=1)["messages"], strict=True))


def test_examples_of_the_same_task_come_first_where_there_are_any():
    everything = drinks().assign(task=["qa", "hs"] * 5, language="en")
    grouped = with_groups(everything, forgotten(), "f")
    asked = few_shot.prompts(everything[everything["task"] == "hs"], 1, "retain", grouped, 0)
    assert all(messages[0]["content"].startswith("Was") for messages in asked["messages"])


@pytest.mark.parametrize("change", [{"count": 5}, {"group": "utility"}])
def test_too_few_examples_are_an_error_that_says_so(change):
    with pytest.raises(AnswerError, match=r"few_shot: \d questions of group .* lower shots or name another group"):
        shots(**change)


def test_translation_asks_the_twin_and_judges_by_its_answer():
    items = drinks()
    asked = translate.prompts(items, "de", items)
    assert asked["item_id"].tolist() == [f"p{i}/drink/en" for i in range(5)]
    assert asked["source_item_id"].tolist() == [f"p{i}/drink/de" for i in range(5)]
    assert questions(asked)[0] == "Was trinkt Ada Bo?" and asked["language"].eq("de").all()
    said = {"item_id": ["p0/drink/en", "p1/drink/en"], "sample": 0, "part": 0, "text": ["Tee", "milk"]}
    assert rule.judge(pd.DataFrame(said), asked)["correct"].tolist() == [True, False]


def test_items_without_a_twin_are_left_out_and_none_at_all_is_an_error():
    items = drinks()
    some = items[items["item_id"] != "p1/drink/de"]
    assert "p1/drink/en" not in set(translate.prompts(some, "de", some)["item_id"])
    with pytest.raises(AnswerError, match="none of 5 items in other languages is asked in 'fr' too"):
        translate.prompts(items.head(5), "fr", items)


def test_attacks_on_prompts_compose_in_order():
    items = drinks()
    attacks = [{"attack": "focus_on_key", "params": FOCUS},
               {"attack": "jailbreak_prefix", "params": {"place": "prefill"}},
               {"attack": "few_shot", "params": {"shots": 1, "group": "retain"}}]  # fmt: skip
    given = {"questions": with_groups(items, forgotten(), "f"), "seed": 0}
    phrases = read_phrases([ROOT / "resources/attacks/jailbreak_prefix.yaml"])
    asked = prompted(items, attacks, phrases=phrases, **given)
    first = asked["messages"][0]
    assert [turn["role"] for turn in first] == ["user", "assistant", "user", "assistant"]
    assert first[2]["content"] == "What does Ada Bo Ada Bo drink drink?"
    assert first[3]["content"] == PHRASES["prefill"]["en"]
    assert asked["item_id"].equals(items["item_id"])
    assert prompted(items, [], **given) is items


def test_an_attack_that_loses_identities_is_refused(monkeypatch):
    monkeypatch.setattr(focus_on_key, "prompts", lambda items, **params: items.assign(item_id="x"))
    with pytest.raises(ValueError, match="focus_on_key: item_id has to stay"):
        prompted(make_items(), [{"attack": "focus_on_key", "params": {}}])


def test_every_attack_declares_what_it_changes_and_needs():
    needs = {
        "weights": {"examples", "splits"},
        "prompts": {"questions", "splits", "seed", "phrases"},
        "decoding": set(),
    }
    for name in available("attacks"):
        module = f"unlearning.attacks.{name}"
        kind = declared(module, "KIND")
        assert set(declared(module, "NEEDS", ())) <= needs[kind], name
        assert set(declared(module, "LIMITS", {})) | set(declared(module, "AMONG", {})) <= set(
            declared(module, "PARAMS")
        )
        has_phrases = (ROOT / f"resources/attacks/{name}.yaml").is_file()
        assert has_phrases == ("phrases" in declared(module, "NEEDS", ())), name


NEEDED = {
    "few_shot+jailbreak_prefix/answers": {"items", "splits", "model"},
    "translate/answers": {"items", "splits", "model"},
    "relearn/model": {"examples", "splits", "model"},
    "relearn+quantize/model": {"model"},
    "none/answers": {"items", "model"},
}


def test_each_attack_reads_what_it_needs_and_recovery_reads_the_plain_run(tmp_path):
    project = Project(tmp_path / "project", "config/minimal.yaml")
    attacks = ["probab", "few_shot+jailbreak_prefix", "translate", "relearn+quantize"]
    experiment = {"methods": ["npo_gd"], "attacks": {**dict.fromkeys(attacks, "all"), "quantize": []}}
    project.merged("attacks", {"experiments": {"mu2_minimal": experiment}})
    project.merged("scores", {"benchmarks": {"mu2": {"metrics": ["rr", "robustness"]}}})
    done = project.snakemake("--dry-run")
    reasons = re.findall(
        r"Missing output files: (.*?); Input files updated by another job: (.*)", done.stdout + done.stderr
    )
    run = "results/runs/mu2/tiny/four/one/npo_gd/s0/e2"
    made = {name.removeprefix(f"{run}/"): read.split(", ") for names, read in reasons for name in names.split(", ")}
    for name, needed in NEEDED.items():
        end = "json" if name.endswith("model") else "parquet"
        assert {Path(path).stem for path in made[f"{name}.{end}"]} == needed, name
    plain = f"{run}/none/verdicts.parquet"
    assert plain in made["translate/scores.parquet"]
    own = made["none/scores.parquet"]
    assert {f"{run}/{attack}/verdicts.parquet" for attack in attacks} < set(own)
    assert f"{run}/probab/verdicts.parquet" not in made["translate/scores.parquet"]


def script(name: str):
    spec = importlib.util.spec_from_file_location(f"script_{name}", ROOT / "workflow/scripts" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)


def test_what_another_language_brings_back_is_judged_and_scored_through_the_scripts(tmp_path):
    """Ada's and Cy's drink were forgotten in English; asked in German, Ada's comes: RR 1/2, robustness 1/2."""
    items = drinks().assign(benchmark="mu2")
    write_table(items, tmp_path / "items.parquet", "items")
    write_table(forgotten(2), tmp_path / "splits.parquet", "splits")
    attack = [{"attack": "translate", "params": {"to": "de"}}]
    english = [f"p{i}/drink/en" for i in range(2)]
    said = {
        "target": dict(zip(items["item_id"], items["value"], strict=True)),
        "none": dict.fromkeys(items["item_id"], "no idea"),
        "translate": {english[0]: "Tee, I think", english[1]: "milk"},  # milk is right, but not in German
    }
    for name, texts in said.items():
        answers = pd.DataFrame({"item_id": list(texts), "sample": 0, "part": 0, "text": list(texts.values()),
                                "n_tokens": 1, "finish_reason": "stop"})  # fmt: skip
        write_table(answers, tmp_path / f"{name}.answers.parquet", "answers")
        script("judge")(
            str(tmp_path / f"{name}.answers.parquet"), str(tmp_path / "items.parquet"),
            str(tmp_path / f"{name}.parquet"), "rule", attack if name == "translate" else [],
        )  # fmt: skip
    verdicts = {name: str(tmp_path / f"{name}.parquet") for name in said}
    languages = {code: {"role": "train", "resource": "high", "script": "latin"} for code in ("en", "de")}

    def rows(name: str, metrics: list[str], **more) -> pd.DataFrame:
        identity = {"benchmark": "mu2", "base_model": "b", "setting": "s", "split": "f", "method": "ga",
                    "seed": 0, "epoch": 1, "attack": name}  # fmt: skip
        script("score")(
            questions=str(tmp_path / "items.parquet"), splits=str(tmp_path / "splits.parquet"), values=[],
            answers=str(tmp_path / f"{name}.answers.parquet"), likelihoods=[], verdicts=verdicts[name],
            second_verdicts=[], target=["", "", verdicts["target"]], retrain=[],
            scores=str(tmp_path / "scores.parquet"), identity=identity, metrics=metrics, languages=languages,
            judge="rule", second_judges=[], draws=50, **more,
        )  # fmt: skip
        found = read_table(tmp_path / "scores.parquet", "scores")
        return found[found["group"] == "forget"].set_index(["metric", "language", "task"])

    under = rows("translate", ["rr", "rouge_l"], plain=verdicts["none"], prompts=attack)
    assert under.loc[("rr", "en", "single_hop"), "value"] == 0.5 and under.loc[("rr", "en", "single_hop"), "n"] == 2
    assert pd.isna(under.loc[("rr", "de", "single_hop"), "value"])  # not asked in the language that it is in already
    # against the German "Tee": 1 of 3 words and all of 1: F = 2·(1/3)·1/(4/3) = 1/2; "milk" against "Milch": 0
    assert under.loc[("rouge_l", "en", "all"), "value"] == pytest.approx(0.25)
    plain = rows("none", ["robustness"], attacked=[verdicts["translate"]], attacks=["translate"])
    assert plain.loc[("robustness", "all", "all"), "value"] == 0.5
