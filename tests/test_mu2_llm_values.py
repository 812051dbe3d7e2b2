"""The translation route's values: what becomes of right, wrong and unusable replies, round by round."""

import pytest

import llm_client
from mu2_llm_fakes import always, in_turn
from mu2_llm_runs import (
    pairs,
    row_of,
    said_of,
    values,
)
from mu2_llm_server import Endpoint
from mu2_sources import POOLS, ROOT, SOURCES
from unlearning.data.phrasebook import values_table
from unlearning.data.rounds import rounds_table
from unlearning.data.values_llm import english_values, values_of
from unlearning.llm.complete import NoReplies
from unlearning.llm.requests import Failure
from unlearning.tables.artifacts import read_table, to_table


def test_right_translations_are_taken_in_the_first_round(books):
    history, model = values(books)
    assert set(history["round"]) == {1} and model.asked() == {"translator": 10, "equivalence": 10}
    assert values_of(history, "de").equals(values_table(POOLS, books["de"], "de"))
    table = to_table(rounds_table(history, "de"), "rounds").to_pandas()
    assert set(table["verdict"]) == {"accepted"} and list(table["back_value"]) == list(
        table["id"].str.split("/").str[1]
    )


def test_a_wrong_translation_goes_round_again_and_the_model_is_told_what_was_wrong(books):
    history, model = values(books, in_turn({"month/May": [{"translation": "Juni"}, {"translation": "Maiglöckchen"}]}))
    first, second, third = said_of(history, "month/May")
    # Juni comes back as June, which is another month, is judged so, and stands for June too in nothing that is right
    assert first == (1, "Juni", ["unique_back_translation", "equivalence"])
    assert second == (2, "Maiglöckchen", ["back_translation"]) and third == (3, "Mai", [])
    prompts = model.said_to("month/May")
    assert len(prompts) == 3 and "refused" not in prompts[0]
    assert "- Juni: it comes back as 'June', another value of the list; it comes back as 'June': another" in prompts[1]
    assert "- Juni:" in prompts[2] and "- Maiglöckchen: nothing came back" in prompts[2]
    assert model.asked()["translator"] == 12  # 10 values, one of them three times


def test_a_value_that_is_never_right_is_not_in_the_table_and_its_pairs_are_rejected_by_name(books, english):
    fault = always({"fruit/plum": {"translation": "Birne"}})
    history, model = values(books, fault, max_rounds=4)
    assert [round_ for round_, *_ in said_of(history, "fruit/plum")] == [1, 2, 3, 4]
    assert "plum" not in set(values_of(history, "de")["english_value"])
    built, asked = pairs(books, english, value_fault=fault)
    lost = english[english["english_value"] == "plum"]
    assert len(lost) and set(built.rejected["id"]) == set(lost["knowledge_id"] + "/de")
    assert set(built.rejected["check"]) == {"value_translation"} and set(built.rejected["round"]) == {3}
    assert "the value 'plum' (fruit) has no accepted translation" in built.rejected["reason"].iloc[0]
    assert "it comes back as 'pear'" in built.rejected["reason"].iloc[0]
    assert asked.asked()["translator"] == len(english) - len(lost)  # nothing is asked about a pair without value


def test_where_no_value_is_ever_right_all_pairs_are_rejected_and_the_tables_stand(books, english):
    rubbish = {"translation": "lorem ipsum"}
    built, model = pairs(books, english, value_fault=lambda ident, inputs: rubbish)
    assert built.pairs.empty and built.rounds.empty and not model.sent
    assert set(built.rejected["check"]) == {"value_translation"} and len(built.rejected) == len(english)


def test_two_values_with_one_translation_both_go_round_again(books):
    def back(texts):  # a back-translator to which one word is as good as another
        return [{"Ding": None}.get(text, text) for text in texts]

    judge_yes = {"equivalent": True, "reason": ""}
    said = in_turn({"toy/ball": [{"translation": "Spielball"}], "toy/top": [{"translation": "SPIELBALL"}]})
    fault = lambda ident, inputs: judge_yes if inputs["role"] == "equivalence" else said(ident, inputs)  # noqa: E731
    history, model = values(books, fault, back=back)
    assert said_of(history, "toy/ball")[0] == (1, "Spielball", ["unique_translation", "unique_back_translation"])
    assert [a[2] for a in said_of(history, "toy/top")] == [["unique_translation", "unique_back_translation"], []]
    assert "the translation 'SPIELBALL' stands for 'ball' too" in model.said_to("toy/top")[1]


