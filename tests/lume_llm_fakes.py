"""A language model that writes and asks by LUME's grammars, with planted faults."""

import random

from mu2_llm_fakes import PROMPTS, Model
from mu2_sources import ROOT
from unlearning.data.lume import people, stories
from unlearning.data.lume.construct import read_grammars
from unlearning.data.lume.made import good_question
from unlearning.data.rounds import Tools
from unlearning.llm.complete import Door
from unlearning.llm.requests import Request
from unlearning.llm.roles import Asker

GRAMMARS = read_grammars(ROOT / "resources" / "lume")
ROLES = ("writer", "questioner", "verifier_1", "verifier_2", "verifier_3")


class LumeModel(Model):
    """Writes what the grammars give for the inputs, asks what that answers, and knows all answers.

    `asks`: text -> (question, answer) for texts that it has not written.
    """

    def __init__(self, fault=lambda ident, inputs: None, asks=None):
        super().__init__(None, fault)
        self.asks = dict(asks or {})

    def fitting(self, request: Request) -> dict:
        """The right reply, by what the prompt was filled in with."""
        given = request.inputs
        if request.role == "writer":
            return {"text": self.story(request) if "genre" in given else person(given)}
        if request.role == "questioner":
            question, answer = self.asks.get(given["text"], ("", ""))
            return asking(question, answer)
        return {"answerable": True, "answer": dict(self.asks.values()).get(given["question"], "")}

    def story(self, request: Request) -> str:
        """A story of the right length about the characters asked for, another at each attempt."""
        given = request.inputs
        cast = stories.Cast(given["genre"], given["characters"], given["city"], ["she"] * len(given["characters"]))
        for number in range(100):
            draw = random.Random(f"{request.prompt_id}/{len(given['attempts'])}/{number}")
            draft = stories.tell(GRAMMARS.stories, cast, draw)
            if 150 <= len(draft.row["text"].split()) <= 200:
                self.asks[draft.row["text"]] = good_question(draft)
                return draft.row["text"]
        raise AssertionError("the grammar gives no story of the right length")


def person(given: dict) -> str:
    """A biography with the fields as they are given."""
    return (
        f"{given['name']} was born on {given['birth_date']}. Her Social Security number is {given['ssn']}. Call her at "
        f"{given['phone']} or write to {given['email']}. She lives at {given['address']}. She likes chess."
    )


def asking(question: str, answer: str) -> dict:
    """A reply of the questioner; without a question, that there is none."""
    return {"names": ["Somebody"], "reasoning": "", "possible": bool(question), "question": question, "answer": answer}


def tools(model: Model, max_rounds: int = 2) -> Tools:
    """The rounds' tools with `model` behind every role."""
    return Tools(Asker(dict.fromkeys(ROLES, Door(model, None, None, 0))).ask, None, PROMPTS, {}, max_rounds)


def fields_of(row: dict) -> dict[str, str]:
    """A person's canonical answers."""
    return people.of(row).answers()
