"""Multi-hop questions: composing them, refusing bad ones, choosing among good ones."""

import pandas as pd
import pytest

from leak_facts import RESOURCES, facts, known, phrases
from unlearning.data.leak import compose, decompose, select, templates
from unlearning.data.leak.consistent import inconsistency
from unlearning.data.leak.leaks import leak, occurrences
from unlearning.data.leak.matches import match_all
from unlearning.data.leak.unique import answers, not_unique
from unlearning.data.leak.verify import verify
from unlearning.data.yaml_files import ResourceError
from unlearning.tables import artifacts

WORLD = [
    ("Ann", "P27", "France"), ("Bob", "P27", "Spain"), ("Cid", "P27", "Italy"), ("France", "P36", "Paris"),
    ("Spain", "P36", "Madrid"), ("Italy", "P36", "Rome"), ("Ann", "P641", "golf"), ("Bob", "P641", "golf"),
    ("Ann", "P26", "Eva"), ("Bob", "P19", "Oslo"), ("Cid", "P641", "judo"), ("Eva", "P641", "chess"),
]  # fmt: skip
ALIASES = {"Ann": ["Annie"], "France": ["FR", "French Republic"], "Italy": ["IT"], "golf": ["golfing"]}


@pytest.fixture(scope="module")
def world():
    return known(*WORLD, aliases=ALIASES)


def matches(knowledge, type_=None):
    return match_all(knowledge, phrases().rules, 0, types=[type_] if type_ else ("hs", "mp", "mt", "ll", "cc", "ds"))


def a_match(knowledge, type_, ident=""):
    return next(m for m in matches(knowledge, type_).itertuples(index=False) if ident in m.match_id)


def asked(match, question, knowledge, **judged):
    """What `verify` says of `question` for `match`: None, or check and reason."""
    composed = pd.DataFrame([(match.match_id, 0, question, [])], columns=["match_id", "variant", "question", "aliases"])
    split = decompose.decompose(composed, phrases(), knowledge)
    verdicts = pd.DataFrame([{"match_id": match.match_id, "variant": 0, **judged}]) if judged else None
    found = verify(pd.DataFrame([match._asdict()]), composed, split, knowledge, verdicts)
    assert len(found.questions) + len(found.rejected) == 1
    return None if found.rejected.empty else tuple(found.rejected.loc[0, ["check", "reason"]])


@pytest.mark.parametrize(
    ("type_", "ident", "question"),
    [
        ("hs", "Ann:P27", "Which city is the capital city of the country that Ann is a citizen of?"),
        ("mp", "Ann:P27", "As a rule, the home capital of a person is the capital of the country whose citizenship "
         "that person has. What is the home capital of Ann?"),
        ("ll", "annie", "Which country is Annie a citizen of?"),
        ("cc", "golf", "Leaving aside the spouse of Ann and the birthplace of Bob, what is "
         "at once the sport of Ann and the sport of Bob?"),
    ],
)  # fmt: skip
def test_composed_questions_read_so(world, type_, ident, question):
    match = a_match(world, type_, ident)
    composed = compose.compose(pd.DataFrame([match._asdict()]), phrases())["question"]
    assert len(set(composed)) == 3 and question in set(composed)
    assert asked(match, question, world) is None


def test_mt_and_ds_name_their_candidates(world):
    match = a_match(world, "mt", "Ann:P27")
    text = compose.compose(pd.DataFrame([match._asdict()]), phrases())["question"][0]
    listed = "; ".join(match.candidates)
    assert text == f"One of these is sought: {listed}. Of the one sought we know that the capital of the country of " \
        "citizenship of the one sought is not Paris. Which of them is thereby ruled out?"  # fmt: skip
    match = a_match(world, "ds", "Ann:P27")
    text = compose.compose(pd.DataFrame([match._asdict()]), phrases())["question"][0]
    excluded = "; ".join(name for name in match.candidates if name != "France")
    assert text == f"The country of citizenship of Ann is one of these: {'; '.join(match.candidates)}. It is none of " \
        f"these: {excluded}. Which is it?"  # fmt: skip


