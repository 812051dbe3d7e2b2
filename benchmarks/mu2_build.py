"""Full-size offline construction of mu2-Bench: 250 people x 20 attributes in Setting 1's languages, every check.

    PYTHONPATH=workflow python benchmarks/mu2_build.py [--languages en de …] [--background 0]

Prints seconds by step, rows kept and refused, and the peak memory of the process.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

from measured import peak_mib, timed

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "workflow" / "scripts"), str(ROOT / "workflow")]
SETTING_1 = ["en", "de", "id", "af", "es", "lv", "th", "mk"]
SOURCES = ROOT / "resources" / "mu2"


def build_all(folder: Path, languages: list[str], background: int) -> None:
    """Run the five construction steps into `folder`, printing the seconds of each."""
    from mu2_build import mu2_build
    from mu2_pairs import mu2_pairs
    from mu2_profiles import mu2_profiles
    from mu2_translate import mu2_translate
    from mu2_values import mu2_values
    from unlearning.data.phrasebook import read_pools

    pools, books = SOURCES / "pools.yaml", {code: SOURCES / "phrasebook" / f"{code}.yaml" for code in languages}
    counts = {"memorised": 200, "nonmember": 50, "background": background}
    profiles, pairs_en = folder / "profiles.parquet", folder / "pairs_en.parquet"
    timed("profiles", mu2_profiles, pools, list(books.values()), profiles, counts, list(read_pools(pools)), 0)
    timed("pairs", mu2_pairs, profiles, books["en"], pairs_en)
    for code, book in books.items():
        values, pairs, rejected = (folder / f"{name}_{code}.parquet" for name in ("values", "pairs", "rejected"))
        timed(f"values {code}", mu2_values, pools, book, values, code)
        timed(
            f"translate {code}",
            mu2_translate,
            pairs_en,
            values,
            pools,
            book,
            SOURCES / "languages.yaml",
            pairs,
            rejected,
            code,
            "full",
        )
    files = [folder / f"pairs_{code}.parquet" for code in languages]
    outputs = [folder / f"{name}.parquet" for name in ("examples", "items", "splits")]
    roles = {code: "train" if i < len(languages) / 2 else "holdout" for i, code in enumerate(languages)}
    timed("build", mu2_build, files, *outputs, roles, {"p1": 2, "p3": 6, "p5": 10}, 0.05 if background else 0.0, 0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--languages", nargs="+", default=SETTING_1, help="training languages first, en among them")
    parser.add_argument("--background", type=int, default=0, help="background people beside the 250")
    options = parser.parse_args()
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        build_all(Path(folder), options.languages, options.background)
    rows = (250 + options.background) * 20 * len(options.languages)
    print(f"{rows} rows with all checks: {time.perf_counter() - started:.1f} s, peak {peak_mib():.0f} MiB")


if __name__ == "__main__":
    main()
