"""Multi-hop questions from a text: chunks, extracted tuples, facts; and how varied questions are."""

import math

import pandas as pd
import pytest

from unlearning.data.leak.chunks import chunk
from unlearning.data.leak.extracted import good_tuples, locate, merge
from unlearning.data.leak.knowledge import index
from unlearning.data.leak.matches import match_all
from unlearning.data.leak.quality import answer_entropy, self_bleu
from unlearning.data.sentences import sentences
from unlearning.tables import artifacts

STORY = (
    'Mr. Orlo lives in Brindle. "Come in!" said Zoë. She is from Marl, i.e. from the coast.\n\n'
    "Brindle lies in Vast  and J. K. Orlo knows it"
)


def cut(text):
    return [text[start:end] for start, end in sentences(text)]


def test_sentences_end_where_they_end():
    assert cut(STORY) == [
        "Mr. Orlo lives in Brindle.",
        '"Come in!" said Zoë.',
        "She is from Marl, i.e. from the coast.",
        "Brindle lies in Vast  and J. K. Orlo knows it",
    ]
    several = "It cost 3.50 in all. 4 came… Then? 'Yes.' No"
    assert cut(several) == ["It cost 3.50 in all.", "4 came…", "Then?", "'Yes.'", "No"]
    assert cut("  \n\n ") == [] and cut("one\n\n\ntwo") == ["one", "two"]
    assert cut("a line\nbroken") == ["a line\nbroken"]


@pytest.mark.parametrize("words", [1, 8, 10, 100])
def test_chunks_hold_whole_sentences_and_know_their_place(words, tmp_path):
    table = chunk(STORY, "story", words)
    inside = sentences(STORY)
    for row in table.itertuples():
        assert STORY[row.start : row.end] == row.text and row.n_words == len(row.text.split())
        held = [span for span in inside if span[0] >= row.start and span[1] <= row.end]
        assert held[0][0] == row.start and held[-1][1] == row.end
        assert row.n_words <= words or len(held) == 1
    assert "".join(table["text"]).split() != [] and "".join(" ".join(table["text"]).split()) == "".join(STORY.split())
    artifacts.write_table(table, tmp_path / "c.parquet", "chunks")
    assert len(chunk(STORY, "story", 100)) == 1 and len(chunk(STORY, "story", 1)) == 4


def test_an_empty_text_has_no_chunks_and_a_chunk_has_words():
    assert chunk(" ", "d", 5).empty
    with pytest.raises(ValueError, match="words 0: a chunk should have 1 word or more"):
        chunk(STORY, "d", 0)


def said(subject, relation, object_, number=0, quote=None, subject_aliases=(), object_aliases=()):
    return ("story", number, subject, list(subject_aliases), relation, object_, list(object_aliases), quote)


COLUMNS = [
    "document", "chunk", "subject", "subject_aliases", "relation", "object", "object_aliases", "quote",
]  # fmt: skip


def tuples(*rows):
    return pd.DataFrame(rows, columns=COLUMNS)


CHUNKS = chunk(STORY, "story", 10)


@pytest.mark.parametrize(
    ("row", "why"),
    [
        (said("Orlo", "home", " "), "no object"),
        (said("He", "home", "Brindle"), "the subject 'He' names nobody and nothing"),
        (said("Orlo", "home", "Brindle " * 13), "the object has more than 12 words"),
        (said("Orlo", "self", "ORLO"), "subject and object are the same"),
        (said("Orlo", "home", "Paris"), "the object 'Paris' is not in the chunk"),
        (said("Orl", "home", "Brindle"), "the subject 'Orl' is not in the chunk"),
        (said("Orlo", "home", "Brindle", quote="Orlo hates Brindle"), "the quote is not in the chunk"),
        (said("orlo", "home", "Brindle", quote="lives  in brindle"), None),
        (said("The owner", "home", "Brindle", subject_aliases=["Mr. Orlo"]), None),
    ],
)
def test_tuples_of_no_use_are_refused_with_a_reason(row, why):
    kept, rejected = good_tuples(tuples(row), CHUNKS)
    assert len(kept) + len(rejected) == 1
    assert rejected["reason"].tolist() == ([why] if why else []) and set(rejected["check"]) <= {"quality"}


def test_a_chunk_that_is_not_there_is_named():
    with pytest.raises(ValueError, match=r"chunk \('story', 9\) is not in the table of chunks"):
        good_tuples(tuples(said("Orlo", "home", "Brindle", number=9)), CHUNKS)