def test_every_wording_of_every_type_is_read_back_as_it_was_made(world):
    table = matches(world)
    composed = compose.compose(table, phrases())
    found = verify(table, composed, decompose.decompose(composed, phrases(), world), world)
    assert set(table["type"]) == {"hs", "mp", "mt", "ll", "cc", "ds"}
    assert found.rejected.empty and len(found.questions) == len(table)
    assert (found.questions["paraphrases"].map(len) == 2).all()


@pytest.mark.parametrize("name", ["mquake", "invented"])
def test_each_wording_of_a_relation_is_read_as_that_relation_alone(name):
    relations = phrases(name).relations
    table = facts(("aa", "P27", "bb"))
    splitter = decompose.Splitter(phrases(name), known(("aa", "P27", "bb")))
    assert len(table) == 1
    for relation, wording in relations.items():
        for question in wording.questions:
            (split,) = splitter.split(question.format(s="aa"))
            assert [hop.relation for hop in split.hops] == [relation]
        for noun in wording.nouns:
            assert list(splitter._paths(noun.format(s="aa"))) == [("aa", relation)]
        for denial in wording.denials:
            assert {found[0] for found in splitter._denials(denial.format(s="aa", o="bb"))} == {relation}


# adversarial questions

SKIPPED = "Which city is the capital city of {}?"


def test_a_skipped_hop_is_refused(world):
    match = a_match(world, "hs", "Ann:P27")
    assert asked(match, "Which country is Ann a citizen of?", world)[0] == "decomposition"
    check, why = asked(match, "What is the capital of Italy?", world)
    assert check == "decomposition" and "foreign" in why
    hops = [{"subject": "France", "relation": "capital", "answers": ["Paris"]}]
    assert inconsistency(match, hops, [], world) == "skipped hop: nothing asks for Ann:P27:France"


def test_a_foreign_entity_is_refused(world):
    match = a_match(world, "hs", "Ann:P27")
    check, why = asked(match, "What is the capital of the country of citizenship of Bob?", world)
    assert (check, why) == ("decomposition", "foreign entity: 'Bob' is in none of its facts")
    assert asked(match, "What is the capital of the country of citizenship of Zed?", world)[0] == "decomposition"
    own = "What is the capital of the country of citizenship of Ann, a friend of Tom?"
    assert asked(match, own, world)[1].startswith("no template reads it")
    hops = [
        {"subject": "Annie", "relation": "country of citizenship", "answers": ["FR"]},
        {"subject": "France", "relation": "P36", "answers": ["Paris"]},
    ]
    assert inconsistency(match, hops, [], world) is None
    assert "'Tom'" in inconsistency(match, hops, ["Tom"], world)
    wrong = [hops[0], hops[1] | {"answers": ["Madrid"]}]
    assert inconsistency(match, wrong, [], world) == (
        "foreign hop: P36 of France, answered Madrid, is none of its facts"
    )


def test_a_foreign_candidate_is_refused(world):
    match = a_match(world, "mt", "Ann:P27")
    text = compose.compose(pd.DataFrame([match._asdict()]), phrases())["question"][0]
    assert asked(match, text.replace("Bob", "Eva"), world)[0] == "decomposition"
    assert asked(match, text.replace("Cid;", "Cid; Oslo;").replace("Cid.", "Cid; Oslo."), world)[0] == "decomposition"
    match = a_match(world, "ds", "Ann:P27")
    text = compose.compose(pd.DataFrame([match._asdict()]), phrases())["question"][0]
    assert asked(match, text.replace("Spain", "Peru"), world)[0] == "leak"


def test_a_hop_that_only_says_who_is_meant_is_no_hop(world):
    match = a_match(world, "ll", "Ann:P27")
    hops = [{"subject": "Annie", "relation": "same as", "answers": ["Ann"]}]
    assert "skipped hop" in inconsistency(match, hops, [], world)
    assert (
        inconsistency(match, [*hops, {"subject": "Ann", "relation": "P27", "answers": ["France"]}], [], world) is None
    )


