"""What the rollout asks of a policy: contexts in, token ids and their log-probabilities out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from wr1_utils.errors import WR1Error


class ModelError(WR1Error, ValueError):
    """A model that is not there or cannot be used; the message says what would be right."""


@dataclass(frozen=True)
class Request:
    """One reply asked for. temperature 0 = greedy. The seed alone decides the draw, whatever else is in the batch."""

    context_ids: list[int]
    max_new_tokens: int
    temperature: float
    seed: int


@dataclass(frozen=True)
class Reply:
    """What was written: ids (with the end-of-turn token, if it was written), log-probs (nats, at the sampling
    temperature; at temperature 0 those of temperature 1), and the text of the ids without the end-of-turn token."""

    ids: list[int]
    logprobs: list[float]
    text: str


class Policy(Protocol):
    name: str
    tokenizer: object  # a transformers tokenizer with a chat template

    def advance(self, new: list[tuple[int, Request]]) -> list[tuple[int, Reply]]:
        """Takes in new requests, each under a key, goes on with those in progress, and returns the replies that ended.

        Called again and again, from one thread at a time, until every request has its reply.
        """
        ...

    def forget(self) -> None:
        """Drops what is in progress, after an interruption."""
        ...
