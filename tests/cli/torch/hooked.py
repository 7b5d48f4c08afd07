"""hooked.py CODEC STEPS: train.py's data parallelism with a codec's bytes in place of floats; CODEC = plain:
without a hook. Rank 0 prints each step's mean loss to the last bit."""

import sys
import time

import gradwire_torch
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from train import network


def main(codec, steps):
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    model = DistributedDataParallel(network(), bucket_cap_mb=0.1)
    hook = None
    if codec != "plain":
        options = {"topk": {"ratio": 0.05, "error_feedback": True}, "terngrad": {"clip": 2.5}}
        hook = gradwire_torch.hook(codec, **options.get(codec, {})).register(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    torch.manual_seed(2 + rank)
    data, labels = torch.randn(32, 64), torch.randint(0, 8, (32,))
    for _ in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(data), labels)
        loss.backward()
        optimizer.step()
        mean = loss.detach().clone()
        dist.all_reduce(mean)
        if rank == 0:
            print("loss", float(mean).hex(), flush=True)
    if hook is not None and rank == 0:
        print("sent", hook.sent_bytes, flush=True)
    dist.barrier()
    time.sleep(0.5)  # as in train.py
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
