"""Artifacts: contracts checked, writes atomic, equal tables equal files."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from unlearning.tables import artifacts, schemas

ROW = {"item_id": "a", "sample": 0, "part": 0, "text": "hello", "n_tokens": 2, "finish_reason": "stop"}


def score_row(**changed):
    row = dict.fromkeys(("benchmark", "base_model", "setting", "split", "method", "attack"), "x")
    row |= {"group": "forget", "language": "all", "task": "all", "metric": "ps", "seed": 0, "epoch": 1, "n": 3}
    return row | {"value": 0.5, "ci_low": None, "ci_high": None, "note": None} | changed


def test_equal_tables_are_equal_files(tmp_path):
    first = artifacts.write_table([ROW], tmp_path / "a.parquet", "answers")
    second = artifacts.write_table(pd.DataFrame([ROW]), tmp_path / "b.parquet", "answers")
    assert first == second
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()


def test_fingerprint_ignores_chunks_but_not_order_or_values():
    column = pa.chunked_array([["x", "y"], ["z"]])
    table = pa.table({"a": column})
    assert artifacts.fingerprint(table) == artifacts.fingerprint(table.combine_chunks())
    assert artifacts.fingerprint(table) != artifacts.fingerprint(table.slice(1))
    assert artifacts.fingerprint(table) != artifacts.fingerprint(table.take([1, 0, 2]))


def test_fingerprint_ignores_how_a_slice_lies_in_memory():
    long = pa.table({"a": ["x", "y", "z", None], "b": [[1], [2, 3], [], None]})
    sliced = long.slice(1, 2)
    assert artifacts.fingerprint(sliced) == artifacts.fingerprint(pa.table({"a": ["y", "z"], "b": [[2, 3], []]}))


def test_fingerprint_ignores_what_stands_in_the_slot_of_a_missing_value():
    hidden = [pa.array([1.0, x, 3.0], mask=np.array([False, True, False])) for x in (2.0, float("nan"))]
    assert len({artifacts.fingerprint(pa.table({"a": column})) for column in hidden}) == 1
    assert artifacts.fingerprint(pa.table({"a": hidden[0]})) != artifacts.fingerprint(pa.table({"a": [1.0, 2.0, 3.0]}))


def test_fingerprint_tells_texts_and_lists_apart_by_their_bounds():
    tables = [{"a": ["ab", "c"]}, {"a": ["a", "bc"]}, {"a": ["abc", ""]}, {"a": ["abc", None]}, {"b": ["ab", "c"]}]
    tables += [{"a": [[1, 2], [3]]}, {"a": [[1], [2, 3]]}, {"a": [[1, 2, 3], None]}, {"a": [[1, 2, 3], []]}]
    tables += [{"a": [{"x": 1, "y": 2}]}, {"a": [{"x": 2, "y": 1}]}, {"a": [None, {"x": 1, "y": 2}]}]
    assert len({artifacts.fingerprint(pa.table(columns)) for columns in tables}) == len(tables)


def test_a_written_table_read_again_has_its_fingerprint(tmp_path):
    rows = [score_row(), score_row(metric="se", value=None, note="none asked")]
    item = dict.fromkeys(("item_id", "benchmark", "task", "knowledge_id", "language", "modality", "reference"), "x")
    item |= {"group": "retain", "messages": [{"role": "user", "content": "Who?"}], "parts": [], "options": ["a", "b"]}
    item |= {"aliases": [], "candidates": [{"name": "paraphrase", "text": "y"}]}
    for table, content in (("scores", rows), ("items", [item, item | {"item_id": "y", "value": "z"}])):
        written = artifacts.write_table(content, tmp_path / "t.parquet", table)
        assert artifacts.fingerprint(pq.read_table(tmp_path / "t.parquet")) == written
        again = artifacts.write_table(
            artifacts.read_table(tmp_path / "t.parquet", table), tmp_path / "u.parquet", table
        )
        assert again == written


@pytest.mark.parametrize(
    ("table", "rows", "said"),
    [
        ("answers", [{k: v for k, v in ROW.items() if k != "text"}], "text"),
        ("answers", [ROW | {"text": None}], "column text: empty at row 0"),
        ("answers", [ROW, ROW], "more than once"),
        ("scores", [score_row(value=None)], "null without a note"),
        ("scores", [score_row(value=float("nan"))], "NaN at row 0"),
    ],
)
def test_a_broken_contract_is_refused_and_named(tmp_path, table, rows, said):
    with pytest.raises(artifacts.TableError, match=said):
        artifacts.write_table(rows, tmp_path / "t.parquet", table)
    assert not list(tmp_path.iterdir())


def test_unexpected_columns_are_refused(tmp_path):
    with pytest.raises(artifacts.TableError, match="unexpected columns \\['extra'\\]"):
        artifacts.write_table(pd.DataFrame([ROW | {"extra": 1}]), tmp_path / "t.parquet", "answers")


def test_reading_a_damaged_file_names_it_and_the_fix(tmp_path):
    path = tmp_path / "answers.parquet"
    path.write_bytes(b"not parquet")
    with pytest.raises(artifacts.TableError, match="answers.parquet.*delete it and run again"):
        artifacts.read_table(path, "answers")


def test_a_failed_write_leaves_the_earlier_file_whole(tmp_path):
    path = tmp_path / "t.txt"
    artifacts.write_text(path, "before")
    with pytest.raises(RuntimeError), artifacts.replacing(path) as temporary:
        temporary.write_text("half")
        raise RuntimeError
    assert path.read_text() == "before"
    assert [p.name for p in tmp_path.iterdir()] == ["t.txt"]


def test_every_column_is_described():
    for name, columns in schemas.TABLES.items():
        assert all(c.description for c in columns), name
        assert {key for keys in [schemas.UNIQUE.get(name, ())] for key in keys} <= {c.name for c in columns}


def test_an_unknown_table_lists_the_known_ones():
    with pytest.raises(KeyError, match="likelihoods"):
        schemas.schema("likelihood")


def test_lists_and_structs_survive_a_round_trip(tmp_path):
    row = {
        "item_id": "i", "candidate": "reference", "part": 0, "n_tokens": 2, "logprob": -1.5,
        "token_logprobs": [-0.5, -1.0], "argmax_hit": [True, False], "vocab_mean": [-2.0, -2.5],
        "vocab_std": [1.0, 1.5], "value_mask": [False, True],
    }  # fmt: skip
    artifacts.write_table([row], tmp_path / "l.parquet", "likelihoods")
    back = artifacts.read_table(tmp_path / "l.parquet", "likelihoods").iloc[0]
    assert np.allclose(back["token_logprobs"], [-0.5, -1.0]) and list(back["value_mask"]) == [False, True]
