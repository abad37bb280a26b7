"""The number format that a model computes in, which need not be the one that its weights are kept in.

Weights that are trained are kept in float32: a bfloat16 has 8 bits, so that an update of 1e-6 to a weight of 0.02 is rounded away. With
`model.dtype = "bfloat16"` they are rounded where they are multiplied, in training and in sampling alike (torch's autocast): what was recorded at
rollout is what training recomputes. In float32 none of this does anything.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import torch
from torch import nn


def compute_in(model, dtype: torch.dtype) -> None:
    """From now on `autocast` has the model compute in `dtype`, if its weights, or some of them, are of another one."""
    model.compute_dtype = None if all(p.dtype == dtype for p in model.parameters()) else dtype


def compute_dtype(model) -> torch.dtype:
    """What the model computes in: what `compute_in` said, else the format of its weights."""
    return getattr(model, "compute_dtype", None) or model.dtype


def autocast(model) -> AbstractContextManager:
    """A context for the model's forward passes, in which it computes in its `compute_dtype`."""
    dtype = getattr(model, "compute_dtype", None)
    return torch.autocast(model.device.type, dtype) if dtype else nullcontext()


def round_weights(model) -> None:
    """Keeps the matrices of a model that no optimizer moves in its `compute_dtype`: half the memory, and not a bit of its results changes.

    Embeddings, and an output layer tied to them, stay as they are: autocast does not round what is looked up. A weight that another model shares
    is replaced here, not changed there.
    """
    dtype, embeddings = compute_dtype(model), model.get_input_embeddings().weight
    for module in model.modules():
        if isinstance(module, nn.Linear) and module.weight is not embeddings:
            for name, weight in list(module.named_parameters(recurse=False)):
                if weight.dtype != dtype:
                    setattr(module, name, nn.Parameter(weight.detach().to(dtype), requires_grad=weight.requires_grad))


def trained_weights(model) -> dict[str, torch.Tensor]:
    """The weights that training moves, by name, as they are now (no copies)."""
    return {name: weight.detach() for name, weight in model.named_parameters() if weight.requires_grad}
