"""Where people's decisions lie: <folder>/<benchmark>/<language>.csv and the like; files that lie elsewhere are told."""

import collections
import difflib
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from unlearning.config.problems import listed, nearest
from unlearning.review.rows import ENDINGS

# what editors, systems and version control leave in a folder; hidden files (.gitkeep, .~lock.th.xlsx#) too
ASIDE = re.compile(r"\..*|~\$.*|.*~|readme.*|.*\.md|thumbs\.db|desktop\.ini", re.IGNORECASE)
BENCHMARK = re.compile(r"[a-z0-9_]+")  # what a benchmark may be called
WORKBOOKS = (".xls", ".xlsm", ".xlsb", ".ods", ".numbers")


def decision_files(folder: Path | str, benchmark: str, language: str) -> list[str]:
    """The files of people's decisions about a benchmark's language that are there."""
    found = (Path(folder) / benchmark / f"{language}{ending}" for ending in ENDINGS)
    return [str(path) for path in found if path.is_file()]


def misplaced(folder: Path | str, benchmarks: Mapping[str, bool], languages: Mapping[str, str]) -> list[str]:
    """For each file below `folder` that nothing reads: its path, what is wrong, and the name it should probably have.

    `benchmarks`: those of the configuration, and whether people review them; `languages`: code -> English name. What is
    clearly no review sheet (hidden files, locks and copies of editors, notes) is passed over; so is what `elsewhere`
    tells of.
    """
    reviewed = [name for name, there in benchmarks.items() if there]
    return [
        f"{path}: {_fault(path, Path(folder), reviewed, languages)}"
        for path in _sheets(Path(folder))
        if not _taken(inside := path.relative_to(folder), reviewed, languages) and not _elsewhere(inside, benchmarks)
    ]


def elsewhere(folder: Path | str, benchmarks: Collection[str]) -> list[str]:
    """For each folder in `folder` that may be of a benchmark which only other overlays define: its path, and that.

    `benchmarks`: those of the configuration. Another overlay's benchmark and a slip of the pen look alike, so the
    nearest name is told.
    """
    inside = (path.relative_to(folder) for path in _sheets(Path(folder)))
    found = collections.Counter(path.parts[0] for path in inside if _elsewhere(path, benchmarks))
    return [
        f"{Path(folder) / name}: this configuration has no benchmark {name!r}, so people's decisions in it ({n} "
        f"file{'s' * (n > 1)}) are not read.{nearest(name, benchmarks)}"
        for name, n in found.items()
    ]


def _elsewhere(inside: Path, benchmarks: Collection[str]) -> bool:
    *folders, _ = inside.parts
    return bool(folders and BENCHMARK.fullmatch(folders[0]) and not set(folders) & set(benchmarks))


def _sheets(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not any(ASIDE.fullmatch(part) for part in path.relative_to(folder).parts):
            yield path


def _taken(inside: Path, benchmarks: Collection[str], languages: Mapping[str, str]) -> bool:
    there = len(inside.parts) == 2 and inside.parts[0] in benchmarks
    return there and inside.stem in languages and inside.suffix in ENDINGS


def _fault(path: Path, folder: Path, benchmarks: Collection[str], languages: Mapping[str, str]) -> str:
    benchmark = _benchmark(path.relative_to(folder).parts[:-1], benchmarks)
    if benchmark is None:
        return f"put it into the folder of the benchmark whose data it reviews; there are: {listed(benchmarks)}"
    language = _language(path.stem, languages)
    if language is None:
        return f"name it by its language; there are: {', '.join(f'{c} ({n})' for c, n in languages.items())}"
    ending = path.suffix.lower()
    read = ending in ENDINGS
    wanted = folder / benchmark / f"{language}{ending if read else '.xlsx' if ending in WORKBOOKS else '.csv'}"
    if not read:
        return f"files ending in {ending or 'nothing'} are not read; save it as {wanted}"
    if wanted.is_file() and not wanted.samefile(path):
        return f"{wanted} is there too; put the rows that you want into that file and take this one away"
    return f"name it {wanted.name}" if wanted.parent == path.parent else f"move it to {wanted}"


def _benchmark(folders: tuple[str, ...], benchmarks: Collection[str]) -> str | None:
    """The benchmark meant by the folders a file lies in; without a folder, the only benchmark there is."""
    if not folders:
        return next(iter(benchmarks)) if len(benchmarks) == 1 else None
    named = [n for n in folders if n in benchmarks] or difflib.get_close_matches(folders[0].lower(), benchmarks, n=1)
    return named[0] if named else None


def _language(stem: str, languages: Mapping[str, str]) -> str | None:
    """The language meant by a file's name: the only one whose code or name stands in it, or else one spelt alike."""
    words = {code: code for code in languages} | {name.lower(): code for code, name in languages.items()}
    found = {words[word] for word in re.split(r"[^a-z]+", stem.lower()) if word in words}
    close = found or {words[word] for word in difflib.get_close_matches(stem.lower(), words, n=1)}
    return close.pop() if len(close) == 1 else None
