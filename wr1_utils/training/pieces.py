"""A tree row, forward and backward piece by piece: the memory of one turn, the work of the tree.

What a packed row holds between forward and backward grows with its tokens, though no token sees more than one path of the trie.
So the trie is walked: a node with more below it than there is room for is computed once and kept, the keys and values that its
descendants need handed down as leaves of the gradient's graph; a subtree that fits is computed with its backward at once, and
let go. When all below a kept node is done, the gradients that came to rest on those leaves go back through it. That is the same
sum in another order: each token is computed once, and what is held at a time is one path and the piece at its end.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import torch

from wr1_utils.agent.precision import compute_dtype
from wr1_utils.training.packing import TreeRow, Walk, selected_logprobs

Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


@dataclass(frozen=True)
class Piece:
    """Nodes `first` to `last` − 1 of a row; `kept`: one node, held until those up to `end` − 1, all that is below it, are done."""

    first: int
    last: int
    kept: bool
    end: int


def plan(nodes: tuple[tuple[int, tuple[int, ...]], ...], sizes: list[float], room: float) -> list[Piece]:
    """Cuts the nodes of a row (`TreeRow.nodes`, parents before children) of these sizes into pieces, in their order.

    Every piece, with all the kept nodes above it, fits into `room`, or into the largest path from a root to a leaf if that is more.
    """
    children: dict[int, list[int]] = {}
    below, above = list(sizes), [sum(sizes[i] for i in ancestors) for _, ancestors in nodes]
    end = [number + 1 for number in range(len(nodes))]
    for number, (_, ancestors) in reversed(list(enumerate(nodes))):
        children.setdefault(ancestors[-1] if ancestors else -1, []).insert(0, number)
        if ancestors:
            below[ancestors[-1]] += below[number]
            end[ancestors[-1]] = max(end[ancestors[-1]], end[number])
    room = max(room, *(above[i] + sizes[i] for i in range(len(nodes)))) if nodes else room
    pieces: list[Piece] = []

    def cut(siblings: list[int]) -> None:
        taken = 0.0  # size of the piece that the next subtree may still join
        for number in siblings:
            if above[number] + below[number] > room:
                pieces.append(Piece(number, number + 1, True, end[number]))
                cut(children[number])
                taken = 0.0
            elif taken and above[number] + taken + below[number] <= room:
                taken += below[number]
                pieces[-1] = Piece(pieces[-1].first, end[number], False, end[number])
            else:
                taken = below[number]
                pieces.append(Piece(number, end[number], False, end[number]))

    cut(children.get(-1, []))
    return pieces


def evaluate(
    model, row: TreeRow, temperature: float, room: float, logits: float = 0.0, loss: Loss | None = None,
    timed: Callable[[str], AbstractContextManager] = lambda part: nullcontext(),
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:  # fmt: skip
    """Log-probs and entropies of a row's trained tokens, ((M,), (M,)) as `forward_logprobs` gives them, detached, and the sum of the losses.

    loss: (m,) indices among the M, (m,) log-probs → scalar; it must be a sum over tokens. Its gradient is added to the parameters'. Without
    it nothing has a gradient. room: see `plan`; a trained token counts as 1 + `logits` tokens. timed: a context for "forward" and "backward".
    """
    starts = [0]
    for length, _ in row.nodes:
        starts.append(starts[-1] + length)
    where = torch.bucketize(row.predictor.unique(), torch.tensor(starts, device=row.predictor.device), right=True) - 1  # nodes that logits are made in
    trained = torch.bincount(where, minlength=len(row.nodes)).tolist()
    sizes = [length + logits * count for (length, _), count in zip(row.nodes, trained)]
    logp = torch.zeros(len(row.target), device=row.predictor.device)
    entropy, total = torch.zeros_like(logp), torch.zeros((), device=logp.device)
    states: dict = {}
    held: list[tuple[Piece, list, torch.Tensor | None]] = []

    def back(ended: int) -> None:
        """Lets go of the kept nodes below which all up to node `ended` − 1 is done."""
        while held and held[-1][0].end <= ended:
            piece, handed, value = held.pop()
            ends = [(made, leaf.grad) for made, leaf in handed if leaf.grad is not None] + ([(value, None)] if value is not None else [])
            if ends:
                with timed("backward"):
                    torch.autograd.backward([made for made, _ in ends], [slope for _, slope in ends])
            for layer in states.values():
                layer.pop(piece.first, None)

    for piece in plan(row.nodes, sizes, room):
        back(piece.first)
        start, stop = starts[piece.first], starts[piece.last]
        chosen = torch.nonzero((row.predictor >= start) & (row.predictor < stop)).squeeze(1)
        walk = Walk(row.nodes[piece.first : piece.last], piece.first, piece.kept, states)
        with timed("forward"), torch.set_grad_enabled(loss is not None):
            found, spread = selected_logprobs(
                model, row.input_ids[:, start:stop], row.position_ids[:, start:stop], row.predictor[chosen] - start, row.target[chosen], walk, temperature
            )
            logp[chosen], entropy[chosen] = found.detach(), spread
            value = loss(chosen, found) if loss is not None and len(chosen) else None
        if value is not None:
            total += value.detach()
        if piece.kept:
            held.append((piece, walk.handed if loss is not None else [], value))
        elif value is not None:
            with timed("backward"):
                value.backward()
    back(len(row.nodes))
    return logp, entropy, total


def logits_weight(model) -> float:
    """How much more memory a trained token takes than another one: its logits, against the activations of all layers.

    About four vectors of the vocabulary's size in float32, and in each layer 14 of the hidden and 4 of the intermediate size; with gradient
    checkpointing in one layer at a time, and in the others one of the hidden size.
    """
    config = model.config.get_text_config()
    inner = getattr(config, "intermediate_size", 4 * config.hidden_size)
    layer = 14 * config.hidden_size + 4 * inner
    layers = config.num_hidden_layers * config.hidden_size + layer if model.is_activation_checkpointing else config.num_hidden_layers * layer
    return 4 * 4 * config.vocab_size / (layers * compute_dtype(model).itemsize)
