"""What the rollout asks of a policy: contexts in, token ids and their log-probabilities out.

A policy behind an endpoint knows text alone: its `tokenizer` is None, it reads `Request.chat`, and its replies have no ids and no log-probs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from wr1_utils.errors import WR1Error
from wr1_utils.web.browser import InfrastructureError


class ModelError(WR1Error, ValueError):
    """A model that is not there or cannot be used; the message says what would be right."""


@dataclass(frozen=True)
class Request:
    """One reply asked for. temperature 0 = greedy. The seed alone decides the draw, whatever else is in the batch."""

    context_ids: list[int]
    max_new_tokens: int
    temperature: float
    seed: int
    chat: list[dict] = field(default_factory=list)  # the context as messages {role, content}; its ids are `context_ids`, or [] without a tokenizer


@dataclass(frozen=True)
class Reply:
    """What was written: ids (with the end-of-turn token, if it was written), log-probs (nats, at the sampling
    temperature; at temperature 0 those of temperature 1), and the text of the ids without the end-of-turn token.
    Without ids, `context_tokens` and `tokens` say how many tokens were read and written, as far as it is known (else 0)."""

    ids: list[int]
    logprobs: list[float]
    text: str
    context_tokens: int = 0
    tokens: int = 0


class Policy(Protocol):
    name: str
    tokenizer: object  # a transformers tokenizer with a chat template; None: text in, text out

    def advance(self, new: list[tuple[int, Request]]) -> list[tuple[int, Reply | InfrastructureError]]:
        """Takes in new requests, each under a key, goes on with those in progress, and returns the replies that ended.

        An InfrastructureError in a reply's place ends that one episode; a raised exception ends all. Called again and again, from one thread at a time, until every request has its reply.
        """
        ...

    def forget(self) -> None:
        """Drops what is in progress, after an interruption."""
        ...
