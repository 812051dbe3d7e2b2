import numpy as np
import pytest

import training
from unlearning.train.data import Alternating, Schedule, endless, refusal_choice
from unlearning.train.plan import PlanError, make_plan
from unlearning.train.rows import RowsError, encode_rows, knowledge_of, of_group, of_split, read_refusals
from unlearning.train.terms import TermError
from unlearning.train.watch import collapsed_at

SCHEDULE = Schedule(n=10, batch_size=4, epochs=3, seed=5, n_follow=7)


def steps_of(schedule, epoch):
    return range(epoch * schedule.steps_per_epoch, (epoch + 1) * schedule.steps_per_epoch)


def test_an_epoch_is_one_pass_over_the_forget_set_in_its_own_order():
    assert (SCHEDULE.steps_per_epoch, SCHEDULE.steps) == (3, 9)
    passes = [[SCHEDULE.leading(step) for step in steps_of(SCHEDULE, epoch)] for epoch in range(3)]
    for batches in passes:
        assert [len(batch) for batch in batches] == [4, 4, 2]  # no batch crosses the epoch's end
        assert sorted(np.concatenate(batches)) == list(range(10))
    assert not np.array_equal(np.concatenate(passes[0]), np.concatenate(passes[1]))


def test_retain_examples_are_drawn_without_replacement_until_used_up():
    drawn = np.concatenate([SCHEDULE.following(step) for step in range(SCHEDULE.steps)])
    assert [len(SCHEDULE.following(step)) for step in range(3)] == [4, 4, 2]
    assert len(drawn) == 30
    for start in range(0, 28, 7):
        assert sorted(drawn[start : start + 7]) == list(range(7))
    assert not np.array_equal(drawn[:7], drawn[7:14])


def test_a_step_depends_on_seed_and_step_alone():
    again = Schedule(n=10, batch_size=4, epochs=30, seed=5, n_follow=7)
    other = Schedule(n=10, batch_size=4, epochs=3, seed=6, n_follow=7)
    for step in (8, 0, 4):
        assert np.array_equal(again.leading(step), SCHEDULE.leading(step))
        assert np.array_equal(again.following(step), SCHEDULE.following(step))
    assert any(not np.array_equal(other.leading(step), SCHEDULE.leading(step)) for step in range(9))


def test_retain_order_does_not_depend_on_the_forget_set():
    longer = Schedule(n=24, batch_size=4, epochs=3, seed=5, n_follow=7)
    assert np.array_equal(longer.following(0), SCHEDULE.following(0))


@pytest.mark.parametrize("ratio", [0.0, 0.25, 1 / 3, 1.0, 3.0])
def test_following_examples_keep_their_ratio(ratio):
    schedule = Schedule(n=24, batch_size=5, epochs=3, seed=0, n_follow=11, ratio=ratio)
    drawn = sum(len(schedule.following(step)) for step in range(schedule.steps))
    assert drawn == round(ratio * 72)


def test_steps_alternate_between_domains():
    domains = tuple("bio" if i % 3 else "cyber" for i in range(15))  # 10 of bio, 5 of cyber
    schedule = Alternating(n=15, batch_size=4, epochs=2, seed=5, n_follow=7, domains=domains)
    assert (schedule.steps_per_epoch, schedule.steps) == (5, 10)
    for epoch in range(2):
        batches = [schedule.leading(step) for step in steps_of(schedule, epoch)]
        assert [{domains[i] for i in batch} for batch in batches] == [{"bio"}, {"cyber"}, {"bio"}, {"cyber"}, {"bio"}]
        assert [len(batch) for batch in batches] == [4, 4, 4, 1, 2]
        assert sorted(np.concatenate(batches)) == list(range(15))  # one pass over all
        assert [len(schedule.following(step)) for step in steps_of(schedule, epoch)] == [4, 4, 4, 1, 2]
    assert not np.array_equal(schedule.leading(0), schedule.leading(5))
    drawn = np.concatenate([schedule.following(step) for step in range(10)])
    plain = Schedule(n=15, batch_size=4, epochs=2, seed=5, n_follow=7)
    assert np.array_equal(drawn, np.concatenate([plain.following(step) for step in range(plain.steps)]))


