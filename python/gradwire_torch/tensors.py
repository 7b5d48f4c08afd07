"""Tensors as PyTorch's collectives take them."""

import torch


def flat(tensors):
    """All tensors of a tensor, a list, or a list of lists."""
    if isinstance(tensors, torch.Tensor):
        return [tensors]
    return [tensor for part in tensors for tensor in flat(part)]
