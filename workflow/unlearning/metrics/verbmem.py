"""VerbMem: how much of a passage's true continuation is written after its beginning.

verbmem = mean over the passages of the F-measure of ROUGE-L, without stems, between what the model goes on with and the
true continuation. 0–1, low on forget is good. MUSE gives the first tokens of a passage as plain text and compares 128
tokens of either: here `asking.max_new_tokens` bounds what is written, and the set's `answer_words` the truth. Source:
MUSE (Shi et al. 2024), C1, and its published code.
"""

from unlearning.data.files_spec import PASSAGE
from unlearning.metrics import rouge_l
from unlearning.score.shares import task_rows
from unlearning.score.view import View

NEEDS = ("answers",)
ITEMS = ("passages",)
ROWS = (("verbmem", "asked", "pairs", ("all",)),)


def score(view: View) -> list[dict]:
    """One row a group and selection of languages; n = passages."""
    _, f_measure = rouge_l.against_references(view, view.run.answers, stems=False)
    return task_rows(view, "verbmem", f_measure, {"all": (PASSAGE,)}, "answer")
