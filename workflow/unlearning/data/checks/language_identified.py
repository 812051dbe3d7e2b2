"""The text is in the language asked for, by statistical identification."""

import functools

import pandas as pd

from unlearning.data.context import Context
from unlearning.data.text import NAME_MASK, PARTS, masked_parts, per_distinct

# Question or answer alone is short: only a sure verdict counts against it. Measured on our phrasebooks in 8 languages:
# no right text is refused, and an answer (question) in another of the languages is caught in 99 % (98 %) of the pairs;
# looking at both together only would miss a third of the Latin ones and all within Cyrillic or Thai text.
SURE = 0.8


def failures(pairs: pd.DataFrame, context: Context) -> pd.Series:
    """Reason per row of `pairs` that py3langid takes for another of `context.codes`, or None.

    The question together with the answer, and with the paraphrase, must be taken for the language; none of the three
    alone may be taken for another with a probability of SURE or more. The name is left out; each distinct text is
    identified once.
    """
    texts = masked_parts(pairs)
    reason = functools.partial(_reason, identifier=_identifier(context.codes), language=context.language.code)
    return per_distinct(texts, list(PARTS), reason)


@functools.cache
def _identifier(codes: tuple[str, ...]):
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages(list(codes))
    return identifier


def _reason(question: str, answer: str, paraphrase: str, identifier, language: str) -> str | None:
    parts = [("question", question, SURE)]
    for part, text in (("answer", answer), ("paraphrase", paraphrase)):
        parts += [(f"question and {part}", f"{question} {text}", 0.0), (part, text, SURE)]
    for part, text, sure in parts:
        found, probability = identifier.classify(text.replace(NAME_MASK, " "))
        if found != language and probability >= sure:
            return f"{part} identified as {found} (probability {probability:.2f}), not {language}"
    return None