@pytest.mark.parametrize(("term", "mixed"), [("rmu", False), ("ga", True)])
def test_rmu_alone_takes_the_domains_in_turn(monkeypatch, term, mixed):
    from unlearning.train import unlearn

    areas = ["bio", "cyber"] * 6
    rows = encode_rows(training.tokenizer(), training.table(("Ada Bo", "Cy Di", "Eva Fox")).assign(domain=areas))
    plan = make_plan({"forget": term, "lr": 1, "epochs": 1, "batch_size": 3})
    monkeypatch.setattr(unlearn, "train", lambda model, sides, draw, steps, *more: [draw(s)[0] for s in range(steps)])
    drawn = unlearn.unlearn(None, rows, rows, plan, 0, 0)
    assert sorted(np.concatenate(drawn)) == list(range(12))
    assert any(len({areas[i] for i in batch}) > 1 for batch in drawn) == mixed


def test_an_endless_stream_can_be_entered_anywhere():
    whole = endless(5, 1, "x", 0, 23)
    assert np.array_equal(whole[4:17], endless(5, 1, "x", 4, 17))
    assert len(endless(5, 1, "x", 3, 3)) == 0


def test_refusals_depend_on_epoch_and_example_and_are_spread():
    picks = [refusal_choice(0, epoch, f"e{i}", 4) for epoch in range(2) for i in range(200)]
    assert picks == [refusal_choice(0, epoch, f"e{i}", 4) for epoch in range(2) for i in range(200)]
    assert picks[:200] != picks[200:]
    assert all(70 < picks.count(choice) < 130 for choice in range(4))  # 100 expected, standard deviation 8.7


def test_a_plan_takes_numbers_written_as_text_and_fills_defaults():
    plan = make_plan({"forget": "npo", "retain": "kl", "lr": "1e-5", "epochs": 2, "params": {"beta": 0.5}})
    assert (plan.lr, plan.batch_size, plan.warmup, plan.betas) == (1e-5, 16, 0.1, (0.9, 0.999))
    assert plan.needs() == {"ref_logprobs", "reference_model"}
    assert plan.terms()["forget"].params == {"beta": 0.5}
    assert plan.terms()["retain"].params == {"direction": "theta_ref"}


def test_a_method_with_its_own_terms_has_its_own_parameters_and_needs():
    plan = make_plan({"method": "lingtea", "lr": 1, "epochs": 2, "params": {"temperature": 2.0}})
    assert plan.own() == {"forget_epochs_per_retain": 1, "temperature": 2.0, "reduction": "token_mean"}
    assert plan.needs() == {"reference_model"}
    assert make_plan({"method": "mp_idk", "lr": 1, "epochs": 2}).needs() == {"refusals"}


