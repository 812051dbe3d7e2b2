"""Why a row is refused: every name that the tables `rejected` and `rounds` may give, and what the cards say of it.

The mechanical checks (`unlearning.data.checks`) say it in their modules' first line.
"""

from unlearning.registry import available

STEPS = {
    "no_reply": "The language model gives a reply that can be read.",
    "one_value": "A translated value is one word or phrase alone.",
    "question_kept": "A refined English question is still a question.",
    "back_translation": "Every text comes back when it is translated back into English.",
    "equivalence": "What comes back is judged to mean what the English says.",
    "value_translation": "The value has a translation that was accepted.",
}  # of the construction by language models
LEAK = {
    "quality": "An extracted fact is complete, says something, and stands in the text it was taken from.",
    "repeated": "A question's wordings differ.",
    "aliases": "What is given as another form of an answer names nothing else.",
    "leak": "A multi-hop question names nothing that would give its bridge or its answer away.",
    "decomposition": "A multi-hop question splits into its own facts: none skipped, no foreign entity.",
    "uniqueness": "A multi-hop question has one right answer.",
}  # of the construction of multi-hop questions
LUME = {
    "length": "A document has as many words as its task asks for.",
    "characters": "A story names all of its characters and its place.",
    "fields": "A biography holds every field of its person, in whatever format.",
    "cut": "A sentence begins in the second half of a document, where it can be cut.",
    "question": "A question has one short answer, which stands in its document and not in the question.",
    "verifiers": "All three language models that verify answer a question from its document, and alike.",
    "near_duplicate": "No document is much like another of its task.",
}  # of the construction of documents and their prompts
SCHOOL = {
    "choice_question": "A multiple-choice question ends with a question mark.",
    "choice_options": "It has four different options, one of them right, none of which speaks of the others.",
    "choice_named": "It does not name the right option.",
    "choice_duplicate": "It is not much like another one.",
    "choice_verifiers": "Two language models, who are not told, choose its right option.",
}  # of the construction of multiple-choice questions
REVIEW = {"review": "No person who read the row rejected it."}
KNOWN = frozenset({*available("data/checks"), *STEPS, *LEAK, *LUME, *SCHOOL, *REVIEW})


def known(check: str) -> str:
    """`check`, which some card explains. KeyError: it is none of those."""
    if check not in KNOWN:
        raise KeyError(f"unknown check {check!r}; there are: {', '.join(sorted(KNOWN))}")
    return check


def reason(check: str, why: str) -> tuple[str, str]:
    """That `check` refuses a text, and what it saw."""
    return known(check), why