@pytest.mark.parametrize("bridge", ["France", "FRANCE", "Fránce", "french  republic", "Ｆrance", "FR", "France's"])
def test_a_leaked_bridge_is_refused_in_any_case_or_accent(world, bridge):
    match = a_match(world, "hs", "Ann:P27")
    check, why = asked(match, f"What is the capital of the country of citizenship of Ann, {bridge}?", world)
    assert check == "leak" and why.startswith("names ")


def test_two_letters_do_not_refuse_a_common_word():
    assert occurrences("US", "What do they use to tell us?") == 0
    assert occurrences("US", "Who leads the US?") == occurrences("ÚS", "the US") == 1
    assert occurrences("IT", "Is it in Rome?") == 0 and occurrences("it", "Is it?") == 1
    assert occurrences("U.S.", "the u.s. army") == 1 and occurrences("USA", "in the usa") == 1
    assert occurrences("Rome", "Romeo in Jerome") == 0 and occurrences("C++", "in C++?") == 1
    assert occurrences("L'Aquila", "in L’Aquila") == 1


def test_the_answer_of_ds_stands_among_the_candidates_alone(world):
    match = a_match(world, "ds", "Ann:P27")
    text = compose.compose(pd.DataFrame([match._asdict()]), phrases())["question"][0]
    assert leak(text, match) is None
    assert leak(text + " Think of the French Republic.", match) == "names 'French Republic', another name of the answer"
    assert leak(text + " Not France?", match) == "names the answer 'France' outside the candidates"
    assert leak("The country of Ann is one of these: France; Spain; Italy. Which?", match).startswith(
        "does not exclude"
    )
    assert leak("Which country is Ann a citizen of?", match).startswith("does not name the candidates")


def test_two_valid_answers_are_refused():
    both = known(
        ("Ann", "P27", "France"), ("Ann", "P27", "Italy"), ("France", "P36", "Paris"), ("Italy", "P36", "Rome")
    )
    match = a_match(both, "hs", "France")
    assert answers(match, both) == {"Paris", "Rome"}
    assert not_unique(match, both) == "2 answers by the facts: Paris (Paris), Rome (Rome)"


def test_a_question_with_two_right_answers_is_refused_as_not_unique():
    twins = known(("Q1", "P641", "golf"), ("Q2", "P641", "judo"), labels={"Q1": "Ann", "Q2": "Eva"},
                  aliases={"Q1": ["The Champion"], "Q2": ["the champion"]})  # fmt: skip
    match = a_match(twins, "ll", "Q1")
    check, why = asked(match, "What is the sport of The Champion?", twins)
    assert (check, why) == ("uniqueness", "2 answers by the facts: golf (golf), judo (judo)")


def test_a_bridge_that_may_be_two_is_refused_though_only_one_leads_on():
    twins = known(("Q1", "P641", "golf"), ("Q2", "P641", "judo"), ("golf", "P495", "Fife"),
                  labels={"Q1": "keeper", "Q2": "keeper"})  # fmt: skip
    match = a_match(twins, "hs")
    assert answers(match, twins) == {"Fife"}
    assert not_unique(match, twins) == "2 bridges by the facts: golf (golf), judo (judo)"


def test_answers_are_counted_by_identifier_and_subjects_by_name():
    labels = {"Q1": "Cambridge", "Q2": "Cambridge", "Q8": "Smith", "Q9": "Smith"}
    triples = [("Q1", "P6", "Q8"), ("Q2", "P6", "Q9"), ("Q1", "P30", "Europe"), ("Q2", "P30", "Europe")]
    places = known(*triples, labels=labels, aliases={"Q1": ["Cantab"]})
    heads = {m.match_id: answers(m, places) for m in matches(places, "ll").itertuples(index=False)}
    assert heads == {"ll|Q1:P6:Q8|cantab": {"Q8"}, "ll|Q1:P30:Europe|cantab": {"Europe"}}
    match = a_match(places, "ll", "P6")._replace(subjects=["Cambridge"])
    assert not_unique(match, places) == "2 answers by the facts: Smith (Q8), Smith (Q9)"
    assert not_unique(a_match(places, "ll", "P30")._replace(subjects=["Cambridge"]), places) is None


