"""lost.py WAY: rank 1 goes while rank 0 waits for it."""

import os
import signal
import sys

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
values = torch.ones(16)
parameter = torch.nn.Parameter(torch.ones(3))
optimizer = torch.optim.SGD([parameter], lr=0.1)
for _ in range(2):
    dist.all_reduce(values)
    optimizer.step()
if dist.get_rank() == 1:
    if sys.argv[1] == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    elif sys.argv[1] == "exits":
        os._exit(0)
    elif sys.argv[1] == "raises":
        raise ValueError("no such layer")
else:
    dist.all_reduce(values)
dist.destroy_process_group()
