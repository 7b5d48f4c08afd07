"""A process group in gloo's place: gloo moves the data, and the hub hears of every call."""

import torch
import torch.distributed as dist
from torch.distributed import distributed_c10d as c10d

from gradwire_torch import alike
from gradwire_torch.rank import this_rank
from gradwire_torch.tensors import flat
from gradwire_torch.work import RecordedWork

Gloo = c10d.ProcessGroupGloo


def _reduction(options, otherwise=None):
    op = getattr(options, "reduceOp", otherwise)
    if op is None:
        return "sum"
    return str(getattr(op, "op", op)).split(".")[-1].lower()


def _data(tensors):
    """Elements, bytes an element and type of what a call moves."""
    tensors = flat(tensors)
    first = tensors[0] if tensors else None
    return {
        "n": sum(tensor.numel() for tensor in tensors),
        "w": first.element_size() if first is not None else 1,
        "t": str(first.dtype).split(".")[-1] if first is not None else "none",
    }


class RecordedGroup(dist.ProcessGroup):
    """Calls of PyTorch and of DistributedDataParallel come here; the data go by gloo."""

    def __init__(self, store, rank, size, timeout, name=None, ranks=None):
        super().__init__(rank, size)
        self._store = store
        self._inner = (alike.AlikeBackend if alike.ranks() else Gloo)(store, rank, size, timeout=timeout)
        # Nobody calls an alike group's, but PyTorch wants to hold one.
        held = Gloo(dist.HashStore(), 0, 1) if alike.ranks() else self._inner
        self._set_default_backend(dist.ProcessGroup.BackendType.GLOO)
        self._register_backend(torch.device("cpu"), dist.ProcessGroup.BackendType.GLOO, held)
        self._given = (name, ranks)
        self._told_name = None
        self._global_ranks = None
        world = dist.get_world_size() if dist.is_initialized() else size
        own = dist.get_rank() if dist.is_initialized() else rank
        self._rank = this_rank(own, world)

    # What PyTorch asks of a backend.

    @property
    def options(self):
        return self._inner.options

    def _set_sequence_number_for_group(self):
        self._inner._set_sequence_number_for_group()

    def get_group_store(self):
        return self._store

    def getBackendName(self):
        return "gloo"

    def shutdown(self):
        self._inner.shutdown()

    # Telling.

    def _name(self):
        """The group's name at the hub; its ranks are known once PyTorch has set its options."""
        if self._told_name is None:
            name, ranks = self._given
            options = self._inner.options
            if name is None:
                name = getattr(options, "group_name", "") or self.group_name
            if ranks is None:
                ranks = list(getattr(options, "global_ranks_in_group", None) or [])
            if not ranks:
                if self.size() != self._rank.world:
                    raise RuntimeError(
                        f"gradwire: PyTorch {torch.__version__} does not tell which ranks process "
                        f"group {name} has; use 2.11"
                    )
                ranks = list(range(self.size()))
            self._global_ranks = list(ranks)
            self._told_name = self._rank.group(str(name), self._global_ranks)
        return self._told_name

    def _peer(self, rank_in_group):
        self._name()
        return self._global_ranks[rank_in_group]

    def _made(self, number, make, *arguments):
        try:
            return RecordedWork(make(*arguments), self._rank, number)
        finally:
            self._rank.resume()

    def _call(self, kind, fields, make, *arguments):
        number = self._rank.call(self._name(), kind, fields)
        return self._made(number, make, *arguments)

    # Collectives. Options are those of PyTorch; where they are missing, gloo has its own.

    def allreduce(self, tensors, opts=None, **more):
        opts = _options(opts, c10d.AllreduceOptions, **more)
        tensors = _list(tensors)
        fields = {**_data(tensors), "o": _reduction(opts)}
        return self._call("all-reduce", fields, self._inner.allreduce, tensors, opts)

    def allreduce_coalesced(self, tensors, opts=None):
        opts = opts or c10d.AllreduceCoalescedOptions()
        fields = {**_data(tensors), "o": _reduction(opts)}
        return self._call("all-reduce", fields, self._inner.allreduce_coalesced, tensors, opts)

    def broadcast(self, tensors, opts=None, **more):
        opts = _options(opts, c10d.BroadcastOptions, **more)
        fields = {**_data(tensors), "p": self._peer(opts.rootRank)}
        return self._call("broadcast", fields, self._inner.broadcast, _list(tensors), opts)

    def reduce(self, tensors, opts=None, **more):
        opts = _options(opts, c10d.ReduceOptions, **more)
        fields = {**_data(tensors), "o": _reduction(opts), "p": self._peer(opts.rootRank)}
        return self._call("reduce", fields, self._inner.reduce, _list(tensors), opts)

    def allgather(self, output, input, opts=None):
        opts = opts or c10d.AllgatherOptions()
        return self._call("all-gather", _data(input), self._inner.allgather, output, input, opts)

    def _allgather_base(self, output, input, opts=None):
        opts = opts or c10d.AllgatherOptions()
        make = self._inner._allgather_base
        return self._call("all-gather", _data(input), make, output, input, opts)

    def allgather_coalesced(self, output, input, opts=None):
        opts = opts or c10d.AllgatherOptions()
        make = self._inner.allgather_coalesced
        return self._call("all-gather", _data(input), make, output, input, opts)

    def allgather_into_tensor_coalesced(self, output, input, opts=None):
        opts = opts or c10d.AllgatherOptions()
        make = self._inner.allgather_into_tensor_coalesced
        return self._call("all-gather", _data(input), make, output, input, opts)

    def reduce_scatter(self, output, input, opts=None):
        opts = opts or c10d.ReduceScatterOptions()
        fields = {**_data(input), "o": _reduction(opts)}
        return self._call("reduce-scatter", fields, self._inner.reduce_scatter, output, input, opts)

    def _reduce_scatter_base(self, output, input, opts=None):
        opts = opts or c10d.ReduceScatterOptions()
        fields = {**_data(input), "o": _reduction(opts)}
        make = self._inner._reduce_scatter_base
        return self._call("reduce-scatter", fields, make, output, input, opts)

    def reduce_scatter_tensor_coalesced(self, output, input, opts=None):
        opts = opts or c10d.ReduceScatterOptions()
        fields = {**_data(input), "o": _reduction(opts)}
        make = self._inner.reduce_scatter_tensor_coalesced
        return self._call("reduce-scatter", fields, make, output, input, opts)

    def gather(self, output, input, opts=None):
        opts = opts or c10d.GatherOptions()
        fields = {**_data(input), "p": self._peer(opts.rootRank)}
        return self._call("gather", fields, self._inner.gather, output, input, opts)

    def scatter(self, output, input, opts=None):
        opts = opts or c10d.ScatterOptions()
        fields = {**_data(output), "p": self._peer(opts.rootRank)}
        return self._call("scatter", fields, self._inner.scatter, output, input, opts)

    def alltoall_base(self, output, input, output_splits, input_splits, opts=None):
        opts = opts or c10d.AllToAllOptions()
        rows = input.shape[0] if input.dim() > 0 else 0
        row = input.numel() // rows if rows else 0
        splits = list(input_splits) or [rows // self.size()] * self.size()
        fields = {**_data(input), "parts": [split * row for split in splits]}
        make = self._inner.alltoall_base
        return self._call(
            "all-to-all", fields, make, output, input, output_splits, input_splits, opts
        )

    def alltoall(self, output, input, opts=None):
        opts = opts or c10d.AllToAllOptions()
        fields = {**_data(input), "parts": [tensor.numel() for tensor in input]}
        return self._call("all-to-all", fields, self._inner.alltoall, output, input, opts)

    def barrier(self, opts=None):
        opts = opts or c10d.BarrierOptions()
        return self._call("barrier", {}, self._inner.barrier, opts)

    # Point to point.

    def send(self, tensors, dst, tag=0):
        fields = {**_data(tensors), "p": self._peer(dst), "tag": tag}
        return self._call("send", fields, self._inner.send, tensors, dst, tag)

    def recv(self, tensors, src, tag=0):
        fields = {**_data(tensors), "p": self._peer(src), "tag": tag}
        return self._call("receive", fields, self._inner.recv, tensors, src, tag)

    def recv_anysource(self, tensors, tag=0):
        raise NotImplementedError(
            "gradwire: a receive from any source cannot be followed; name the source rank"
        )


def _list(tensors):
    return [tensors] if isinstance(tensors, torch.Tensor) else tensors


def _options(options, kind, **more):
    """PyTorch's options object, from one or from the arguments of the short forms."""
    if options is not None and isinstance(options, kind):
        return options
    made = kind()
    if options is not None:  # a reduction, or a root
        if kind is c10d.BroadcastOptions:
            made.rootRank = options
        else:
            made.reduceOp = options
    if "op" in more:
        made.reduceOp = more["op"]
    if "root" in more:
        made.rootRank = more["root"]
    return made
