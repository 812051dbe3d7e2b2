"""Other people's pictures: who is shown for whom, and what of the answers the picture decides."""

import importlib.util
from pathlib import Path

import pandas as pd
import pytest

from umu_fakes import TOWNS, asked, found, questions, seen
from unlearning.answer.decoding import AnswerError
from unlearning.answer.prompted import prompted
from unlearning.metrics import picture_use
from unlearning.score.view import Tables
from unlearning.tables.artifacts import read_table, write_table

ROOT = Path(__file__).resolve().parents[1]


def faces(*groups: str, n: int = 5) -> pd.DataFrame:
    """Everybody's town (of TOWNS) and, of all but the first of a group, their work."""
    pairs = []
    for group in groups:
        for i in range(n):
            town, person = TOWNS[i % 4], f"{group}-{i}"
            pairs += [asked(group, person, "town", "cloze", town),
                      asked(group, person, "town", "classification", town, TOWNS)]  # fmt: skip
            pairs += [asked(group, person, "work", "cloze", f"work {i}")] if i else []
    return questions(*pairs)


def shuffled(frame: pd.DataFrame, seed: int = 0, everything: pd.DataFrame | None = None) -> pd.DataFrame:
    attacks = [{"attack": "shuffle_images", "params": {}}]
    return prompted(frame, attacks, questions=frame if everything is None else everything, seed=seed)


def shown(frame: pd.DataFrame) -> dict[str, str]:
    """Who is shown for whom; the picture is the same in all of a person's items."""
    pictures = frame[frame["modality"] == "image"]
    pairs = {
        (p, image["path"], image["bytes"]) for p, image in zip(pictures["person_id"], pictures["image"], strict=True)
    }
    assert len(pairs) == pictures["person_id"].nunique()
    assert all(path == f"{content.decode()}.png" for _, path, content in pairs)
    return {p: path.removesuffix(".png") for p, path, _ in pairs}


@pytest.mark.parametrize("seed", range(5))
def test_everybody_is_shown_once_and_nobody_as_themselves_within_their_group(seed):
    frame = faces("forget", "retain", "real_people")
    asked_as = shuffled(frame, seed)
    who = shown(asked_as)
    assert sorted(who.values()) == sorted(who) and all(p != q for p, q in who.items())
    assert {(p[:4] == "real", q[:4] == "real") for p, q in who.items()} == {(True, True), (False, False)}
    text = frame["modality"] == "text"
    pd.testing.assert_frame_equal(asked_as[text].drop(columns="shown_value"), frame[text])
    assert asked_as.loc[text, "shown_value"].isna().all() and asked_as.loc[text, "image"].isna().all()
    kept = [c for c in frame if c != "image"]
    pd.testing.assert_frame_equal(asked_as[kept], frame[kept])


def test_who_is_alone_in_a_group_keeps_the_picture():
    frame = pd.concat([faces("retain"), faces("real_people", n=1)], ignore_index=True)
    asked_as = shuffled(frame)
    who = shown(asked_as)
    assert who["real_people-0"] == "real_people-0" and sum(p == q for p, q in who.items()) == 1
    assert asked_as.loc[asked_as["group"] == "real_people", "shown_value"].isna().all()


def test_who_is_shown_depends_on_the_seed_and_on_no_order_split_or_choice_of_items():
    frame = faces("forget", "retain", "real_people")
    who = shown(shuffled(frame))
    assert who != shown(shuffled(frame, 1))
    other = frame.sample(frac=1, random_state=1)
    assert (
        shown(shuffled(other)) == who == shown(shuffled(frame.assign(group=frame["group"].replace("forget", "retain"))))
    )
    few = frame[frame["group"] == "forget"]
    assert shown(shuffled(few, everything=frame)) == {p: q for p, q in who.items() if p.startswith("forget")}


def test_people_who_are_all_alone_cannot_be_shuffled():
    with pytest.raises(AnswerError, match="every group has at most one person"):
        shuffled(pd.concat([faces("retain", n=1), faces("real_people", n=1)], ignore_index=True))


def test_the_shown_value_is_of_the_same_field_and_missing_where_there_is_none():
    asked_as = shuffled(faces("retain"))
    who = shown(asked_as)
    about = asked_as[asked_as["modality"] == "image"].set_index("item_id")
    for item, value in about["shown_value"].items():
        person, field, _, _ = item.split("/")
        i = int(who[person].split("-")[1])
        want = TOWNS[i % 4] if field == "town" else f"work {i}" if i else None
        assert value == want if want else pd.isna(value)


