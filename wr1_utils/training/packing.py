"""Trajectories as exact training rows: a prefix trie of the recorded token ids, laid out as one row without padding.

At turn t the policy read `context_t` and wrote `reply_t`. All turns of all trajectories of a batch are inserted, id for
id, into a trie; shared prefixes (the prompt, the trunk of placeholders and earlier actions, a first page that a whole
group saw) are stored and computed once. A token sees its ancestors in the trie and nothing else, at the position it had
at rollout, so its log-probability equals that of the unpacked turn (paper, "Dynamic context compression"; the authors'
code trains actions on contexts they were not sampled from).

    trunk  [system + task] [ph a_1] [ph a_2] …
    branch        └ [page_1 a_1]  └ [page_2 a_2] …          loss falls on a_t of the branches only

Attention runs per trie node: one SDPA call of the node's queries on the keys of its ancestors and itself. No N×N mask
is ever built. RL walks a row in pieces, so that it takes no more memory than its longest turn (training/pieces.py).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from torch.nn.attention.bias import causal_lower_right
from transformers import AttentionInterface
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

from wr1_utils.agent.precision import autocast
from wr1_utils.errors import WR1Error
from wr1_utils.trajectory import Trajectory

TREE_ATTENTION = "wr1_tree"


class PackingError(WR1Error, ValueError):
    """A trajectory that cannot be trained on exactly; the message says why."""


@dataclass(frozen=True)
class Sequence:
    """One turn: what was read, what was written, and whose turn it is."""

    context_ids: list[int]
    reply_ids: list[int]
    logprobs: list[float]
    trajectory: int
    turn: int


@dataclass(frozen=True)
class TreeRow:
    """A forest of turns as one row of N tokens with M trained tokens.

    input_ids    (1, N)  the trie's tokens, parents before children
    position_ids (1, N)  depth in the trie = position at rollout
    nodes        per trie node (number of its tokens, numbers of its ancestors in `nodes` from the root down)
    predictor    (M,)    index in the row of the token after which a trained token was written
    target       (M,)    the trained token's id
    logprobs     (M,)    its log-probability recorded at rollout (nats; nan for demonstrations)
    trajectory   (M,)    number of its trajectory in the batch
    turn         (M,)    number of its turn in that trajectory
    """

    input_ids: torch.Tensor
    position_ids: torch.Tensor
    nodes: tuple[tuple[int, tuple[int, ...]], ...]
    predictor: torch.Tensor
    target: torch.Tensor
    logprobs: torch.Tensor
    trajectory: torch.Tensor
    turn: torch.Tensor

    def to(self, device: torch.device | str) -> TreeRow:
        moved = {name: value.to(device) for name, value in vars(self).items() if isinstance(value, torch.Tensor)}
        return TreeRow(nodes=self.nodes, **moved)


class _Node:
    __slots__ = ("ids", "parent", "children", "start")

    def __init__(self, ids: list[int], parent: _Node | None):
        self.ids, self.parent, self.children, self.start = ids, parent, {}, -1


def sequences(trajectories: list[Trajectory]) -> list[Sequence]:
    """Every turn of the trajectories as a Sequence. Raises PackingError for a turn that cannot be trained on."""
    rows = []
    for number, trajectory in enumerate(trajectories):
        for turn_number, turn in enumerate(trajectory.turns):
            where = f"trajectory of {trajectory.task_id}, turn {turn_number + 1}"
            if not turn.context_ids:
                raise PackingError(f"{where}: no token ids were recorded, as of a policy behind an endpoint, which gives text alone; training needs the "
                                   "ids and log-probs of a model that runs here")
            if not turn.reply_ids:
                raise PackingError(f"{where}: the reply is empty, there is nothing to train")
            if turn.logprobs and len(turn.logprobs) != len(turn.reply_ids):
                raise PackingError(f"{where}: {len(turn.logprobs)} log-probs for {len(turn.reply_ids)} reply tokens")
            rows.append(Sequence(turn.context_ids, turn.reply_ids, turn.logprobs, number, turn_number))
    return rows


def _insert(children: dict[int, _Node], ids: list[int]) -> None:
    """Puts `ids` into the trie whose roots are `children`."""
    at, parent = 0, None
    while True:
        node = children.get(ids[at])
        if node is None:
            children[ids[at]] = _Node(ids[at:], parent)
            return
        rest = ids[at:]
        if node.ids == rest[: len(node.ids)]:  # the usual case: the whole node is shared
            same = len(node.ids)
        else:
            same = next((i for i, (a, b) in enumerate(zip(node.ids, rest)) if a != b), min(len(node.ids), len(rest)))
        if same < len(node.ids):  # split the node where the paths part
            upper = _Node(node.ids[:same], node.parent)
            children[upper.ids[0]] = upper
            node.ids, node.parent = node.ids[same:], upper
            upper.children[node.ids[0]] = node
            node = upper
        at += same
        if at == len(ids):
            return
        children, parent = node.children, node


def build_row(rows: list[Sequence], share: bool = True) -> TreeRow:
    """Packs turns into one TreeRow; `share=False` gives every turn a root of its own (row per turn, the reference).

    Raises PackingError if a turn, read back along the trie, is not id for id what was recorded.
    """
    if not rows:
        raise PackingError("no turns to pack")
    roots: list[dict[int, _Node]] = [{}] if share else [{} for _ in rows]
    for number, row in enumerate(rows):
        _insert(roots[0 if share else number], row.context_ids + row.reply_ids)

    input_ids: list[int] = []
    positions: list[int] = []
    nodes = []
    stack = [(node, 0, ()) for children in reversed(roots) for node in reversed(children.values())]
    while stack:
        node, depth, ancestors = stack.pop()
        node.start = len(input_ids)
        input_ids += node.ids
        positions += range(depth, depth + len(node.ids))
        below = (*ancestors, len(nodes))
        nodes.append((len(node.ids), ancestors))
        stack += [(child, depth + len(node.ids), below) for child in reversed(node.children.values())]

    predictor, target, logprobs, trajectory, turn = [], [], [], [], []
    for number, row in enumerate(rows):
        path = _path(roots[0 if share else number], row.context_ids + row.reply_ids)
        first = len(row.context_ids)
        if [input_ids[i] for i in path] != row.context_ids + row.reply_ids:
            raise PackingError(f"trajectory {row.trajectory}, turn {row.turn + 1}: the tree does not hold the recorded context")
        predictor += path[first - 1 : -1]
        target += row.reply_ids
        logprobs += row.logprobs or [float("nan")] * len(row.reply_ids)
        trajectory += [row.trajectory] * len(row.reply_ids)
        turn += [row.turn] * len(row.reply_ids)
    return TreeRow(
        input_ids=torch.tensor([input_ids]),
        position_ids=torch.tensor([positions]),
        nodes=tuple(nodes),
        predictor=torch.tensor(predictor),
        target=torch.tensor(target),
        logprobs=torch.tensor(logprobs, dtype=torch.float32),
        trajectory=torch.tensor(trajectory),
        turn=torch.tensor(turn),
    )


def _path(children: dict[int, _Node], ids: list[int]) -> list[int]:
    """Row indices of `ids` along the trie."""
    path: list[int] = []
    while len(path) < len(ids):
        node = children[ids[len(path)]]
        take = min(len(node.ids), len(ids) - len(path))
        path += range(node.start, node.start + take)
        children = node.children
    return path


@dataclass
class Walk:
    """What the attention knows of a row, or of a piece of one: its nodes (the first is number `first` of the row), and what is handed down to it.

    states: layer → node → (keys, values) of nodes outside the piece, leaves of the gradient's graph (training/pieces.py). A `kept` piece, which
    is one node, adds its own, and `handed` gets each leaf with the tensor that it was made of.
    """

    nodes: tuple[tuple[int, tuple[int, ...]], ...]
    first: int = 0
    kept: bool = False
    states: dict[int, dict[int, tuple[torch.Tensor, torch.Tensor]]] = field(default_factory=dict)
    handed: list[tuple[torch.Tensor, torch.Tensor]] = field(default_factory=list)


def tree_attention(module, query, key, value, attention_mask, scaling=None, dropout=0.0, sliding_window=None, tree=None, **kwargs):
    """Attention of a TreeRow, or a piece of one. query (1, heads, N, d); key, value (1, kv heads, N, d) → ((1, N, heads, d), None).

    `tree` is a Walk. Registered with transformers under the name `wr1_tree`; the model passes `tree` through.
    """
    if tree is None:
        raise PackingError("tree attention needs the nodes of a TreeRow (argument `tree`)")
    groups = query.shape[1] // key.shape[1]
    lengths = [length for length, _ in tree.nodes]  # split once: its backward is one concatenation, that of slices a sum of full rows
    queries, keys, values = (x.to(value.dtype).split(lengths, dim=2) for x in (query, key, value))
    states = dict(tree.states.get(module.layer_idx, {}))
    states.update({tree.first + i: pair for i, pair in enumerate(zip(keys, values))})
    out = []
    for number, (q, (_, ancestors)) in enumerate(zip(queries, tree.nodes), tree.first):
        k, v = (torch.cat(parts, dim=2) if ancestors else parts[0] for parts in zip(*(states[i] for i in (*ancestors, number))))
        if groups > 1:
            k, v = k.repeat_interleave(groups, dim=1), v.repeat_interleave(groups, dim=1)
        new, seen = q.shape[2], k.shape[2]
        if sliding_window is not None and seen > sliding_window:
            age = torch.arange(seen - new, seen, device=q.device)[:, None] - torch.arange(seen, device=q.device)[None]
            bias = (age >= 0) & (age < sliding_window)  # (new, seen): positions, since ancestors are contiguous
            out.append(F.scaled_dot_product_attention(q, k, v, attn_mask=bias, scale=scaling))
        elif new == seen:
            out.append(F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=scaling))
        else:
            out.append(F.scaled_dot_product_attention(q, k, v, attn_mask=causal_lower_right(new, seen), scale=scaling))
    if tree.kept:
        leaves = tuple(made.detach().requires_grad_(made.requires_grad) for made in states[tree.first])
        tree.handed += zip(states[tree.first], leaves)
        tree.states.setdefault(module.layer_idx, {})[tree.first] = leaves
    return torch.cat(out, dim=2).transpose(1, 2).contiguous(), None


AttentionInterface.register(TREE_ATTENTION, tree_attention)
assert TREE_ATTENTION in ALL_ATTENTION_FUNCTIONS.valid_keys()


def forward_logprobs(model, row: TreeRow, temperature: float = 1.0) -> tuple[torch.Tensor, torch.Tensor]:
    """Log-probabilities of a row's trained tokens, and the entropy of the policy where each was written.

    Returns ((M,), (M,)) in float32 nats, at the sampling temperature; the entropy has no gradient. The model's attention must be `wr1_tree`
    (`model.set_attn_implementation(TREE_ATTENTION)`).
    """
    return selected_logprobs(model, row.input_ids, row.position_ids, row.predictor, row.target, Walk(row.nodes), temperature)


def selected_logprobs(model, input_ids, position_ids, predictor, target, walk: Walk, temperature: float = 1.0) -> tuple[torch.Tensor, torch.Tensor]:
    """The same for the tokens of a piece: input_ids, position_ids (1, n); predictor (m,) indices into these n; target (m,) → ((m,), (m,))."""
    kept, inverse = torch.unique(predictor, return_inverse=True)  # a shared token is projected once
    with autocast(model):
        logits = model(input_ids=input_ids, position_ids=position_ids, logits_to_keep=kept, tree=walk, use_cache=False).logits[0]  # (kept, vocabulary)
    log_all = torch.log_softmax(logits.float() / temperature, dim=-1)
    with torch.no_grad():
        entropy = -(log_all.exp() * log_all).sum(-1)
    return log_all[inverse, target], entropy[inverse]
