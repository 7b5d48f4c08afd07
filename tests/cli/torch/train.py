"""train.py WAY STEPS: a small network on drawn data, data parallel by one of PyTorch's ways. Rank 0
prints each step's mean loss to the last bit. Nothing here knows of Gradwire."""

import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def network():
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 8))


def parallel(way, model):
    """The model as `way` has it, and its optimiser."""
    if way == "fsdp":
        from torch.distributed.fsdp import FullyShardedDataParallel

        model = FullyShardedDataParallel(model, device_id=torch.device("cpu"))
    elif way == "fsdp2":
        from torch.distributed.device_mesh import init_device_mesh
        from torch.distributed.fsdp import fully_shard

        mesh = init_device_mesh("cpu", (dist.get_world_size(),))
        for layer in model:
            if isinstance(layer, nn.Linear):
                fully_shard(layer, mesh=mesh)
        fully_shard(model, mesh=mesh)
    else:
        model = DistributedDataParallel(model, bucket_cap_mb=0.1)
    if way == "zero":
        from torch.distributed.optim import ZeroRedundancyOptimizer

        return model, ZeroRedundancyOptimizer(
            model.parameters(), optimizer_class=torch.optim.Adam, lr=1e-3
        )
    return model, torch.optim.Adam(model.parameters(), lr=1e-3)


def main():
    way, steps = sys.argv[1], int(sys.argv[2])
    dist.init_process_group("gloo")
    model, optimizer = parallel(way, network())
    draw = torch.Generator().manual_seed(dist.get_rank())
    for _ in range(steps):
        samples = torch.randn(32, 64, generator=draw)
        labels = torch.randint(0, 8, (32,), generator=draw)
        loss = nn.functional.cross_entropy(model(samples), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        mean = loss.detach().clone()
        dist.all_reduce(mean)
        if dist.get_rank() == 0:
            print("loss", mean.item().hex(), flush=True)
    dist.barrier()
    time.sleep(0.5)  # PyTorch 2.11 aborts now and then where gloo's threads are ended at once
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