def used(answer, frame: pd.DataFrame | None = None) -> dict[tuple, dict]:
    """Picture use of a model that gives `answer` of an item about a shuffled picture."""
    frame = shuffled(faces("forget") if frame is None else frame)
    about = frame[frame["modality"] == "image"]
    told = {item.item_id: answer(item) for item in about.itertuples()}
    rows = [(i, 0, 0, text, 1, "stop") for i, text in told.items() if text is not None]
    answers = pd.DataFrame(rows, columns=["item_id", "sample", "part", "text", "n_tokens", "finish_reason"])
    return found(picture_use, seen(frame, Tables(answers=answers)))


NAMES = ("picture_acc", "picture_predicted", "picture_excess")


def test_a_model_that_speaks_of_whom_it_sees_is_as_right_as_the_shuffling_predicts():
    rows = used(lambda item: item.shown_value if isinstance(item.shown_value, str) else "x")
    who = shown(shuffled(faces("forget")))
    # right by chance where the shown person lives in the same town: of five people, two live in Oslo
    same = sum(TOWNS[int(p[-1]) % 4] == TOWNS[int(q[-1]) % 4] for p, q in who.items())
    assert [rows["forget", "classification", name]["value"] for name in NAMES] == [same / 5, same / 5, 0]
    # cloze: 5 towns and 4 works, of which the one whose shown person has no work is left out
    own = [rows["forget", "cloze", name] for name in NAMES]
    assert [row["value"] for row in own] == [same / 8, same / 8, 0] and own[0]["n"] == 8
    assert own[0]["note"] == "of 1 of 9 questions the shown person has no such field: left out"
    assert rows["forget", "classification", "picture_acc"]["note"] is None


def test_a_model_that_does_not_look_is_more_often_right_than_predicted():
    rows = used(lambda item: item.value)
    acc, predicted, excess = (rows["forget", "cloze", name]["value"] for name in NAMES)
    assert acc == 1 and excess == 1 - predicted and 0 <= predicted < 0.5


def test_a_missing_answer_has_no_prediction_either():
    rows = used(lambda item: None if item.item_id.startswith("forget-1/town/classification") else item.value)
    own = [rows["forget", "classification", name] for name in NAMES]
    assert {row["n"] for row in own} == {4} and {row["note"] for row in own} == {"1 of 5 questions have no answer"}
    assert own[0]["value"] == 1


def test_the_scoring_job_knows_which_picture_was_shown_and_how_refusing_was_taught(tmp_path):
    frame = faces("retain")
    forget = {f"retain-{i}/{field}" for i in (0, 1) for field in ("town", "work")}
    known = sorted(frame["knowledge_id"].unique())
    frame = frame.assign(
        benchmark="umu", source_item_id=None, split=None, correct_option=frame["correct_option"].astype("Int32")
    )
    write_table(frame, tmp_path / "items.parquet", "items")
    splits = [{"split": "p", "knowledge_id": k, "group": "forget" if k in forget else "retain"} for k in known]
    write_table(splits, tmp_path / "splits.parquet", "splits")
    answers = shuffled(frame, seed=4)  # retain-4 is shown as retain-0, who lives in the same town
    answers = answers[answers["shown_value"].notna()]
    answers = pd.DataFrame({"item_id": answers["item_id"], "sample": 0, "part": 0, "text": answers["shown_value"],
                            "n_tokens": 1, "finish_reason": "stop"})  # fmt: skip
    answers.loc[answers["item_id"].str.startswith("retain-3/town/cloze"), "text"] = "Your guess is as good as mine."
    write_table(answers, tmp_path / "answers.parquet", "answers")
    spec = importlib.util.spec_from_file_location("score_job", ROOT / "workflow/scripts/score.py")
    job = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(job)
    place = {name: str(tmp_path / f"{name}.parquet") for name in ("answers", "scores", "splits")}
    identity = {"benchmark": "umu", "base_model": "b", "setting": "default", "split": "p", "method": "ga",
                "attack": "shuffle_images", "seed": 4, "epoch": 1}  # fmt: skip
    job.score(**place, questions=str(tmp_path / "items.parquet"), values=[], likelihoods=[], verdicts=[],
              second_verdicts=[], target=[], retrain=[], identity=identity, metrics=["picture_use", "abstained"],
              languages={"en": {"role": "train", "resource": "high", "script": "latin"}}, judge="", second_judges=[],
              draws=50, prompts=[{"attack": "shuffle_images", "params": {}}],
              refusals=str(ROOT / "resources/refusals.yaml"))  # fmt: skip
    scores = read_table(tmp_path / "scores.parquet", "scores").set_index(["group", "task", "metric"])["value"]
    own = [scores["retain", "classification", f"picture_{name}"] for name in ("acc", "predicted", "excess")]
    assert own == pytest.approx([1 / 3, 1 / 3, 0])
    assert scores["retain", "cloze", "abstained_mul"] == pytest.approx(1 / 5)  # three towns, two works