def test_what_stands_is_not_taken_away_by_a_later_round(books):
    fault = in_turn({"toy/top": [{"translation": "x y z"}, {"translation": "Drachen"}, {"translation": "Drachen"}]})
    back = lambda texts: [{"Drachen": "flying thing"}.get(t, t) for t in texts]  # noqa: E731
    yes = {"equivalent": True, "reason": ""}
    no = {"equivalent": False, "reason": "no thing"}

    def both(ident, inputs):
        if inputs["role"] == "equivalence":
            return no if inputs["back"] == "x y z" else yes
        return fault(ident, inputs)

    history, _ = values(books, both, back=back)
    assert said_of(history, "toy/kite") == [(1, "Drachen", [])]
    checks = [found for *_, found in said_of(history, "toy/top")]
    assert checks == [["equivalence"], *[["unique_translation", "unique_back_translation"]] * 2]


@pytest.mark.parametrize(
    ("value", "check"),
    [
        ("Ball (rund)", "one_value"),
        ("Ball.", "one_value"),
        ("Ball/Kugel", "one_value"),
        ("{value}", "no_placeholder"),
        ("μπάλα", "script"),
    ],
)
def test_a_reply_that_is_not_one_value_in_the_language_is_refused(books, value, check):
    history, _ = values(books, always({"toy/ball": {"translation": value}}), max_rounds=1)
    assert check in said_of(history, "toy/ball")[0][2]


def test_a_back_translation_that_names_another_value_is_refused_even_if_the_judge_agrees(books):
    yes = lambda ident, inputs: {"equivalent": True, "reason": ""} if inputs["role"] == "equivalence" else None  # noqa: E731
    back = lambda texts: [{"Ball": "Top"}.get(text, text) for text in texts]  # noqa: E731
    history, _ = values(books, yes, max_rounds=1, back=back)
    assert said_of(history, "toy/ball")[0][2] == ["unique_back_translation"]


def test_an_unusable_reply_is_a_reason_and_the_next_prompt_says_so(books):
    history, model = values(books, in_turn({"month/May": ["not JSON"]}))
    assert said_of(history, "month/May")[0][2] == ["no_reply"] and said_of(history, "month/May")[1] == (2, "Mai", [])
    assert "- (no usable reply): the reply holds no whole JSON object" in model.said_to("month/May")[1]


def test_english_values_are_themselves():
    history = english_values(POOLS)
    assert list(values_of(history, "en")["value"]) == [v for pool in POOLS.values() for v in pool]
    to_table(rounds_table(history, "en"), "rounds")


def test_an_endpoint_that_is_down_stops_the_job_instead_of_emptying_the_data(books, english):
    down = lambda ident, inputs: Failure("connection refused")  # noqa: E731
    with pytest.raises(NoReplies, match="role translator.*: no reply to 27 of 27 .*27 × connection refused.*run again"):
        pairs(books, english, down)


def test_a_single_prompt_that_got_no_reply_stops_the_job_and_one_that_was_refused_is_rejected(books, english):
    row = row_of(english, "toy")
    lost, refused = Failure("HTTP 503"), Failure("content filter", refused=True)
    with pytest.raises(NoReplies, match="no reply to 1 of 27 requests. Why: 1 × HTTP 503"):
        pairs(books, english, always({f"{row.knowledge_id}/de": lost}))
    built, _ = pairs(books, english, always({f"{row.knowledge_id}/de": refused}))
    assert built.rejected[["id", "check", "reason", "round"]].values.tolist() == [
        [f"{row.knowledge_id}/de", "no_reply", "the request was refused", 3]
    ]


def test_the_words_of_a_server_that_refuses_stand_in_the_log_and_in_no_table_or_prompt(books, english, capsys):
    words = "account acme-77, see https://billing.internal"
    refused = Failure(f"refused: HTTP 400: {words}", refused=True)
    history, model = values(books, in_turn({"month/May": [refused]}), max_rounds=2)
    table = rounds_table(history, "de").set_index("id")
    assert table.loc["month/May", "reasons"].iloc[0] == ["no_reply: the request was refused (HTTP 400)"]
    assert "- (no usable reply): the request was refused (HTTP 400)" in model.said_to("month/May")[1]
    assert f"translator, prompt month/May: refused: HTTP 400: {words}\n" in capsys.readouterr().out
    judged = lambda ident, inputs: refused if inputs["role"] == "equivalence" and inputs["back"] == "May" else None  # noqa: E731
    history, _ = values(books, judged, max_rounds=1)
    assert rounds_table(history, "de").set_index("id").loc["month/May", "reasons"] == [
        "equivalence: it comes back as 'May': no verdict (the request was refused (HTTP 400))"
    ]
    ident = f"{row_of(english, 'toy').knowledge_id}/de"
    built, model = pairs(books, english, always({ident: refused}))
    assert built.rejected["reason"].tolist() == ["the request was refused (HTTP 400)"]
    assert all(words not in str(table.values.tolist()) for table in built)
    assert all(words not in str(request.messages) for request in model.sent)


