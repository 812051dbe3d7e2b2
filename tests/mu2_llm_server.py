"""An OpenAI-compatible endpoint on loopback that plays the translation route's roles, reading only what it is sent.

What it says is right by the phrasebooks, but where `faults` says otherwise. The prompts' words are read back here, so
a prompt whose wording changes needs a look at this file too.
"""

import json
import re
from collections import Counter
from collections.abc import Callable

from loopback import Answer, Call, Loopback, completion
from mu2_llm_fakes import fitting
from mu2_sources import SOURCES
from unlearning.data.languages import read_languages
from unlearning.data.phrasebook import read_phrasebook, read_pools

POOLS = read_pools(SOURCES / "pools.yaml")
LANGUAGES = {language.name: code for code, language in read_languages(SOURCES / "languages.yaml").items()}
BOOKS = {code: read_phrasebook(SOURCES / f"phrasebook/{code}.yaml", POOLS) for code in LANGUAGES.values()}
KEYS = {
    "attribute": "List", "english_value": "Entry|Original", "back": "Came back as", "question": "Question",
    "answer": "Answer",
}  # fmt: skip
TEMPLATES = {
    attribute: re.compile(re.escape(entry.question).replace(r"\{name\}", "(.+)"))
    for attribute, entry in BOOKS["en"].attributes.items()
}
Fault = Callable[[str, str, dict, int], dict | None]


def read(messages: list[dict]) -> tuple[str, str, dict, int]:
    """(role, language code, inputs, attempts shown) of a prompt."""
    system, user = messages[0]["content"], messages[1]["content"]
    found = {k: m[1] for k, words in KEYS.items() if (m := re.search(rf"^(?:{words}): (.+)$", user, re.M))}
    language = LANGUAGES.get((re.search(r"translator from English to (\w+)", system) or "  ")[1], "en")
    shown = len(re.findall(r"^- (?:Question: |.*: it comes back|.*: nothing came)|Refused because", user, re.M))
    if "copy editor" in system:
        return "refiner", "en", found, shown
    if "You check" in system:
        texts = re.findall(r"^(.+), first version: (.+)\n\1, second version: (.+)$", user, re.M)
        if texts:
            found["texts"] = [{"part": p, "first": one, "second": two} for p, one, two in texts]
        return "equivalence", "en", found, shown
    if "question" in found:
        found["name"] = re.search(r"The person's name is (.+)\. Write it", user)[1]
        found["value"] = re.search(r'Its translation is "(.+?)"\.', user)[1]
        found["attribute"] = next(a for a, question in TEMPLATES.items() if question.fullmatch(found["question"]))
    return "translator", language, found, shown


class Endpoint(Loopback):
    """`asked`: (role, language) -> calls. `fault(role, language, inputs, attempts shown)` may give another reply."""

    def __init__(self, fault: Fault = lambda *_: None):
        super().__init__(self._handle)
        self.fault, self.asked = fault, Counter()

    async def _handle(self, call: Call) -> Answer:
        body = json.loads(call.body)
        role, language, inputs, shown = read(body["messages"])
        self.asked[role, language] += 1
        return completion(call, self.fault(role, language, inputs, shown) or fitting(role, inputs, BOOKS[language]))
