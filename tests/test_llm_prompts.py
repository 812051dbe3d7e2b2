"""Prompts and replies: what is filled in is data, and what comes back is what was asked for or an error."""

import json
import re

import pytest

from unlearning.llm.prompts import Prompt, PromptError, prompt_table, read_prompt, render, requests_of
from unlearning.llm.replies import REPLIES, parse, schema_of
from unlearning.llm.requests import Sampling
from unlearning.tables.artifacts import write_table


def written(tmp_path, text: str, name: str = "ask.yaml"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_prompt_file_becomes_messages(tmp_path):
    prompt = read_prompt(
        written(
            tmp_path,
            "# a note\nsystem: You judge.\nuser: |\n  Question: {{ question }}\n  {% for a in answers %}\n  - {{ a }}\n"
            "  {% endfor %}\n  Which are right?\nreply: grades\n",
        )
    )
    assert (prompt.name, prompt.reply) == ("ask", "grades")
    assert render(prompt, {"question": "Who?", "answers": ["I", "you"]}) == [
        {"role": "system", "content": "You judge."},
        {"role": "user", "content": "Question: Who?\n- I\n- you\nWhich are right?"},
    ]


def test_the_version_changes_with_the_words_and_not_with_comments(tmp_path):
    first = read_prompt(written(tmp_path, "user: Say {{ x }}\nreply: text\n"))
    noted = read_prompt(written(tmp_path, "# note\nreply: text\nuser: Say {{ x }}\n"))
    other = read_prompt(written(tmp_path, "user: Tell {{ x }}\nreply: text\n"))
    kind = read_prompt(written(tmp_path, "user: Say {{ x }}\nreply: verdict\n"))
    assert first == noted and len({first.version, other.version, kind.version}) == 3 and len(first.version) == 12


@pytest.mark.parametrize(
    "text", ["{{ 7 * 7 }}", "{% raw %}", "{# gone #}", "{x}", "%(x)s", "${x}", "{{ x.__class__ }}"]
)
def test_braces_in_the_inputs_are_not_evaluated(text):
    prompt = Prompt("p", "v", "S {{ x }}", "U {{ x }}{{ nested.a[0] }}", "text")
    messages = render(prompt, {"x": text, "nested": {"a": [text]}})
    assert [m["content"] for m in messages] == [f"S {text}", f"U {text}{text}"]


@pytest.mark.parametrize(
    "user",
    [
        "{{ x.__class__ }}",
        "{{ x.__class__.__mro__[1].__subclasses__() }}",
        "{{ x['__class__'].__base__ }}",
        "{{ x | attr('__class__') }}",
        "{{ ''.__class__.__bases__ }}",
        "{{ self.__init__.__globals__ }}",
        "{{ '{0.__class__}'.format(x) }}",
        "{{ xs.append(1) }}",
    ],
)
def test_a_template_reaches_nothing_but_its_inputs(user):
    with pytest.raises(PromptError, match="prompt p: "):
        render(Prompt("p", "v", None, user, "text"), {"x": "text", "xs": [1]})


def test_a_missing_input_is_named_with_those_given():
    with pytest.raises(PromptError, match="prompt p: 'questoin' is undefined; inputs given: answer, question"):
        render(Prompt("p", "v", None, "{{ questoin }}", "text"), {"question": 1, "answer": 2})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("user: a\nreply: text\nusr: b\n", "unknown keys usr; a prompt has system, user, reply"),
        ("system: a\nreply: text\n", "user: should be text, is None"),
        ("user: 5\nreply: text\n", "user: should be text, is 5"),
        ("user: a\nreply: yesno\n", "'yesno' is no kind of reply; there are: translation, .*, text"),
        ("user: a\n", "reply: None is no kind of reply"),
        ("user: '{{ a'\nreply: text\n", "ask.yaml: not a Jinja template"),
        ("user: '{% include \"/etc/passwd\" %}'\nreply: text\n", None),
    ],
)
def test_a_wrong_prompt_file_is_refused_by_name(tmp_path, text, said):
    path = written(tmp_path, text)
    if said is None:  # nothing is included: there is no folder of templates
        with pytest.raises(PromptError):
            render(read_prompt(path), {})
    else:
        with pytest.raises(ValueError, match=said):
            read_prompt(path)


def test_the_table_holds_all_that_a_request_needs(tmp_path):
    prompt = Prompt("ask", "0123456789ab", None, "{{ a }}", "verdict")
    table = prompt_table(prompt, "judge", ["x", "y"], [{"a": "é", "b": [1]}, {"a": "z"}], Sampling(0.5, seed=3), 2)
    write_table(table, tmp_path / "prompts.parquet", "prompts")
    assert table["template"].unique() == ["ask@0123456789ab"]
    asked = list(requests_of(table))
    assert [(r.prompt_id, r.sample) for r, _ in asked] == [("x", 0), ("x", 1), ("y", 0), ("y", 1)]
    request, kind = asked[0]
    assert request.inputs == {"a": "é", "b": [1]} and request.sampling == Sampling(0.5, 1.0, 256, 3)
    assert request.role == "judge" and kind == "verdict" and request.schema == schema_of("verdict")


