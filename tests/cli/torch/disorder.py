"""Rank 1 broadcasts where rank 0 reduces."""

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
values = torch.ones(16)
dist.all_reduce(values)
if dist.get_rank() == 1:
    dist.broadcast(values, 0)
else:
    dist.all_reduce(values)
dist.destroy_process_group()
