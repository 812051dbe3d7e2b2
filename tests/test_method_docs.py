"""docs/methods.md is what the modules say. What a method costs is held against runs in test_method_runs."""

import re

from configurations import ROOT
from unlearning.config import method_docs
from unlearning.registry import declared

EVERY = [(folder, name) for folder in method_docs.KINDS for name in method_docs.names(folder)]


def test_the_page_of_methods_is_up_to_date():
    page = (ROOT / "docs/methods.md").read_text(encoding="utf-8")
    assert page == method_docs.render(), "docs/methods.md is out of date: run `make docs`"


def test_costs_by_hand():
    assert method_docs.cost("forget", "ga") == {"forward": 1, "reference": 0}
    assert method_docs.cost("forget", "dpo") == {"forward": 2, "reference": 0}
    assert method_docs.cost("retain", "kl") == {"forward": 1, "reference": 1}
    assert method_docs.cost("retain", "none") == {"forward": 0, "reference": 0}
    assert [method_docs.models("forget", name) for name in ("npo", "undial")] == [1, 2]


def test_every_need_is_put_in_words_and_no_other():
    needs = {need for folder, name in EVERY for need in declared(f"unlearning.{folder}.{name}", "NEEDS")}
    assert needs == set(method_docs.NEEDED)


def test_every_paper_that_a_docstring_names_is_listed_and_no_other():
    texts = [" ".join(method_docs.docstrings(f"unlearning.{folder}.{name}").values()) for folder, name in EVERY]
    named = set(re.findall(r"[A-Z]\w+ (?:et\s+al\. )?20\d\d", " ".join(texts)))
    assert len(named) > 10 and {" ".join(paper.split()) for paper in named} <= set(method_docs.SOURCES)
    assert {short for text in texts for short in method_docs.sources(text)} == set(method_docs.SOURCES)