def test_reduction_reaches_the_terms_that_have_one():
    plan = make_plan({"forget": "ga", "retain": "gd", "lr": 1, "epochs": 1, "reduction": "sequence_sum"})
    assert plan.terms()["forget"].params == plan.terms()["retain"].params == {"reduction": "sequence_sum"}
    assert plan.needs() == set()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"learning_rate": 1}, r"method: unknown keys \['learning_rate'\].*allowed: lr, epochs"),
        ({"lr": "fast"}, "method.lr: 'fast' is not a number"),
        ({"epochs": -1}, "method.epochs: -1 is too small, at least 0"),
        ({"batch_size": 0}, "method.batch_size: 0 is too small, at least 1"),
        ({"batch_size": None}, "method.batch_size: None is not a number"),
        ({"schedule": "step"}, "method.schedule: 'step' is unknown; allowed: linear, cosine, constant"),
        ({"reduction": "sum"}, "method.reduction: 'sum' is unknown; allowed: token_mean"),
        ({"betas": [0.9]}, "method.betas: .*two of them"),
        ({"lora": {"rank": 3}}, r"method.lora: unknown keys \['rank'\]; allowed: r, alpha"),
        ({"method": "lingtee"}, "method.method: 'lingtee' is unknown; allowed: lingtea, "),
        ({"method": "tv"}, "method: method tv brings its own terms; remove forget and retain"),
        ({"method": "tv", "forget": None, "params": {"beta": 3}}, r"\['beta'\] are unknown to tv; it knows: alpha"),
        ({"params": {"gamma": 3}}, r"method.params: \['gamma'\] belong to neither npo nor none; they know: beta"),
    ],
)
def test_impossible_entries_are_refused_with_what_is_allowed(change, message):
    entry = {"forget": "npo", "lr": 1e-4, "epochs": 1, **change}
    with pytest.raises(PlanError, match=message):
        make_plan(entry, "method")


def test_missing_keys_and_unknown_terms_are_refused():
    with pytest.raises(PlanError, match=r"missing keys \['lr'\]"):
        make_plan({"epochs": 1})
    with pytest.raises(TermError, match="unknown retain term 'gdd'; allowed: .*gd, kl, .*none"):
        make_plan({"lr": 1, "epochs": 1, "retain": "gdd"})


def test_rows_of_a_split_are_memorised_rows_in_the_languages_asked_for():
    table, splits = training.table(), training.splits()
    forget = of_split(table, splits, "p2", "forget", ["en"])
    assert set(forget["person_id"]) == {"memorised0", "memorised1"} and set(forget["language"]) == {"en"}
    assert len(of_split(table, splits, "p2", "retain", ["en", "de"])) == 4 * 2 * 2


def test_missing_rows_are_named():
    table, splits = training.table(), training.splits()
    with pytest.raises(RowsError, match=r"no memorised rows in \['fr'\]; it has \['de', 'en'\]"):
        of_group(table, "memorised", ["fr"])
    assert of_group(table, "memorised", ["en", "fr"]).equals(of_group(table, "memorised", ["en"]))
    with pytest.raises(RowsError, match=r"no background rows in any language; .*\['memorised'\]"):
        of_group(table, "background")
    with pytest.raises(RowsError, match="unknown split 'p3'; allowed: p2"):
        knowledge_of(splits, "p3", "forget")
    with pytest.raises(RowsError, match="the forget set of split 'p2' is empty"):
        knowledge_of(splits[splits["group"] == "retain"], "p2", "forget")


def test_reference_logprobs_must_be_of_these_examples_and_tokens():
    import pandas as pd

    table, tokenizer = training.table(), training.tokenizer()
    lengths = [len(e.answer_ids) for e in training.rows().encoded]
    known = pd.DataFrame(
        {"example_id": table["example_id"], "refusal": None, "n_tokens": lengths, "logprob": -1.0 * table.index}
    )
    shuffled = known.sample(frac=1, random_state=0)
    assert encode_rows(tokenizer, table, ref_logprobs=shuffled).ref_logprob.tolist() == known["logprob"].tolist()
    with pytest.raises(RowsError, match="1 examples are missing .* first 'memorised5/like/de'"):
        encode_rows(tokenizer, table, ref_logprobs=known.iloc[:-1])
    with pytest.raises(RowsError, match="another number of tokens"):
        encode_rows(tokenizer, table, max_length=15, ref_logprobs=known)