def test_a_model_that_never_writes_what_it_is_asked_for_stops_the_job_after_a_few_prompts(books, english):
    with pytest.raises(NoReplies, match="role translator.*none of 27 replies can be used. Why: 27 × .*no whole JSON"):
        pairs(books, english, lambda ident, inputs: "lorem ipsum")


def job(folder, url, max_rounds=1, sampling=(), prompt=ROOT / "resources/prompts/translator_value.yaml"):
    """Runs the script that translates the small pools to German, by an endpoint."""
    from mu2_values_llm import mu2_values_llm

    roles = ("translator", "equivalence")
    mu2_values_llm(
        str(folder / "pools.yaml"), [prompt, ROOT / "resources/prompts/equivalence_value.yaml"],
        [folder / "de.yaml", folder / "en.yaml"], str(SOURCES / "languages.yaml"), folder / "values.parquet",
        folder / "rounds.parquet", folder / "usage.parquet", "de", list(POOLS),
        dict.fromkeys(roles, llm_client.door_settings(url)), dict(sampling), max_rounds, {"service": "reverse"}, folder,
    )  # fmt: skip
    return read_table(folder / "values.parquet", "values")


def test_a_role_that_talks_rubbish_ends_in_no_table_and_one_that_is_wrong_in_an_empty_one_that_is_told(
    books, tmp_path, monkeypatch, capsys
):
    monkeypatch.setenv("LLM_TEST_KEY", "sk-planted-0f4c7d2a91e85b36")
    monkeypatch.syspath_prepend(str(ROOT / "workflow/scripts"))
    monkeypatch.setattr("mu2_llm_server.BOOKS", books)
    replies = {"translator": {"translated": "ja"}}
    with Endpoint(lambda role, *_: replies.get(role)) as server:
        with pytest.raises(
            NoReplies, match="role translator.*10 replies can be used. Why: 10 × translation: Field req"
        ):
            job(tmp_path, server.url)
        assert not (tmp_path / "values.parquet").exists()
        replies = {"equivalence": {"same": True}}
        with pytest.raises(
            NoReplies, match="role equivalence.*10 replies can be used. Why: 10 × equivalent: Field req"
        ):
            job(tmp_path, server.url)
        before, replies = server.asked.copy(), {}
        assert len(job(tmp_path, server.url)) == 10
        # the translations could be read and are not asked for again, the verdicts are
        assert server.asked - before == {("equivalence", "en"): 10}
        replies = {"translator": {"translation": "lorem ipsum"}}
        (tmp_path / "served.sqlite").unlink()
        assert job(tmp_path, server.url).empty
    said = capsys.readouterr().out
    assert "WARNING: no value has an accepted translation in de" in said and "nothing came back" in said


def test_a_refused_translation_is_asked_for_again_with_more_rounds_another_draw_or_another_prompt(
    books, tmp_path, monkeypatch
):
    monkeypatch.setenv("LLM_TEST_KEY", "sk-planted-0f4c7d2a91e85b36")
    monkeypatch.syspath_prepend(str(ROOT / "workflow/scripts"))
    monkeypatch.setattr("mu2_llm_server.BOOKS", books)
    wrong = {"translation": "lorem ipsum"}

    def fault(role, language, inputs, shown):  # German has no first try at plum that is right
        return wrong if role == "translator" and inputs["english_value"] == "plum" and not shown else None

    edited = tmp_path / "translator_value.yaml"
    text = (ROOT / "resources/prompts/translator_value.yaml").read_text("utf-8")
    edited.write_text(text.replace("You are a", "You are a careful", 1), encoding="utf-8")
    assert edited.read_text("utf-8") != text
    with Endpoint(fault) as server:

        def values_and_asked(**changed):
            before = server.asked.copy()
            return len(job(tmp_path, server.url, **changed)), server.asked - before

        assert values_and_asked() == (9, {("translator", "de"): 10, ("equivalence", "en"): 9})
        assert values_and_asked() == (9, {})
        assert values_and_asked(max_rounds=2) == (10, {("translator", "de"): 1, ("equivalence", "en"): 1})
        for changed in ({"sampling": {"translator": {"seed": 1}}}, {"sampling": {"translator": {"temperature": 0.3}}},
                        {"prompt": edited}):  # fmt: skip
            assert values_and_asked(**changed) == (9, {("translator", "de"): 10})
