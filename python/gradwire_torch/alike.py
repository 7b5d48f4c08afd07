"""One process that stands for all ranks: the others are taken to have and to do what it does.

`gradwire torch --alike N -- python train.py` sets the number of ranks. The script sees rank 0 of N;
its collectives return at once with what they would if every rank had this one's data. Results are
plausible, and not those of N ranks with data of their own. Messages between two ranks have no
answer here, and groups that are not all ranks do not say what the others do: both are refused.
"""

import os
import sys
import types

import torch
import torch.distributed as dist
from torch.distributed import distributed_c10d as c10d

from gradwire_torch.messages import ALIKE_VARIABLE
from gradwire_torch.tensors import flat


def ranks():
    """How many ranks this process stands for; 0: for itself alone."""
    return int(os.environ.get(ALIKE_VARIABLE, 0))


def pretend():
    """Before the script's first line: nobody is to be met, and the environment says rank 0 of N."""
    world = str(ranks())
    local = {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": world, "LOCAL_WORLD_SIZE": world}
    os.environ.update(local)

    def alone(*arguments, **options):
        yield dist.HashStore(), 0, ranks()

    c10d.rendezvous = alone


def _done(tensors):
    future = torch.futures.Future()
    future.set_result(tensors)
    return torch._C._distributed_c10d._create_work_from_future(future)


def _reduce(tensor, operation, size):
    """In place: what `size` ranks with this tensor make of it."""
    name = str(getattr(operation, "op", operation)).split(".")[-1]
    if name == "SUM":
        tensor.mul_(size)
    elif name == "PRODUCT":
        tensor.pow_(size)
    elif name == "BXOR" and size % 2 == 0:
        tensor.zero_()


def _fill(outputs, source):
    """Copies the source's first elements into each output, as many as it holds; the rest is 0."""
    source = source.reshape(-1)
    for output in flat(outputs):
        count = min(output.numel(), source.numel())
        elements = output.reshape(-1)
        elements[:count] = source[:count]
        elements[count:] = 0
        output.copy_(elements.reshape(output.shape))


class AlikeBackend:
    """The calls of a backend that RecordedGroup makes."""

    def __init__(self, store, rank, size, timeout=None):
        if size != ranks():
            sys.stderr.write(
                f"gradwire: a process group of {size} of {ranks()} ranks: what the others do is "
                "not known, so --alike will not do\n"
            )
            sys.stderr.flush()
            os._exit(5)
        self._size = size
        self.options = types.SimpleNamespace()  # PyTorch notes the group's ranks and name in it

    def _set_sequence_number_for_group(self):
        pass

    def shutdown(self):
        pass

    def allreduce(self, tensors, options):
        for tensor in tensors:
            _reduce(tensor, options.reduceOp, self._size)
        return _done(tensors)

    allreduce_coalesced = allreduce

    def broadcast(self, tensors, options):
        return _done(tensors)

    def reduce(self, tensors, options):
        return self.allreduce(tensors, options)

    def allgather(self, outputs, inputs, options):
        for parts, own in zip(outputs, inputs):
            _fill(parts, own)
        return _done(flat(outputs))

    def allgather_coalesced(self, outputs, inputs, options):
        for parts in outputs:
            for part, own in zip(parts, inputs):
                _fill(part, own)
        return _done(flat(outputs))

    def _allgather_base(self, output, own, options):
        output.view(self._size, -1).copy_(own.reshape(1, -1).expand(self._size, -1))
        return _done([output])

    def allgather_into_tensor_coalesced(self, outputs, inputs, options):
        for output, own in zip(outputs, inputs):
            self._allgather_base(output, own, options)
        return _done(outputs)

    def _reduce_scatter_base(self, output, whole, options):
        _fill(output, whole)
        _reduce(output, options.reduceOp, self._size)
        return _done([output])

    def reduce_scatter(self, outputs, inputs, options):
        for output, parts in zip(outputs, inputs):
            self._reduce_scatter_base(output, parts[0], options)
        return _done(outputs)

    def reduce_scatter_tensor_coalesced(self, outputs, inputs, options):
        for output, whole in zip(outputs, inputs):
            self._reduce_scatter_base(output, whole, options)
        return _done(outputs)

    def gather(self, outputs, inputs, options):
        if outputs:
            _fill(outputs[0], inputs[0])
        return _done(flat(outputs))

    def scatter(self, outputs, inputs, options):
        if inputs:
            _fill(outputs, inputs[0][0])
        return _done(outputs)

    def alltoall_base(self, output, own, output_splits, input_splits, options):
        rows = own.shape[0] // self._size if own.dim() > 0 else 0
        first = own[: list(input_splits)[0] if len(input_splits) else rows]
        blocks = output.split(list(output_splits)) if len(output_splits) else output.chunk(self._size)
        _fill(blocks, first)
        return _done([output])

    def alltoall(self, outputs, inputs, options):
        _fill(outputs, inputs[0])
        return _done(outputs)

    def barrier(self, options):
        return _done([])

    def send(self, tensors, dst, tag):
        raise NotImplementedError(
            "gradwire: a message to another rank, which --alike has none of; run all ranks"
        )

    recv = send
