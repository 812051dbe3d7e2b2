"""The report's tables of how leak-resistant questions were built."""

import pandas as pd

from unlearning.report.construction import read_constructions
from unlearning.tables.artifacts import write_table


def test_funnel_and_quality_are_told_by_type_with_a_dash_and_a_reason_for_what_there_is_not(tmp_path):
    folder = tmp_path / "own" / "small"
    folder.mkdir(parents=True)
    counts = {("hs", "matched"): 9, ("hs", "kept"): 4, ("cc", "matched"): 7, ("cc", "kept"): 0}
    funnel = pd.DataFrame([(*key, n) for key, n in counts.items()], columns=["type", "step", "n"])
    write_table(funnel, folder / "funnel.parquet", "funnel")
    quality = pd.DataFrame(
        [("all", "self_bleu", 0.25, 4, None), ("all", "answer_entropy", 2.0, 4, None),
         ("cc", "self_bleu", None, 0, "0 texts; two or more are compared"), ("cc", "answer_entropy", None, 0, "none")],
        columns=["type", "measure", "value", "n", "note"],
    )  # fmt: skip
    write_table(quality, folder / "quality.parquet", "quality")
    steps, varied = read_constructions([str(folder / "quality.parquet"), str(folder / "funnel.parquet")])
    assert steps.benchmark == varied.benchmark == "own" and steps.columns == ("Type", "matched", "kept")
    assert steps.rows == (("HS hypothetical syllogism", "9", "4"), ("CC conjunctive composition", "7", "0"))
    assert varied.rows == (("all", "4", "0.250", "2.000"), ("CC", "0", "–", "–"))
    assert "0 texts; two or more are compared" in varied.caption and "Ratings" not in varied.caption
    rated = quality.iloc[:1].assign(measure="llm_rating", value=91.5)
    write_table(pd.concat([quality, rated]), folder / "quality.parquet", "quality")
    (varied,) = read_constructions([str(folder / "quality.parquet")])
    assert varied.rows[0] == ("all", "4", "0.250", "2.000", "91.500") and "Ratings (0-100)" in varied.caption
    assert steps.csv.splitlines() == [
        "Type,matched,kept",
        "HS hypothetical syllogism,9,4",
        "CC conjunctive composition,7,0",
    ]