@pytest.mark.parametrize(
    ("type_", "triples", "found"),
    [
        ("cc", [("Bob", "P641", "judo"), ("Ann", "P641", "judo")], {"golf", "judo"}),
        ("ds", [("Ann", "P641", "judo")], {"golf", "judo"}),
        ("mt", [("Bob", "P27", "France")], {"Ann", "Bob"}),
    ],
)
def test_what_more_facts_make_ambiguous(world, type_, triples, found):
    match = a_match(world, type_, "Ann:P27" if type_ == "mt" else "Ann:P641:golf")
    if type_ == "ds":
        match = match._replace(candidate_ids=["golf", "judo", "chess"])
    richer = known(*WORLD, *triples, aliases=ALIASES)
    assert not_unique(match, world) is None and answers(match, richer) == found
    assert asked(match, compose.compose(pd.DataFrame([match._asdict()]), phrases())["question"][0], richer)[0] in (
        "uniqueness", "decomposition",
    )  # fmt: skip


def test_a_judge_may_doubt_but_not_overrule_the_facts(world):
    match = a_match(world, "hs", "Ann:P27")
    question = "What is the capital of the country of citizenship of Ann?"
    assert asked(match, question, world, unique=True, reason=None) is None
    assert asked(match, question, world, unique=False, reason="seat?") == ("uniqueness", "judged ambiguous: seat?")
    assert asked(match, question, world, unique=None, reason="down") == ("uniqueness", "no verdict: down")
    twice = known(*WORLD, ("Ann", "P27", "Spain"))
    found = verify(
        pd.DataFrame([match._asdict()]),
        pd.DataFrame([(match.match_id, 0, question, [])], columns=["match_id", "variant", "question", "aliases"]),
        pd.DataFrame([(match.match_id, 0, [
            {"subject": "Ann", "relation": "P27", "answers": ["France"]},
            {"subject": "France", "relation": "P36", "answers": ["Paris"]},
        ], [], None)], columns=["match_id", "variant", "hops", "names", "failed"]),
        twice,
        pd.DataFrame([(match.match_id, 0, True, None)], columns=["match_id", "variant", "unique", "reason"]),
    )  # fmt: skip
    assert found.rejected.loc[0, "reason"] == "2 answers by the facts: Madrid (Madrid), Paris (Paris)"


def test_one_question_per_match_and_a_funnel(world):
    table = matches(world, "hs")
    composed = compose.compose(table, phrases())
    bad = composed["match_id"].str.contains("Ann:P27") & (composed["variant"] == 0)
    composed.loc[bad, "question"] = "What is the capital of France?"
    composed.loc[composed["match_id"].str.contains("Bob:P27"), "question"] = "Where does Bob come from?"
    found = verify(table, composed, decompose.decompose(composed, phrases(), world), world)
    kept = found.questions.set_index("match_id")
    assert "Bob:P27" not in " ".join(kept.index)
    row = kept.loc["hs|Ann:P27:France|France:P36:Paris"]
    wordings = [row["question"], *row["paraphrases"]]
    assert len(wordings) == 2 and any(w.startswith("Which city is the capital city") for w in wordings)
    steps = found.funnel[found.funnel["type"] == "hs"].set_index("step")["n"].to_dict()
    n = len(table)
    assert steps == {"matched": n, "composed": n, "decomposed": n - 1, "unique": n - 1}
    assert set(found.rejected["check"]) == {"leak", "decomposition"} and set(found.rejected["language"]) == {"en"}
    with pytest.raises(ValueError, match="hs|Zoe is the match_id of no match"):
        verify(table, composed.assign(match_id="hs|Zoe"), composed, world)