def test_equal_facts_are_merged_by_case_accents_and_aliases(tmp_path):
    rows = tuples(
        said("Orlo", "home", "Brindle"), said("ORLO", "Home", "brindle"), said("Orlo", "home", "Brindle"),
        said("Mr. Orlo", "knows", "Zoe", subject_aliases=["Orlo", "he"]),
        said("Zoë", "origin", "Marl", 1, None, ["she", "he"]),
        said("Brindle", "country", "Vast", 2),
    )  # fmt: skip
    facts = merge(rows, CHUNKS, forget={"story"})
    assert facts["fact_id"].tolist() == [
        "orlo:home:brindle", "orlo:knows:zoe", "zoe:origin:marl", "brindle:country:vast",
    ]  # fmt: skip
    first = facts.iloc[0]
    assert (first["subject"], first["subject_aliases"], first["object"]) == ("Orlo", ["Mr. Orlo"], "Brindle")
    assert first["question"] == "What is the home of Orlo?" and first["statement"] == "The home of Orlo is Brindle."
    assert set(facts["group"]) == {"forget"} and set(merge(rows, CHUNKS, forget=())["group"]) == {"retain"}
    artifacts.write_table(facts, tmp_path / "f.parquet", "facts")
    found = match_all(index(facts), (), 0, types=["hs"])
    assert found["match_id"].tolist() == [
        "hs|orlo:home:brindle|brindle:country:vast",
        "hs|orlo:knows:zoe|zoe:origin:marl",
    ]


def test_a_fact_knows_where_the_text_says_it():
    rows = tuples(
        said("Orlo", "home", "Brindle"), said("Zoë", "origin", "Marl", 1, "from marl", ["she"]),
        said("Orlo", "home", "Brindle", 2), said("Brindle", "country", "Vast", 2, None),
    )  # fmt: skip
    facts = merge(rows, CHUNKS, forget=()).set_index("fact_id")
    spans = {ident: [STORY[s["start"] : s["end"]] for s in found] for ident, found in facts["spans"].items()}
    assert spans["zoe:origin:marl"] == ["from Marl"]
    assert spans["orlo:home:brindle"][0] == "Mr. Orlo lives in Brindle." and len(spans["orlo:home:brindle"]) == 2
    row = next(tuples(said("Orlo", "x", "Zoe")).itertuples(index=False))
    assert locate(row, CHUNKS["text"][0]) == (0, len(CHUNKS["text"][0]))  # in no sentence together


# how varied


def test_self_bleu_by_hand_and_at_its_limits():
    assert self_bleu(["the same five words here"] * 3, 0) == (pytest.approx(1.0), None)
    assert self_bleu(["one two three four five", "six seven eight nine ten"], 0) == (0.0, None)
    # a b c d against a e f g: 1/4, then no match: 0.1/3, 0.1/2, 0.1/1; the same the other way round
    assert self_bleu(["a b c d", "a e f g"], 0)[0] == pytest.approx((1 / 4 * 0.1 / 3 * 0.1 / 2 * 0.1) ** 0.25)
    # a b c d e against a b c d f: 4/5, 3/4, 2/3, 1/2, lengths equal, so no penalty; the same the other way round
    assert self_bleu(["a b c d e", "A B C D F"], 0)[0] == pytest.approx((4 / 5 * 3 / 4 * 2 / 3 * 1 / 2) ** 0.25)
    assert self_bleu(["alone"], 0) == (None, "1 texts; two or more are compared")


def test_self_bleu_draws_by_the_seed():
    texts = [f"question {i} about {i % 7} things of {i % 11}" for i in range(60)]
    assert self_bleu(texts, 0, sample=20) == self_bleu(texts, 0, sample=20) != self_bleu(texts, 1, sample=20)
    assert self_bleu(texts, 0, sample=60)[0] == pytest.approx(self_bleu(texts[::-1], 1, sample=60)[0])


def test_answer_entropy_by_hand():
    assert answer_entropy(["a", "b", "c", "d"]) == (pytest.approx(2.0), None)
    assert answer_entropy(["a", "a", "b", "c"]) == (pytest.approx(1.5), None)  # 1/2·1 + 2·1/4·2
    assert answer_entropy(["a"] * 3) == (0.0, None) and answer_entropy([]) == (None, "no answers")
    assert answer_entropy(list("aab"))[0] == pytest.approx(-(2 / 3) * math.log2(2 / 3) - math.log2(1 / 3) / 3)
