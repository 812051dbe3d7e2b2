"""Ask several times at a temperature: what greedy decoding hides may still be likely enough to be drawn.

Leak-resistant unlearning's `probab`: T 0.8, top-p 0.95, 5 trials; it succeeds where at least one trial is right.
"""

from unlearning.answer.decoding import Decoding

KIND = "decoding"
PARAMS = {"temperature": 0.8, "top_p": 0.95, "samples": 5}
LIMITS = {"temperature": {"gt": 0}, "top_p": {"gt": 0, "le": 1}, "samples": {"ge": 1}}


def decoding(temperature: float, top_p: float, samples: int) -> Decoding:
    """The decoding that answers are drawn with. AnswerError where a number is out of range."""
    return Decoding(temperature, top_p, samples)