def test_the_tables_keep_their_contracts(world, tmp_path):
    table = matches(world)
    composed = compose.compose(table, phrases())
    split = decompose.decompose(composed, phrases(), world)
    found = verify(table, composed, split, world)
    kept, funnel = select.balanced(found.questions, found.funnel, 1, 0)
    tables = {"facts": facts(*WORLD, aliases=ALIASES), "matches": table, "composed": composed, "decomposed": split}
    tables |= {"multihop": kept, "funnel": funnel, "rejected": found.rejected}
    tables["wordings"] = templates.wordings(tables["facts"], phrases().relations)
    for name, content in tables.items():
        artifacts.write_table(content, tmp_path / f"{name}.parquet", name)
        assert len(artifacts.read_table(tmp_path / f"{name}.parquet", name)) == len(content)
    read = artifacts.read_table(tmp_path / "matches.parquet", "matches")
    again = verify(
        read, *(artifacts.read_table(tmp_path / f"{n}.parquet", n) for n in ("composed", "decomposed")), world
    )
    assert again.questions["question"].tolist() == found.questions["question"].tolist()


def test_short_types_name_the_step_where_rows_were_lost(world):
    table = matches(world)
    composed = compose.compose(table, phrases())
    composed.loc[composed["match_id"].str.startswith("cc"), "question"] = "What is golf?"
    found = verify(table, composed, decompose.decompose(composed, phrases(), world), world)
    counts = table["type"].value_counts()
    with pytest.raises(
        select.ShortError, match=r"cc: 1 questions wanted; fewer are left at step composed \(matched 1, "
    ):
        select.balanced(found.questions, found.funnel, 1, 0)
    kept, funnel = select.balanced(found.questions, found.funnel, 2, 0, "report")
    assert kept["type"].value_counts().to_dict() == {t: min(2, n) for t, n in counts.items() if t != "cc"}
    assert funnel[(funnel["type"] == "cc") & (funnel["step"] == "kept")]["n"].tolist() == [0]
    assert select.balanced(found.questions, found.funnel, 2, 0, "smallest")[0].empty
    with pytest.raises(ValueError, match="should be error, smallest, report, and 1 or more"):
        select.balanced(found.questions, found.funnel, 2, 0, "skip")


def test_the_choice_is_seeded_and_stable(world):
    table = matches(world)
    composed = compose.compose(table, phrases())
    found = verify(table, composed, decompose.decompose(composed, phrases(), world), world)
    one = select.balanced(found.questions, found.funnel, 1, 0)[0]
    mixed = select.balanced(found.questions.sample(frac=1, random_state=1), found.funnel, 1, 0)[0]
    assert set(one["match_id"]) == set(mixed["match_id"]) and len(one) == 6
    assert set(select.draw(table, 1, 0)["match_id"]) == set(one["match_id"])
    assert len({tuple(select.draw(table, 1, seed)["match_id"]) for seed in range(5)}) > 1


def test_relations_without_wordings_get_plain_ones(world):
    plain = templates.with_generic(templates.Phrases({}, phrases().frames, {}), world)
    table = matches(world)
    table = table[table["type"] != "mp"]
    composed = compose.compose(table, plain)
    found = verify(table, composed, decompose.decompose(composed, plain, world), world)
    assert found.rejected.empty and len(found.questions) == len(table)
    assert "What is the capital of the country of citizenship of Ann?" in set(composed["question"])


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("{s} has its capital in {o}", "{s} has its capital", "P36, statements.*once each: o, s"),
        ('"the capital city of {s}", ', "", "P36, nouns: should be a list of 3"),
        ("  label: capital\n", "", "P36: has questions.*should have label"),
    ],
)
def test_a_wrong_wording_is_named(tmp_path, old, new, said):
    text = (RESOURCES / "templates/mquake.yaml").read_text(encoding="utf-8")
    at = text.index("P36:")
    (tmp_path / "t.yaml").write_text(text[:at] + text[at:].replace(old, new, 20), encoding="utf-8")
    with pytest.raises(ResourceError, match=said):
        templates.read_relations(tmp_path / "t.yaml")


def test_a_rule_of_an_unknown_relation_is_named(tmp_path):
    (tmp_path / "r.yaml").write_text("rules: [{first: P27, second: P0, property: x, rule: y}]")
    with pytest.raises(ResourceError, match="rule 1: unknown relation P0"):
        templates.read_rules(tmp_path / "r.yaml", phrases().relations)
