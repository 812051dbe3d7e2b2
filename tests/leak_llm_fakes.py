"""A language model that plays the roles of the multi-hop construction by the templates, with planted faults."""

from collections.abc import Callable, Mapping

import pandas as pd

from leak_facts import phrases
from mu2_llm_fakes import PROMPTS, Model
from unlearning.data.leak.compose import compose
from unlearning.data.leak.decompose import Splitter
from unlearning.data.leak.knowledge import Knowledge
from unlearning.data.leak.templates import Phrases
from unlearning.data.rounds import Tools
from unlearning.llm.complete import Door
from unlearning.llm.requests import Request
from unlearning.llm.roles import Asker

ROLES = ("extractor", "composer", "decomposer", "uniqueness", "rater_1", "rater_2", "rater_3")


class LeakModel(Model):
    """Composes by the templates, takes a question apart by its words alone, and calls every question good."""

    def __init__(self, matches: pd.DataFrame, knowledge: Knowledge, fault: Callable, texts: Mapping = {},  # noqa: B006
                 wordings: Phrases | None = None):  # fmt: skip
        super().__init__(None, fault)
        wordings = wordings or phrases()
        self.knowledge, self.texts = knowledge, texts
        self.composed = compose(matches, wordings) if len(matches) else matches
        self.splitter = Splitter(wordings, knowledge)

    def fitting(self, request: Request) -> dict:
        """The right reply, by what the prompt was filled in with (and whose match it is)."""
        if request.role == "extractor":
            return {"facts": self.texts.get(request.inputs["text"], [])}
        if request.role == "composer":
            questions = self.composed.loc[self.composed["match_id"] == request.prompt_id, "question"]
            return composition(*questions)
        if request.role == "decomposer":
            return self.decomposition(request.inputs["question"])
        if request.role == "uniqueness":
            return {"unique": True, "reason": ""}
        return {"logic": 90, "clarity": 80, "naturalness": 70 + int(request.role[-1])}

    def decomposition(self, question: str) -> dict:
        """What the question's words say, with the relations in words; without a hop where no template reads it."""
        readings = self.splitter.split(question)
        if len(readings) != 1:
            return {"hops": [{"subject": question, "relation": "anything", "answers": []}], "names": []}
        words = self.knowledge.relations
        hops = [hop._asdict() | {"relation": words[hop.relation], "answers": list(hop.answers)}
                for hop in readings[0].hops]  # fmt: skip
        return {"hops": hops, "names": list(readings[0].names)}


def composition(one: str, two: str, three: str, *aliases: str) -> dict:
    """A reply of the composer."""
    return {"question_1": one, "question_2": two, "question_3": three, "aliases": list(aliases)}


def tools(model: Model, max_rounds: int = 2) -> Tools:
    """The rounds' tools with `model` behind every role."""
    asker = Asker(dict.fromkeys(ROLES, Door(model, None, None, 0)))
    return Tools(asker.ask, None, PROMPTS, {}, max_rounds)
