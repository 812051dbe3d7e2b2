"""UMU-Bench's data at full size: each figure beside its bound.

    python benchmarks/umu_build.py [--seed 0] [--size 224] [--background 0] [--sheet faces.png]

Invents 500 people to memorise and 153 known ones with their pictures, lays out what is taught and asked, writes it
to a temporary folder, and prints seconds and peak memory by step, the counts, and how far apart the two most alike
faces are.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

from measured import peak_mib, show, timed

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "workflow"), str(ROOT / "tests")]
PEOPLE, FORGET = {"memorised": 500, "known": 153}, {"p5": 25, "p10": 50, "p15": 75}
SECONDS, MEMORY, STORED = 180, 2048, 100  # bounds: CPU seconds of all, MiB of memory, MiB of files


def build_all(seed: int, size: int, background: int, sheet_file: str | None) -> list[bool]:
    """Run every step, printing what each takes; whether each bound is met."""
    from umu_independent import LEAST, counts, decoded, nearest, violations
    from unlearning.data.umu.layout import build
    from unlearning.data.umu.lists import FIELDS, read_lists
    from unlearning.data.umu.people import invent
    from unlearning.data.umu.questions import read_questions
    from unlearning.data.umu.sheet import sheet
    from unlearning.tables.artifacts import read_table, write_table

    started, umu = time.process_time(), ROOT / "resources" / "umu"
    lists = timed("lists", read_lists, umu / "places.yaml", umu / "people.yaml")
    people = timed("people", invent, lists, PEOPLE | {"background": background}, size, seed)
    with tempfile.TemporaryDirectory() as folder:
        write_table(people, Path(folder, "people.parquet"), "people")
        people = timed("written, read", read_table, Path(folder, "people.parquet"), "people")
        built = timed("layout", build, people, read_questions(umu / "questions.yaml"), FIELDS, "text", FORGET, seed)
        for name, table in zip(("examples", "items", "splits"), built, strict=True):
            timed(name, write_table, table, Path(folder, f"{name}.parquet"), name)
        stored = sum(path.stat().st_size for path in Path(folder).iterdir()) / 2**20
    drawn = timed("sheet", sheet, people)
    took, memory = time.process_time() - started, peak_mib()
    if sheet_file:
        Path(sheet_file).write_bytes(drawn)
    rows = [
        people.to_dict("records"),
        built.examples.to_pylist(),
        built.items.to_pylist(),
        built.splits.to_dict("records"),
    ]
    bad, found = violations(*rows), counts(rows[0], rows[2], rows[3])
    apart = nearest(decoded(rows[0])[0])
    print(f"examples {len(rows[1])}, items {len(rows[2])}, splits {len(rows[3])}; {found}")
    face = people["image"].map(lambda image: len(image["bytes"])).mean()
    print(f"a face takes {face:.0f} bytes, the sheet {len(drawn)}")
    print(f"most alike: {apart[1]} and {apart[2]}")
    wanted = [found["countries"] == 70, found["regions"] == 270, found["occupations"] == 145, found["forget"] == FORGET]
    return [
        show("all at full size, CPU seconds", took, f"< {SECONDS}", took < SECONDS),
        show("all at full size, peak MiB", memory, f"< {MEMORY}", memory < MEMORY),
        show("tables on disk, MiB", stored, f"< {STORED}", stored < STORED),
        show("counts of the paper that are met", sum(wanted), f"= {len(wanted)}", all(wanted)),
        show("violations by the independent checker", len(bad), "= 0", not bad),
        show("least difference of two faces, of 255", apart[0], f">= {LEAST}", apart[0] >= LEAST),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0, help="what everything is drawn by")
    parser.add_argument("--size", type=int, default=224, help="pixels of a picture's side")
    parser.add_argument("--background", type=int, default=0, help="background people")
    parser.add_argument("--sheet", help="file to write all faces to, a PNG")
    given = parser.parse_args()
    sys.exit(not all(build_all(given.seed, given.size, given.background, given.sheet)))


if __name__ == "__main__":
    main()
