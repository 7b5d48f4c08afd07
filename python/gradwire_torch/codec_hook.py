"""A codec's real bytes between DistributedDataParallel's workers.

    model = DistributedDataParallel(model)
    gradwire_torch.hook("topk", ratio=0.01, error_feedback=True).register(model)

Each gradient of a bucket is encoded by itself; the payloads of all workers are gathered, decoded
and averaged on each. What travels are the codec's bytes: `gradwire torch` records them as the
all-gather that they are. Codecs whose workers share a scale (TernGrad) reduce those first.
"""

import ctypes

import torch
import torch.distributed as dist

from gradwire_torch.codecs import Codec


class CodecHook:
    """The state of a communication hook: codec, feedback and the number of the step."""

    def __init__(self, codec, group=None, seed=0):
        self.codec = codec
        self.group = group
        self.seed = seed
        self.sent_bytes = 0  # by this worker, so far
        self._states = {}
        self._steps = {}

    def register(self, model):
        """To a DistributedDataParallel model, once."""
        model.register_comm_hook(self, _average)
        return self

    def average(self, bucket):
        """A future of the bucket's mean over all workers."""
        group = self.group or dist.group.WORLD
        gradients = [gradient.detach() for gradient in bucket.gradients()]
        index = bucket.index()
        step = self._steps[index] = self._steps.get(index, -1) + 1
        states = self._states.get(index)
        if states is None or len(states) != len(gradients):  # buckets are made anew after the first step
            states = [self.codec.state(gradient.shape) for gradient in gradients]
            self._states[index] = states
        scales = self._shared_scales(gradients, states, group)
        payloads = [
            self.codec.encode(
                gradient.cpu(), state, scale, self.seed, step, dist.get_rank(group), (index << 16) + i
            )
            for i, (gradient, state, scale) in enumerate(zip(gradients, states, scales))
        ]
        self.sent_bytes += sum(len(payload) for payload in payloads)
        return self._gathered(bucket, gradients, payloads, scales, group)

    def _shared_scales(self, gradients, states, group):
        if not self.codec.wants_shared_scale:
            return [-1.0] * len(gradients)
        local = [self.codec.local_scale(g.cpu(), state) for g, state in zip(gradients, states)]
        scales = torch.tensor(local)
        dist.all_reduce(scales, op=dist.ReduceOp.MAX, group=group)
        return scales.tolist()

    def _gathered(self, bucket, gradients, payloads, scales, group):
        world = dist.get_world_size(group)
        sizes = torch.tensor([len(payload) for payload in payloads], dtype=torch.int64)
        all_sizes = torch.empty(world * len(payloads), dtype=torch.int64)
        dist.all_gather_into_tensor(all_sizes, sizes, group=group)
        all_sizes = all_sizes.view(world, -1)
        longest = int(all_sizes.sum(dim=1).max())
        own = torch.zeros(longest, dtype=torch.uint8)
        whole = b"".join(payloads)
        if whole:
            own[: len(whole)] = torch.frombuffer(bytearray(whole), dtype=torch.uint8)
        everything = torch.empty(world * longest, dtype=torch.uint8)
        work = dist.all_gather_into_tensor(everything, own, group=group, async_op=True)

        def decode(future):
            future.value()
            sums = [torch.zeros(gradient.shape) for gradient in gradients]
            data = ctypes.string_at(everything.data_ptr(), everything.numel())
            for worker in range(world):
                at = worker * longest
                for size, total, scale in zip(all_sizes[worker].tolist(), sums, scales):
                    self.codec.decode(data[at : at + size], total.shape, total, 1.0 / world, scale)
                    at += size
            for gradient, total in zip(gradients, sums):
                gradient.copy_(total)
            return bucket.buffer()

        return work.get_future().then(decode)


def _average(state, bucket):
    return state.average(bucket)


def hook(name, error_feedback=False, group=None, seed=0, **options):
    """A CodecHook of `gradwire codec list`'s codec with its options: hook("terngrad", clip=2.5)."""
    return CodecHook(Codec(name, error_feedback, **options), group, seed)