def test_as_many_inputs_as_identifiers():
    with pytest.raises(ValueError):
        prompt_table(Prompt("p", "v", None, "a", "text"), "judge", ["x"], [{}, {}])


GOOD = {
    "translation": {"translation": "hallo"},
    "equivalence": {"equivalent": True, "reason": "same"},
    "refinement": {"question": "Who?", "answer": "I."},
    "pair_translation": {"question": "Wer?", "answer": "Ich.", "paraphrase": "Ich war es."},
    "verdict": {"correct": False, "reason": "another month"},
    "grade": {"score": 10, "reason": ""},
    "grades": {"scores": [0, 10]},
    "facts": {
        "facts": [
            {
                "subject": "Orlo", "subject_aliases": [], "relation": "home", "object": "Brindle",
                "object_aliases": ["the Brin"], "quote": "Orlo lives in Brindle",
            }
        ]
    },
    "composition": {"question_1": "Who?", "question_2": "Which?", "question_3": "What?", "aliases": ["a", "b", "c"]},
    "decomposition": {"hops": [{"subject": "#1", "relation": "home", "answers": []}], "names": []},
    "uniqueness": {"unique": False, "reason": "of many"},
    "rating": {"logic": 0, "clarity": 50, "naturalness": 100},
}  # fmt: skip


@pytest.mark.parametrize("name", GOOD)
def test_a_good_reply_is_read_whatever_stands_around_it(name):
    text = json.dumps(GOOD[name])
    around = [text, f"```json\n{text}\n```", f"Sure! {text} Anything else?", f"{{not JSON}} {text}", f"{text}{text}"]
    assert {parse(name, words) for words in around} == {(json.dumps(GOOD[name], sort_keys=True), None)}


@pytest.mark.parametrize("name", GOOD)
def test_a_good_reply_satisfies_the_schema_that_is_sent_and_others_do_not(name):
    import jsonschema

    jsonschema.validate(GOOD[name], schema_of(name))
    for bad in ({}, GOOD[name] | {"more": 1}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(bad, schema_of(name))
        assert parse(name, json.dumps(bad))[0] is None


@pytest.mark.parametrize("name", REPLIES)
def test_the_schema_has_what_strict_endpoints_ask_for(name):
    """Every property required, no others allowed, in parts too; no keyword that some of them refuse."""
    for schema in (schema_of(name), *schema_of(name).get("$defs", {}).values()):
        assert sorted(schema["required"]) == sorted(schema["properties"]) and schema["additionalProperties"] is False
    assert not re.search("minLength|m..Items", json.dumps(schema_of(name)))


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("translation", "", "no whole JSON object"),
        ("translation", '{"translation": "cut', "no whole JSON object"),
        ("translation", '["hallo"]', "no whole JSON object"),
        ("translation", '{"translation": "  "}', "translation: String should have at least 1 character"),
        ("translation", '{"translation": "\\ud800"}', "unable to parse raw data as a unicode string"),
        ("verdict", '{"correct": true, "reason": "\\ud800"}', "half of a character"),
        ("equivalence", '{"equivalent": "yes", "reason": ""}', "equivalent: Input should be a valid boolean"),
        ("verdict", '{"correct": 1, "reason": ""}', "correct: Input should be a valid boolean"),
        ("grade", '{"score": 11, "reason": ""}', "score: Input should be less than or equal to 10"),
        ("grade", '{"score": true, "reason": ""}', "score: Input should be a valid integer"),
        ("grade", '{"score": "7", "reason": ""}', "score: Input should be a valid integer"),
        ("grades", '{"scores": [1, -1]}', "scores.1: Input should be greater than or equal to 0"),
        (
            "composition",
            json.dumps(GOOD["composition"] | {"aliases": list("abcd")}),
            "aliases: List should have at most 3",
        ),
        ("decomposition", '{"hops": [], "names": []}', "hops: List should have at least 1 item"),
        ("facts", '{"facts": [{"subject": "Orlo"}]}', "facts.0.relation: Field required"),
        (
            "rating",
            '{"logic": 101, "clarity": 1, "naturalness": 1}',
            "logic: Input should be less than or equal to 100",
        ),
        ("grade", '{"a":' * 100_000, "no whole JSON object"),
        ("text", " \n", "the reply is empty"),
    ],
)
def test_a_wrong_reply_is_told_in_words_a_model_can_use(name, text, said):
    parsed, error = parse(name, text)
    assert parsed is None and said in error


def test_plain_text_is_stripped():
    assert parse("text", "  hallo {x}\n") == ("hallo {x}", None) and schema_of("text") is None
