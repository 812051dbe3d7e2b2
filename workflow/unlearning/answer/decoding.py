"""How an answer is decoded. Light on purpose: an attack can name a decoding without loading PyTorch."""

from dataclasses import dataclass


class AnswerError(ValueError):
    """Questions cannot be asked as wanted; the message says why and how to mend it."""


@dataclass(frozen=True)
class Decoding:
    """`temperature` 0 is greedy (the most likely token, one answer); above 0, `samples` answers are drawn.

    `top_p` in (0, 1]: only the smallest set of most likely tokens that together reach it is drawn from (Holtzman et al.
    2020, "The Curious Case of Neural Text Degeneration"). Raises AnswerError outside these ranges.
    """

    temperature: float = 0.0
    top_p: float = 1.0
    samples: int = 1

    def __post_init__(self):
        if self.temperature < 0:
            raise AnswerError(f"temperature {self.temperature}: should be 0 (greedy) or above")
        if not 0 < self.top_p <= 1:
            raise AnswerError(f"top_p {self.top_p}: should be above 0 and at most 1")
        if self.samples < 1:
            raise AnswerError(f"samples {self.samples}: should be 1 or more")
        if self.greedy and self.samples > 1:
            raise AnswerError(f"samples {self.samples} of greedy decoding would all be the same; set a temperature")

    @property
    def greedy(self) -> bool:
        """Whether the most likely token is always taken."""
        return self.temperature == 0
