"""The report as a whole: files, page, escaping, provenance, equal inputs giving equal files, and its headline."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from report_fakes import CONFIG, identity, mu2_rows, row, small_project, tofu_rows, write_log, write_run
from unlearning.report.headline import Number, compare, headline
from unlearning.report.sources import read_funnel, read_logs, read_roles, read_runs, read_scores, read_times, step_of
from unlearning.report.tables import averaged
from unlearning.tables.artifacts import read_table, write_table, write_text

ROOT = Path(__file__).resolve().parents[1]
TEMPLATE = sorted(str(path) for path in (ROOT / "resources/report").iterdir())
HOSTILE = '<script>alert("x")</script> {{ 7*7 }}'


def script():
    sys.path.insert(0, str(ROOT / "workflow/scripts"))
    try:
        import report
    finally:
        sys.path.pop(0)
    return report.report


def make(folder: str, **inputs) -> str:
    """Run the script's function from the working directory; the page's text."""
    script()(
        **{"config_text": CONFIG, **inputs}, template=TEMPLATE, page=f"{folder}/index.html", tables=f"{folder}/tables",
        figures=f"{folder}/figures", scores_all=f"{folder}/scores.parquet",
    )  # fmt: skip
    return Path(folder, "index.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """(folder, page) of a report on a small mu2 and TOFU project."""
    root = tmp_path_factory.mktemp("project")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        page = make("results/report", **small_project(Path()))
    return root, page


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty project as the working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def tofu_run(method="npo_gd", seed=0, **changes) -> list[dict]:
    return [
        {**r, **changes} for r in tofu_rows(identity("tofu", method, seed=seed, setting="default", split="forget01"))
    ]


def test_every_table_comes_in_three_formats_and_every_figure_in_two(project):
    root, _ = project
    mu2 = {p.name for p in (root / "results/report/tables/mu2/small-s1-p5").iterdir()}
    assert mu2 == {f"{name}.{end}" for end in ("csv", "md", "tex") for name in (
        "results", "drop_by_resource", "drop_by_script", "ps_by_language", "se_by_language", "attacks")}  # fmt: skip
    drawn = {p.name for p in (root / "results/report/figures/mu2/small-s1-p5").iterdir()}
    names = ("tradeoff_ps", "tradeoff_se", "languages_se", "languages_ps", "attacks_se", "attacks_ps", "training")
    assert drawn == {f"{name}.{end}" for end in ("svg", "png") for name in names}
    assert (root / "results/report/tables/tofu/small-default-forget01/model_utility.tex").is_file()
    assert not [p for p in (root / "results/report").iterdir() if p.name.startswith(".")]


def test_the_merged_table_holds_every_row_once(project):
    root, _ = project
    merged = read_table(root / "results/report/scores.parquet", "scores")
    parts = [read_table(p, "scores") for p in (root / "results/runs").rglob("scores.parquet")]
    assert len(merged) == sum(map(len, parts)) and merged["method"].nunique() == 8


def test_the_page_loads_nothing(project):
    _, page = project
    loads = re.findall(r'(?:src|href|srcset|action|poster)="([^"]*)"', page)
    assert loads and all(address.startswith(("data:", "#")) for address in loads)
    assert not re.search(r"@import|url\(|fetch\(|XMLHttpRequest|<iframe|<object|<embed|<base", page)
    assert page.count("data:image/svg+xml;base64,") == 8


def test_headers_can_be_sorted_and_cells_carry_their_numbers(project):
    _, page = project
    header = re.search(r'<th scope="col"><button type="button"[^>]*>PS forget .*?</th>', page)
    assert "lower is better" in header.group()
    assert (
        '<td data-sort=""><abbr tabindex="0" title="no TyDi QA file was given (data.tydi.path)">–</abbr></td>' in page
    )
    assert "aria-sort" in page


def test_rows_link_to_the_provenance_of_their_run(project):
    _, page = project
    links = set(re.findall(r'href="#(run-[^"]+)"', page))
    assert "run-mu2-small-s1-p5-npo_gd-quantize" in links and len(links) == 14
    assert links == set(re.findall(r'<details class="run" id="([^"]+)"', page))


def test_provenance_goes_back_through_every_artifact(project):
    _, page = project
    entry = page.split('id="run-mu2-small-s1-p5-npo_gd-none"')[1].split('<details class="run"')[0]
    assert "results/runs/mu2/small/s1/p5/npo_gd/s0/e3/none/scores.parquet" in entry
    assert "none/answers.parquet" in entry and "npo_gd/s0/model.json" in entry
    assert "a1" * 32 in entry and "beef" * 16 in entry and "numpy 2.3.5" in entry and "seed 0, epoch 3" in entry


def test_collapsed_runs_carry_a_dagger_in_every_format(project):
    root, page = project
    assert re.search(r">ga</a> <abbr title=\"† A run", page) and not re.search(r">ga_gd</a> <abbr", page)
    folder = root / "results/report/tables/mu2/small-s1-p5"
    assert "| ga † |" in (folder / "results.md").read_text() and "textdagger" in (folder / "results.tex").read_text()


def test_times_are_added_up_by_step(project):
    root, page = project
    # two unlearning jobs, 31.2 + 30.1 = 61.3 s, peak 911.4 MiB; scoring's memory was not measured
    assert read_times(str(root / "results/benchmarks")) == [
        {"step": "unlearn", "jobs": 2, "seconds": pytest.approx(61.3), "peak": 911.4},
        {"step": "score", "jobs": 1, "seconds": 1.2, "peak": None},
    ]
    assert '<td data-sort="2">2</td><td data-sort="61.3">61.3</td><td data-sort="911.4">911</td>' in page


@pytest.mark.parametrize(
    ("path", "step"),
    [("runs/mu2/small/s1/target/s0.tsv", "target"), ("runs/mu2/small/s1/p5/retrain/s0.tsv", "retrain"),
     ("runs/mu2/small/s1/p5/npo/s0.tsv", "unlearn"), ("runs/mu2/small/s1/p5/npo/answer/s0-e1-none.tsv", "answer"),
     ("data/mu2/small/mu2_build/s1.tsv", "mu2_build"), ("data/mu2/small/mu2_pairs.tsv", "mu2_pairs"),
     ("report.tsv", "report")],
)  # fmt: skip
def test_the_step_of_a_benchmark_file_is_read_off_its_path(path, step):
    assert step_of(Path(path)) == step


def test_no_benchmark_files_is_no_error(here):
    assert read_times("results/benchmarks") == []


def test_the_funnel_counts_kept_and_refused_rows_and_the_page_says_where_nothing_was_kept(project):
    root, page = project
    data = root / "results/data/mu2/small"
    funnel = read_funnel([str(data / "rejected.parquet")], [str(data / "pairs.parquet")])
    assert funnel[-1] == {
        "language": "th", "kept": 20, "refused": {"answer_in_question": 3, "language": 2, "same_translation": 0},
    }  # fmt: skip
    assert [row["language"] for row in funnel if row["kept"] == 0] == ["lv"]
    assert page.count("No question was kept in") == 1 and "No question was kept in lv: its scores are null." in page
    assert read_funnel([str(data / "rejected.parquet")], [])[0]["kept"] is None


def test_a_row_refused_in_two_rounds_counts_once(here):
    rows = [{"id": "a", "language": "th", "check": "c", "reason": "r", "round": i, "content": "{}"} for i in (1, 2)]
    write_table(rows, here / "r.parquet", "rejected")
    assert read_funnel(["r.parquet"], [])[0]["refused"] == {"c": 1}


def test_equal_inputs_give_equal_files(here):
    # SE alone is enough for a heat map and attack bars; TOFU gives a scatter, the log training curves
    runs = [identity(method=m, attack=a) for m, a in (("target", "none"), ("ga", "none"), ("ga", "quantize"))]
    scores = [write_run(here, [r for r in mu2_rows(run) if r["metric"] == "se"]) for run in runs]
    scores += [write_run(here, tofu_run(m)) for m in ("target", "npo_gd")]
    inputs = {"scores": scores, "logs": [write_log(here, identity(method="ga"))]}
    assert make("one", **inputs) == make("two", **inputs)
    files = [p.relative_to("one") for p in Path("one").rglob("*") if p.is_file()]
    assert sorted(f.stem for f in files if f.suffix == ".svg") == ["attacks_se", "languages_se", "tradeoff", "training"]
    assert [f for f in files if Path("one", f).read_bytes() != Path("two", f).read_bytes()] == []


def test_seconds_and_dates_of_the_runs_stay_out_of_the_page(here):
    path = write_run(here, tofu_run())
    first = make("one", scores=[path])
    beside = Path(path).with_name("scores.provenance.json")
    facts = {**json.loads(beside.read_text()), "seconds": 98765.4, "action": "restored"}
    write_text(beside, json.dumps(facts))
    assert make("two", scores=[path]) == first and "98765" not in first


def test_text_from_data_is_escaped_everywhere(here):
    rows = tofu_run(method="npo_gd")
    rows[0].update(value=None, ci_low=None, ci_high=None, note=HOSTILE)
    page = make("out", scores=[write_run(here, rows)], config_text=f"note: '{HOSTILE}'")
    assert "<script>alert" not in page and "{{ 7*7 }}" in page and "49" not in page.split("{{ 7*7 }}")[0][-40:]
    assert "&lt;script&gt;alert(&#34;x&#34;)&lt;/script&gt;" in page
    assert page.count("<script>") == 1


def test_a_report_without_attacks_logs_or_provenance_is_still_made(here):
    page = make("out", scores=[write_run(here, tofu_run(), provenance=False)])
    assert "No provenance file lies beside it." in page
    assert not list(Path("out/figures").rglob("training.*")) and not list(Path("out/tables").rglob("attacks.*"))
    assert 'id="time"' not in page and 'id="data"' not in page


def test_an_unknown_benchmark_is_shown_with_every_score(here):
    path = write_run(here, [row(identity("novel", "ga"), "odd_metric", 0.75)])
    page = make("out", scores=[path])
    assert "odd metric" in page and "0.75" in page
    assert Path("out/tables/novel/small-s1-p5/results.csv").is_file()


def test_a_picture_of_all_faces_stands_in_the_page_of_its_benchmark(here):
    path = write_run(here, [row(identity("novel", "ga"), "odd_metric", 0.75)])
    Path("data/novel/small").mkdir(parents=True)
    Path("data/novel/small/faces.png").write_bytes(b"not drawn")
    page = make("out", scores=[path], faces=["data/novel/small/faces.png"])
    assert 'id="novel-faces"' in page and 'src="data:image/png;base64,bm90IGRyYXdu"' in page
    assert "novel-faces" not in make("out", scores=[path])


def test_an_old_report_is_replaced_and_a_failed_one_leaves_it(here, monkeypatch):
    path = write_run(here, tofu_run())
    make("out", scores=[path])
    write_text(Path("out/tables/stale.csv"), "old")
    make("out", scores=[path])
    assert not Path("out/tables/stale.csv").exists()
    before = sorted(Path("out").rglob("*"))
    with pytest.raises(ValueError, match="not a run's training log"):
        make("out", scores=[path], logs=["train_log.parquet"])
    assert sorted(Path("out").rglob("*")) == before


def test_no_scores_and_missing_templates_are_said():
    with pytest.raises(ValueError, match="no score tables"):
        read_scores([])
    with pytest.raises(ValueError, match="index.html.j2"):
        sys.modules["report"]._templates([])


def test_paths_of_logs_name_their_runs(here):
    (log,) = read_logs([write_log(here, identity(method="ga", seed=4))])
    assert (log.benchmark, log.base_model, log.setting, log.split, log.method, log.seed) == (
        "mu2", "small", "s1", "p5", "ga", "s4",
    )  # fmt: skip


def test_a_circle_in_provenance_ends(here):
    path = write_run(here, tofu_run())
    write_text(Path(path).with_name("answers.provenance.json"), json.dumps({"inputs": {path: "x"}}))
    (run,) = read_runs(read_scores([path]))
    assert len(run.artifacts) == 2


def test_roles_come_from_the_configuration():
    assert read_roles({"benchmarks": {"files": {}, "mu2": {"settings": {"s": {"train": ["en"]}}}}}) == {
        "files": {}, "mu2": {"s": {"train": ["en"], "holdout": []}},
    }  # fmt: skip


def test_reporting_loads_no_deep_learning_library():
    code = (
        "import sys, unlearning.report.assemble, unlearning.report.html; "
        "print({'torch', 'transformers', 'snakemake'} & set(sys.modules))"
    )
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT / "workflow"
    )
    assert out.stdout.strip() == "set()"


def finding(rows: list[dict], collapsed=()) -> str:
    frame = pd.DataFrame(rows).astype({"value": float, "ci_low": float, "ci_high": float})
    panel = {k: rows[0][k] for k in ("benchmark", "base_model", "setting", "split")}
    return headline(panel, averaged(frame.assign(collapsed=frame["method"].isin(collapsed))))


def se(method: str, train: float, holdout: float, keep: float) -> list[dict]:
    run = identity(method=method)
    return [row(run, "se", train, language="train"), row(run, "se", holdout, language="holdout"),
            row(run, "ps", keep, "retain", "train")]  # fmt: skip


def test_the_headline_names_the_best_usable_method_and_claims_no_more_than_the_intervals():
    # ga forgets most but keeps 0.5 < 0.9 * 1.0; npo keeps 0.95. Intervals are ± 0.04: in training 0.20 lies above 0.10
    # (0.16 > 0.14); in hold-out the target's 0.12 cannot be told from 0.10
    rows = (
        se("target", 0.9, 0.12, 1.0)
        + se("retrain", 0.1, 0.1, 1.0)
        + se("ga", 0.0, 0.0, 0.5)
        + se("npo", 0.2, 0.1, 0.95)
    )
    text = finding(rows)
    assert text.startswith("1 of 2 unlearned methods keeps at least 90 % of the target's retain probability")
    assert "npo answers the fewest" in text and "0.20 [0.16, 0.24] (target 0.90 [0.86, 0.94]" in text
    assert "more than the retrained model; on the hold-out languages" in text
    assert text.endswith("where the target itself is not distinguishable from the retrained model.")


def test_the_headline_never_praises_a_collapsed_method():
    rows = se("target", 0.9, 0.5, 1.0) + se("retrain", 0.1, 0.1, 1.0) + se("npo", 0.0, 0.0, 0.95)
    assert finding(rows, collapsed=("npo",)) == (
        "None of 1 unlearned method keeps at least 90 % of the target's retain probability (PS) on the training "
        "languages (1 collapsed)."
    )


def test_the_tofu_headline_reads_the_p_value():
    assert "the test tells it from the retrained model" in finding(tofu_run("target") + tofu_run("ga_gd"))
    assert "does not tell it from the retrained model" in finding(tofu_run("target") + tofu_run("npo_gd"))


def test_intervals_decide_what_lies_above():
    low, high, none = Number(0.1, 0.05, 0.15), Number(0.3, 0.2, 0.4), Number(0.2, float("nan"), float("nan"))
    assert [compare(low, high), compare(high, low), compare(low, low), compare(low, none), compare(None, low)] == [
        "below", "above", "level", "unknown", "unknown",
    ]  # fmt: skip
