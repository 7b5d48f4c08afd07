"""Records traces of a script of two ranks, as its users would: DistributedDataParallel over gloo.

    torchrun --nproc-per-node 2 record.py FOLDER      # writes FOLDER/rank0.json and rank1.json

tests/bridge/kineto/ddp was made by it.
"""

import pathlib
import sys

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.profiler import ProfilerActivity, profile, schedule

WAIT, WARMUP, ACTIVE = 1, 2, 3


def main(folder):
    torch.set_num_threads(1)
    torch.manual_seed(0)
    dist.init_process_group("gloo")
    model = DistributedDataParallel(
        torch.nn.Sequential(torch.nn.Linear(784, 512), torch.nn.ReLU(), torch.nn.Linear(512, 512), torch.nn.ReLU(),
                            torch.nn.Linear(512, 10)),
        bucket_cap_mb=1)
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
    samples, labels = torch.randn(512, 784), torch.randint(0, 10, (512,))
    trace = str(folder / f"rank{dist.get_rank()}.json")
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True,
                 schedule=schedule(wait=WAIT, warmup=WARMUP, active=ACTIVE, repeat=1),
                 on_trace_ready=lambda profiler: profiler.export_chrome_trace(trace)) as profiler:
        for _ in range(WAIT + WARMUP + ACTIVE):
            optimiser.zero_grad()
            torch.nn.functional.cross_entropy(model(samples), labels).backward()
            optimiser.step()
            profiler.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
