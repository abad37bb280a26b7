"""A policy behind any OpenAI-compatible endpoint: a large model served elsewhere or on this machine, to be evaluated as it is.

The network is used only where `[endpoint]` names an address. An endpoint gives text. Its token ids and log-probs are not known here, so they
are left empty, and such trajectories cannot be trained on: training/packing.py refuses them. Lengths of contexts are estimated at a quarter of
their characters; the numbers of tokens that are kept are those that the endpoint tells.

An endpoint that is down, too slow, or answers what is no reply is infrastructure: the episode gets no reward. Whether a reply is good is the
agent's affair, also where it is empty because the model used up its tokens.
"""

from __future__ import annotations

import asyncio
import os

from wr1_utils.agent.policy import ModelError, Reply, Request
from wr1_utils.settings import EndpointSettings
from wr1_utils.web.browser import InfrastructureError
from wr1_utils.web.loop import run as run_async

RETRIES = 3  # of a request that failed, by the client library, each after a longer wait
WAIT_S = 10.0  # more than the longest of these waits
PAUSE_S = 1.0  # longest stay in one call of `advance`


class ApiPolicy:
    """The model of `settings` (the tree's `endpoint`) as a policy (see `agent/policy.py`); requests run side by side.

    Raises ModelError when no endpoint or model is named or the client library is not installed, and from `advance` when the endpoint refuses
    the key or the model before it has answered at all.
    """

    tokenizer = None

    def __init__(self, settings: EndpointSettings, name: str = "endpoint"):
        if not settings.base_url or not settings.model:
            raise ModelError(f'A policy behind an endpoint needs its address and a model, but endpoint.base_url is "{settings.base_url}" and endpoint.model is '
                             f'"{settings.model}"; name both in the profile or in overrides.')
        try:
            from openai import AsyncOpenAI
        except ImportError:
            raise ModelError('A policy behind an endpoint needs the package openai: pip install -e ".[endpoint]".') from None
        self.name, self.settings = name, settings
        key = os.environ.get(settings.key_variable) or "none"  # local servers want none
        self.client = AsyncOpenAI(base_url=settings.base_url, api_key=key, timeout=settings.timeout_s, max_retries=RETRIES)
        self.running: dict[asyncio.Task, int] = {}
        self.answered = False

    def advance(self, new: list[tuple[int, Request]]) -> list[tuple[int, Reply | InfrastructureError]]:
        return run_async(self._advance(new))

    def forget(self) -> None:
        run_async(self._cancel())

    async def _advance(self, new: list[tuple[int, Request]]) -> list[tuple[int, Reply | InfrastructureError]]:
        self.running |= {asyncio.create_task(self._reply(request)): key for key, request in new}
        if not self.running:
            return []
        done, _ = await asyncio.wait(self.running, timeout=PAUSE_S, return_when=asyncio.FIRST_COMPLETED)
        ended = [(self.running.pop(task), task) for task in done]
        return [(key, task.exception() if isinstance(task.exception(), InfrastructureError) else task.result()) for key, task in ended]

    async def _cancel(self) -> None:
        for task in self.running:
            task.cancel()
        await asyncio.gather(*self.running, return_exceptions=True)
        self.running = {}

    async def _reply(self, request: Request) -> Reply:
        """Raises InfrastructureError, or ModelError (see the class)."""
        from openai import AuthenticationError, NotFoundError, OpenAIError, PermissionDeniedError

        where = f"the model {self.settings.model} at {self.settings.base_url}"
        seeded = {"seed": request.seed % 2**31} if request.temperature else {}
        try:
            async with asyncio.timeout((RETRIES + 1) * self.settings.timeout_s + RETRIES * WAIT_S):
                answer = await self.client.chat.completions.create(model=self.settings.model, messages=request.chat, temperature=request.temperature,
                                                                   max_tokens=request.max_new_tokens, **seeded)
            choice, usage = answer.choices[0], answer.usage
            text = "" if choice.message.content is None and choice.finish_reason == "length" else choice.message.content
            if not isinstance(text, str):
                raise ValueError("its message has no text")
        except (AuthenticationError, PermissionDeniedError, NotFoundError) as refusal:
            if not self.answered:
                raise ModelError(f"{where} refuses: {refusal}. Set endpoint.base_url and endpoint.model, and the key in the environment variable "
                                 f"{self.settings.key_variable}.") from refusal
            raise InfrastructureError(f"{where} refuses: {refusal}") from refusal
        except (OpenAIError, TimeoutError) as fault:
            raise InfrastructureError(f"{where} did not answer: {fault or 'it took too long'}") from fault
        except (ValueError, TypeError, AttributeError, IndexError) as fault:
            raise InfrastructureError(f"{where} answered what is no reply: {fault}") from fault
        self.answered = True
        return Reply([], [], text, usage.prompt_tokens if usage else 0, usage.completion_tokens if usage else 0)
