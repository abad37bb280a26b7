"""Continuous batching for a transformers decoder: a reply that ends frees its place for the next one at once.

Each reply in progress holds one place in a key-value store that is kept compact; contexts are read in one pass each,
without padding, equal ones once; then all places advance by one token at a time, each at its own position.
"""

from __future__ import annotations

import torch
from transformers import Cache, DynamicCache
from transformers.cache_utils import DynamicLayer

from wr1_utils.agent.policy import Request
from wr1_utils.agent.precision import compute_dtype

_GRAIN = 256  # the store grows by so many positions


def has_full_attention(config) -> bool:
    """True if every layer sees its whole past, which is what this module can keep."""
    return set(getattr(config, "layer_types", None) or ["full_attention"]) == {"full_attention"}


class Draw:
    """How one reply's tokens are drawn: greedily, or by a random generator of its own (one uniform number a token)."""

    def __init__(self, request: Request):
        self.greedy, self.temperature = request.temperature == 0, request.temperature or 1.0
        self.generator = torch.Generator().manual_seed(request.seed)


def draw_tokens(scores: torch.Tensor, draws: list[Draw]) -> tuple[list[int], list[float]]:
    """Draws one token a row from raw logits (B, V); returns the tokens and their log-probs (nats, at the row's temperature)."""
    temperature = torch.tensor([d.temperature for d in draws], device=scores.device)[:, None]
    log_all = torch.log_softmax(scores.float() / temperature, dim=-1)
    token = log_all.argmax(-1)
    if not all(d.greedy for d in draws):
        u = torch.stack([torch.rand((), generator=d.generator, dtype=torch.float64) for d in draws]).to(scores.device)
        mass = log_all.double().exp().cumsum(-1)
        drawn = torch.searchsorted(mass, (u * mass[:, -1])[:, None], right=True).squeeze(1).clamp(max=scores.shape[1] - 1)
        token = torch.where(torch.tensor([d.greedy for d in draws], device=scores.device), token, drawn)
    return token.tolist(), log_all.gather(1, token[:, None]).squeeze(1).tolist()


class _Place:
    """One reply in progress."""

    def __init__(self, key: int, request: Request):
        self.key, self.request, self.draw = key, request, Draw(request)
        self.ids: list[int] = []
        self.logprobs: list[float] = []


class _StoreLayer(DynamicLayer):
    """One layer's keys and values, (places, heads, positions, d); `update` writes each place's next position."""

    def __init__(self):
        super().__init__()
        self.store: list[torch.Tensor] = []
        self.lengths = torch.zeros(0, dtype=torch.long)
        self.longest = 0

    def update(self, key_states: torch.Tensor, value_states: torch.Tensor, *args, **kwargs):
        """key_states, value_states (A, heads, 1, d) → (A, heads, longest + 1, d) each; what is beyond a place's length is masked."""
        rows = torch.arange(len(self.lengths), device=key_states.device)
        for store, new in zip(self.store, (key_states, value_states)):
            store[rows, :, self.lengths] = new[:, :, 0].to(store.dtype)
        return tuple(store[: len(rows), :, : self.longest + 1] for store in self.store)


class Decoder:
    """The places of one model. `advance` takes in new requests and writes a token of every reply in progress."""

    def __init__(self, model, ends: list[int]):
        self.model, self.ends = model, set(ends)
        self.places: list[_Place] = []
        self.lengths = torch.zeros(0, dtype=torch.long)  # (A,) positions stored of each place
        self.layers = [_StoreLayer() for _ in range(model.config.num_hidden_layers)]
        self.cache = Cache(layers=self.layers)

    def advance(self, new: list[tuple[int, Request]]) -> list[tuple[int, list[int], list[float]]]:
        """One step: reads the new contexts and writes their first token, or else the next token of all places.

        Returns (key, ids, log-probs) of the replies that ended by this step.
        """
        if new:
            self._read(new)
        elif self.places:
            self._write()
        return self._finish()

    def _read(self, new: list[tuple[int, Request]]) -> None:
        distinct: dict[tuple[int, ...], list[_Place]] = {}
        for key, request in new:
            distinct.setdefault(tuple(request.context_ids), []).append(_Place(key, request))
        for context, places in distinct.items():
            cache = DynamicCache(config=self.model.config)
            ids = torch.tensor([context], device=self.model.device)
            logits = self.model(input_ids=ids, cache=cache, use_cache=True, logits_to_keep=1).logits[:, -1]  # (1, V)
            first = len(self.places)
            self._room(first + len(places), len(context) + max(p.request.max_new_tokens for p in places))
            for layer, read in zip(self.layers, cache.layers):
                for store, states in zip(layer.store, (read.keys, read.values)):
                    store[first : first + len(places), :, : len(context)] = states
            self._take(places, *draw_tokens(logits.expand(len(places), -1), [p.draw for p in places]))
            self.places += places
            self.lengths = torch.cat([self.lengths, torch.full((len(places),), len(context))])

    def _room(self, places: int, positions: int) -> None:
        """Makes the store large enough, keeping what it holds."""
        config = self.model.config
        heads = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
        width = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        old = self.layers[0].store[0].shape if self.layers[0].store else (0, heads, 0, width)
        if places <= old[0] and positions <= old[2]:
            return
        shape = (max(places, old[0]), heads, max(-(-positions // _GRAIN) * _GRAIN, old[2]), width)
        for layer in self.layers:
            grown = [torch.zeros(shape, dtype=compute_dtype(self.model), device=self.model.device) for _ in range(2)]
            for store, room in zip(layer.store, grown):
                room[: old[0], :, : old[2]] = store
            layer.store = grown

    def _write(self) -> None:
        device, dtype, longest = self.model.device, compute_dtype(self.model), int(self.lengths.max())
        lengths = self.lengths.to(device)
        for layer in self.layers:
            layer.lengths, layer.longest = lengths, longest
        seen = torch.arange(longest + 1, device=device)[None] <= lengths[:, None]  # (A, longest + 1)
        mask = torch.zeros(seen.shape, dtype=dtype, device=device).masked_fill(~seen, torch.finfo(dtype).min)
        logits = self.model(
            input_ids=torch.tensor([[p.ids[-1]] for p in self.places], device=device),
            attention_mask=mask[:, None, None],
            position_ids=lengths[:, None],
            cache=self.cache,
            use_cache=True,
        ).logits[:, -1]  # (A, V)
        self.lengths = self.lengths + 1
        self._take(self.places, *draw_tokens(logits, [p.draw for p in self.places]))

    @staticmethod
    def _take(places: list[_Place], tokens: list[int], logprobs: list[float]) -> None:
        for place, token, logprob in zip(places, tokens, logprobs):
            place.ids.append(token)
            place.logprobs.append(logprob)

    def _finish(self) -> list[tuple[int, list[int], list[float]]]:
        """Takes out the replies that ended; the last place moves into each gap."""
        ended = []
        for number in reversed(range(len(self.places))):
            place = self.places[number]
            if place.ids[-1] not in self.ends and len(place.ids) < place.request.max_new_tokens:
                continue
            ended.append((place.key, place.ids, place.logprobs))
            last = len(self.places) - 1
            if number != last:
                used = int(self.lengths[last])
                for layer in self.layers:
                    for store in layer.store:
                        store[number, :, :used] = store[last, :, :used]
                self.places[number], self.lengths[number] = self.places[last], self.lengths[last]
            self.places.pop()
            self.lengths = self.lengths[:-1]
        if not self.places:  # an update that follows needs the memory
            for layer in self.layers:
                layer.store = []
        return ended
