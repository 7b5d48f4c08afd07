"""undisturbed.py: one rank, which tells what PyTorch's state is once it has a process group."""

import torch
import torch.distributed as dist

torch.manual_seed(7)
torch.set_num_threads(2)
torch.set_default_dtype(torch.float64)
dist.init_process_group("gloo")
weights = torch.randn(300, 300, requires_grad=True)
dist.all_reduce(weights.detach())
optimizer = torch.optim.SGD([weights], lr=1e-3)
for _ in range(4):
    optimizer.zero_grad()
    value = (weights @ weights).square().mean()
    value.backward()
    dist.all_reduce(weights.grad)
    optimizer.step()
    print("loss", value.item().hex(), flush=True)
print("loss", torch.get_num_threads(), weights.dtype, torch.rand(1).item().hex(), flush=True)
dist.destroy_process_group()