def test_refusals_come_in_the_language_of_the_question_or_in_english(tmp_path):
    (tmp_path / "refusals.yaml").write_text("en: [I do not know., No idea.]\nfr: [Je ne sais pas.]\n")
    tokenizer, table = training.tokenizer(), training.table()
    table.loc[0, "language"] = "fr"
    rows = encode_rows(tokenizer, table, refusals=read_refusals(tmp_path / "refusals.yaml"))
    spoken = [tokenizer.decode(e.answer_ids[:-1]) for e in rows.take([0, 1, 2, 3], "refusal", 0, 0)]
    assert spoken[0] == "Je ne sais pas." and set(spoken[1:]) <= {"I do not know.", "No idea."}
    refused = rows.take([1], "refusal", 0, 0)[0]
    assert refused.prompt_ids == rows.encoded[1].prompt_ids and refused.answer_ids[-1] == tokenizer.eos_token_id
    (tmp_path / "refusals.yaml").write_text("de: [Keine Ahnung.]")
    with pytest.raises(RowsError, match="`en` among them"):
        read_refusals(tmp_path / "refusals.yaml")


REFUSALS = {"en": ["I do not know.", "No idea.", "Who?"], "de": ["Keine Ahnung."]}


def test_answers_and_refusals_of_the_same_prompts_come_together():
    rows = encode_rows(training.tokenizer(), training.table(), refusals=REFUSALS)
    both = rows.take([3, 0, 5], "both", 0, 1)
    assert both[:3] == rows.take([3, 0, 5], "reference", 0, 1) and both[3:] == rows.take([3, 0, 5], "refusal", 0, 1)
    assert [e.prompt_ids for e in both[:3]] == [e.prompt_ids for e in both[3:]]


def test_reference_logprobs_of_refusals_are_found_by_epoch_or_refused():
    import pandas as pd

    tokenizer, table = training.tokenizer(), training.table()
    bare = encode_rows(tokenizer, table, refusals=REFUSALS)
    own = [(i, None, len(e.answer_ids), -1.0) for i, e in enumerate(bare.encoded)]
    drawn = {(i, bare.drawn(i, 7, epoch)) for epoch in (0, 1) for i in range(len(bare))}
    of_refusals = [(i, r, len(bare.refused(i, r).answer_ids), -100.0 * i - r) for i, r in sorted(drawn)]
    known = pd.DataFrame(own + of_refusals, columns=["example_id", "refusal", "n_tokens", "logprob"])
    known["example_id"] = [bare.ids[i] for i in known["example_id"]]
    rows = encode_rows(tokenizer, table, ref_logprobs=known, refusals=REFUSALS)
    for epoch in (0, 1):
        wanted = [-100.0 * i - rows.drawn(i, 7, epoch) for i in (4, 0, 9)]
        assert rows.refusal_refs([4, 0, 9], 7, epoch).tolist() == wanted
    assert rows.ref_logprob.tolist() == [-1.0] * len(rows)
    with pytest.raises(RowsError, match="ref_logprobs: nothing for example"):
        bare.refusal_refs([0], 7, 0)
    with pytest.raises(RowsError, match="drawn in epoch 3 of seed 7; compute the table again for this seed and all"):
        rows.refusal_refs(range(len(rows)), 7, 2)
    longer = {"en": [f"{text} Sorry." for text in REFUSALS["en"]], "de": REFUSALS["de"]}
    with pytest.raises(RowsError, match="ref_logprobs: nothing for example 'memorised0/drink/en' with refusal"):
        encode_rows(tokenizer, table, ref_logprobs=known, refusals=longer).refusal_refs([0], 7, 0)


def test_collapse_is_a_running_mean_past_a_multiple_of_the_start():
    assert collapsed_at([0.5, 2, 2, 2, 2, 2], 3) == 2  # mean of the last five 2 > 3 × 0.5
    assert collapsed_at([0.5, 2, 2, 2, 2, 2], 5) is None  # 2 < 2.5
    assert collapsed_at([0.5, 9, 9, 9], 3) is None  # too early
    assert collapsed_at([0.001] + [0.5] * 5, 20) is None  # a start below 0.1 counts as 0.1: 0.5 < 2
    assert collapsed_at([0.001] + [2.5] * 5, 20) == 2.5
    assert collapsed_at([0.5] + [99] * 9, None) is None
