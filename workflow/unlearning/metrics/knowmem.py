"""KnowMem: are questions about a text answered as the text has it?

knowmem = mean over the questions of the F-measure of ROUGE-L, without stems, between the answer and the right one; an
answer ends where the model goes on to a new paragraph or question. 0–1, low on forget is good; on retain it is MUSE's
utility. The paper says ROUGE, its published code takes the F-measure and asks after ten worked examples: here a
question is asked by itself. Source: MUSE (Shi et al. 2024), C2 and C4, and its published code.
"""

import re

from unlearning.metrics import rouge_l
from unlearning.score.shares import task_rows
from unlearning.score.view import View

NEEDS = ("answers",)
ROWS = (("knowmem", "asked", "pairs", ("all",)),)
ENDS = re.compile(r"\n\n|\nQuestion|Question:")


def score(view: View) -> list[dict]:
    """One row a group and selection of languages; n = knowledge instances."""
    answers = view.run.answers
    if answers is not None:
        answers = answers.assign(text=[ended(text) for text in answers["text"]])
    _, f_measure = rouge_l.against_references(view, answers, stems=False)
    return task_rows(view, "knowmem", f_measure, {"all": ("qa",)}, "answer")


def ended(text: str) -> str:
    """`text` up to a blank line or the next question."""
    return ENDS.split(text, maxsplit=1)[0]
