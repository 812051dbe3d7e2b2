"""Order: the file that runs the workflow first, so that the short tests run beside it on the other worker.

And what many files' tests start from: small phrasebooks, English pairs of them, figures.
"""

from pathlib import Path

import pytest

from mu2_sources import POOLS, people, write_sources
from unlearning.data.phrasebook import english_pairs, read_phrasebook


def pytest_collection_modifyitems(items):
    """Move the tests of test_workflow.py to the front, in their own order."""
    items.sort(key=lambda item: item.path.name != "test_workflow.py")


@pytest.fixture
def books(tmp_path):
    """The small English and German phrasebooks."""
    write_sources(tmp_path)
    return {code: read_phrasebook(tmp_path / f"{code}.yaml", POOLS) for code in ("en", "de")}


@pytest.fixture
def english(books):
    """Everybody's English pairs."""
    return english_pairs(people(), books["en"])


@pytest.fixture
def drawn(monkeypatch):
    """Figure's file name -> its axes, of a figure of the report that is not written."""
    from unlearning.report import figures

    found = {}

    def save(figure, path, **more):
        found[Path(path).stem] = figure.axes

    monkeypatch.setattr(figures.Figure, "savefig", save)
    return found
