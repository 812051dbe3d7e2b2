"""What the tests of review share: rows of which one is refused, their sheet, and what a person writes into it."""

import csv
import io

from mu2_sources import POOLS, SOURCES, break_file, pairs_of, write_sources
from unlearning.data.checking import run_checks
from unlearning.data.context import offline_context
from unlearning.data.languages import read_languages
from unlearning.data.phrasebook import read_phrasebook, values_table
from unlearning.review.csv_file import write_csv
from unlearning.review.decisions import decisions
from unlearning.review.sheets import looked_up, review_sheet


class Data:
    """German rows of the small mu2-Bench, one of them (a toy) refused by the checks, and their review sheet."""

    def __init__(self, folder):
        sources = write_sources(folder)
        break_file(sources / "de.yaml", "ball: Ball", "ball: Kreisel")  # two toys with one German word
        both = pairs_of(sources)
        self.english = both[both["language"] == "en"].reset_index(drop=True)
        self.pairs = both[both["language"] == "de"].reset_index(drop=True)
        self.values = values_table(POOLS, read_phrasebook(sources / "de.yaml", POOLS), "de")
        languages = read_languages(SOURCES / "languages.yaml")
        self.context = offline_context(languages["de"], tuple(languages), self.values)
        self.kept, self.rejected = run_checks(self.pairs, self.context)
        self.bad = self.rejected["id"].unique()

    def sheet(self, share=1.0, seed=0, decided=None, kept=None, rejected=None):
        kept = self.kept if kept is None else kept
        rejected = self.rejected if rejected is None else rejected
        back = looked_up(kept, rejected, self.values)
        return review_sheet(kept, rejected, self.english, "small", share, seed, decided, back)

    def row(self, ident):
        return self.pairs.set_index("pair_id").loc[ident]


def filled(sheet, ident, **cells):
    """`sheet` with what a person wrote into one row."""
    sheet = sheet.copy()
    for column, text in cells.items():
        sheet.loc[sheet["id"] == ident, column] = text
    return sheet


def saved_csv(sheet, path, separator=",", encoding="utf-8-sig", newline="\r\n", quoting=csv.QUOTE_MINIMAL):
    """`sheet` as another program saves it."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=separator, lineterminator=newline, quoting=quoting)
    writer.writerows([list(sheet.columns), *sheet.itertuples(index=False)])
    path.write_bytes(text.getvalue().encode(encoding))
    return path


def decided(data, tmp_path, ident, **cells):
    write_csv(filled(data.sheet(), ident, **cells), tmp_path / "decided.csv")
    return decisions(tmp_path / "decided.csv", ids=set(data.pairs["pair_id"]), cut="small")
