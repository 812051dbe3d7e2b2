"""Models that are dropped: what goes, what stays, and what the report says of room."""

import json
import os

import pytest

from unlearning.cache import store
from unlearning.cache.dropping import drop, record_of
from unlearning.cache.provenance import beside
from unlearning.report.sizes import kind_of, sizes

RUN = "runs/b/m/default/p20/npo/s0"


def trained(results, folder: str, key: str, weights: bytes = b"x" * 1000):
    """A model below results/, kept in the store under `key`."""
    model = results / folder / "model.json"
    (model.parent / "weights").mkdir(parents=True)
    (model.parent / "weights/w.safetensors").write_bytes(weights)
    model.write_text(json.dumps({"trained": {"collapsed": True}}))
    beside(model).write_text(json.dumps({"key": key}))
    store.save(results / ".store", key, {"model": model, "weights": model.parent / "weights"})
    return model


def test_weights_and_their_entry_in_the_store_go_and_what_is_known_of_the_model_stays(tmp_path):
    model, other = trained(tmp_path, f"{RUN}/e1", "aa1"), trained(tmp_path, RUN, "aa2")
    record = record_of(model.parent)
    manifest = len((tmp_path / ".store/aa/aa1/manifest.json").read_bytes())
    assert drop(model, tmp_path / ".store") == 1000 + manifest  # the record has its other name yet
    assert not model.exists() and not model.with_name("weights").exists()
    assert record_of(model.parent) == record == {"trained": {"collapsed": True}}
    assert not store.restore(tmp_path / ".store", "aa1", {"model": model}) and other.exists()
    assert store.restore(tmp_path / ".store", "aa2", {"model": other})
    assert drop(model, tmp_path / ".store") == 0 and record_of(model.parent) == record


def test_a_dropped_model_that_another_links_to_frees_nothing_and_leaves_the_other(tmp_path):
    model = trained(tmp_path, "runs/b/m/default/p20/npo~1/s0", "aa1")
    chosen = tmp_path / RUN / "weights/w.safetensors"
    chosen.parent.mkdir(parents=True)
    os.link(model.parent / "weights/w.safetensors", chosen)
    assert drop(model, tmp_path / ".store") < 1000 and chosen.read_bytes() == b"x" * 1000


@pytest.mark.parametrize(
    "path, kind",
    [
        ("runs/b/m/default/all/base/s0/model.json", "base models"),
        ("runs/b/m/default/all/target/s0/weights/w.safetensors", "targets"),
        ("runs/b/m/default/p/retrain/s0/weights/x/y.json", "retrained"),
        (f"{RUN}/model.dropped.json", "unlearned"),
        ("runs/b/m/default/p/npo~2/s0/weights/w", "candidates"),
        (f"{RUN}/e1/weights/w", "models by epoch"),
        (f"{RUN}/e5/quantize/model.json", "attacked models"),
        (f"{RUN}/e5/quantize/scores.parquet", None),
        (f"{RUN}/train_log.parquet", None),
        ("data/weights/weights/weights/weights/weights/weights/weights/x", None),
        ("report/index.html", None),
    ],
)
def test_kinds_of_models_by_their_paths(path, kind):
    assert kind_of(tuple(path.split("/"))) == kind


def test_sizes_count_a_file_with_several_names_once_and_models_that_were_dropped(tmp_path):
    model = trained(tmp_path, f"{RUN}/e1", "aa1", b"x" * 2**20)
    trained(tmp_path, RUN, "aa2", b"x" * 2**21)
    (tmp_path / "data").mkdir()
    (tmp_path / "data/items.parquet").write_bytes(b"x" * 2**19)
    before = {row["what"]: row for row in sizes(tmp_path)}
    assert [(row["number"], round(row["mib"], 2)) for row in before.values()] == [
        (1, 2.0), (1, 1.0), (None, 0.5), (None, 0.0), (2, 3.5),
    ]  # fmt: skip
    drop(model, tmp_path / ".store")
    after = {row["what"]: row for row in sizes(tmp_path)}
    assert (after["models by epoch"]["number"], after["models by epoch"]["dropped"]) == (None, 1)
    assert after["all"]["dropped"] == 1 and round(after["all"]["mib"], 2) == 2.5
    assert sizes(tmp_path / "nowhere") == []
