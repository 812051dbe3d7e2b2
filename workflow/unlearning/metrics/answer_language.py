"""Answer language: answers written in another language than the question's.

Share of non-empty answers whose identified language (py3langid, restricted to the setting's languages) differs from
the question's; empty answers do not count, and an answer that repeats its reference is in the question's language.
0–1, low is good. Identification of one short sentence errs now and then: the target's own rate is the floor to compare
with. Source: μ²-Bench, "Existence of Code-mixed Output"; the measure is ours.
"""

import functools

import numpy as np

from unlearning.score.rows import mean_rows
from unlearning.score.view import View

NEEDS = ("answers",)
ITEMS = ("languages",)
ROWS = (("answer_language", ("forget", "retain"), "selections", ("all",)),)
GROUPS = ("forget", "retain")


def score(view: View) -> list[dict]:
    """One row a group and selection of languages; null where there is no non-empty answer, or only one language."""
    answers, values, what = view.run.answers, np.zeros(0), "answer that is not empty"
    if len(view.codes) < 2:
        answers, what = None, "second language to be answered in"
    if answers is not None:
        places = view.positions(answers)
        asked, group = (view.items[c].to_numpy(dtype=object)[places] for c in ("language", "group"))
        reference = view.items["reference"].to_numpy(dtype=object)[places]
        counted = np.isin(group.astype(str), GROUPS) & np.isin(asked.astype(str), view.codes)
        answers, asked, reference = answers[counted], asked[counted], reference[counted]
        identify = identifier(view.codes)
        values = [_differs(*row, identify) for row in zip(answers["text"].to_list(), asked, reference, strict=True)]
    return mean_rows(view, "answer_language", view.per_item(answers, values), what, GROUPS)


@functools.cache
def identifier(codes: tuple[str, ...]):
    """text -> language code among `codes`, remembering texts it has seen. ValueError names a code it does not know."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    model = LanguageIdentifier.from_model_file(MODEL_FILE)
    unknown = sorted(set(codes) - set(model.labels))
    if unknown:
        raise ValueError(f"py3langid does not know {', '.join(unknown)}: drop answer_language from the metrics")
    model.set_languages(codes)
    return functools.cache(lambda text: model.classify(text)[0])


def _differs(text: str, asked: str, reference: str, identify) -> float:
    text = text.strip()
    if not text:
        return np.nan
    return 0.0 if text == reference.strip() else float(identify(text) != asked)
