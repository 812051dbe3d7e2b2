"""An OpenAI-compatible endpoint on loopback that plays the roles of the multi-hop construction from what it is sent."""

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping

import pandas as pd

from leak_llm_fakes import LeakModel
from loopback import Loopback, completion
from mu2_llm_fakes import PROMPTS
from unlearning.data.leak.compose_llm import inputs_of
from unlearning.data.leak.knowledge import index
from unlearning.data.leak.templated import to_ask
from unlearning.data.leak.templates import Phrases, with_generic
from unlearning.llm.prompts import render
from unlearning.llm.requests import Request, Sampling

ROLES = {"write down the facts": "extractor", "take test questions apart": "decomposer", "You check": "uniqueness",
         "You rate": "rater_1"}  # fmt: skip


class Endpoint(Loopback):
    """Right by the wordings of `phrases` about the table `facts`, but where `fault` says otherwise.

    `fault(role, match or passage)`: another reply, or None. `texts`: passage -> the facts that it states.
    """

    def __init__(self, facts: pd.DataFrame, phrases: Phrases, texts: Mapping[str, list[dict]], fault: Callable):
        super().__init__(self._handle)
        knowledge = index(facts)
        matches = to_ask(facts, phrases, 0, 3)
        self.model = LeakModel(matches, knowledge, None, texts, with_generic(phrases, knowledge))
        self.fault, self.asked = fault, Counter()
        self.matches = {
            render(PROMPTS[f"composer_{match.type}"], inputs_of(match, knowledge) | {"attempts": []})[1]["content"]
            .partition("\n\nReply")[0]: match.match_id
            for match in matches.itertuples(index=False)
        }  # fmt: skip

    async def _handle(self, call):
        body = json.loads(call.body)
        system, user = (message["content"] for message in body["messages"][:2])
        role = next((role for words, role in ROLES.items() if words in system), "composer")
        self.asked[role] += 1
        return completion(call, self._said(role, user))

    def _said(self, role, user):
        passage = user.partition("\n\n")[2]
        ident = self.matches[re.split("\n\n(?:Reply|Earlier)", user)[0]] if role == "composer" else role
        question = (re.findall(r"^> (.+)$", user, re.M) or [""])[0]
        planted = self.fault(role, passage if role == "extractor" else ident)
        request = Request(ident, 0, [], Sampling(), None, {"text": passage, "question": question}, role)
        return self.model.fitting(request) if planted is None else planted
