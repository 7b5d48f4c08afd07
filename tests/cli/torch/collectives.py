"""Every collective of torch.distributed that gloo has, each checked against its meaning."""

import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as functional

dist.init_process_group("gradwire")
rank, world = dist.get_rank(), dist.get_world_size()


def mine(count=4):
    return torch.full((count,), float(rank))


def same(got, wanted):
    assert torch.equal(got, wanted), f"rank {rank}: {got} is not {wanted}"


total = sum(range(world))
values = mine()
dist.all_reduce(values)
same(values, torch.full((4,), float(total)))
values = mine()
dist.all_reduce(values, op=dist.ReduceOp.MAX)
same(values, torch.full((4,), world - 1.0))
work = dist.all_reduce(values, async_op=True)
assert work.wait()
future = dist.all_reduce(mine(), async_op=True).get_future()
future.wait()
values = mine()
dist.broadcast(values, src=1)
same(values, torch.ones(4))
values = mine()
dist.reduce(values, dst=2)
if rank == 2:
    same(values, torch.full((4,), float(total)))
blocks = [torch.empty(4) for _ in range(world)]
dist.all_gather(blocks, mine())
same(torch.stack(blocks)[:, 0], torch.arange(world, dtype=torch.float))
whole = torch.empty(4 * world)
dist.all_gather_into_tensor(whole, mine())
same(whole, torch.cat(blocks))
part = torch.empty(2)
dist.reduce_scatter_tensor(part, torch.arange(2 * world, dtype=torch.float))
same(part, world * torch.arange(2 * rank, 2 * rank + 2, dtype=torch.float))
dist.reduce_scatter(part, [mine(2) for _ in range(world)])
same(part, torch.full((2,), float(total)))
gathered = [torch.empty(4) for _ in range(world)] if rank == 3 else None
dist.gather(mine(), gathered, dst=3)
if rank == 3:
    same(torch.cat(gathered), whole)
dist.scatter(part, [torch.full((2,), float(r)) for r in range(world)] if rank == 0 else None, src=0)
same(part, mine(2))
received = torch.empty(world)
dist.all_to_all_single(received, torch.full((world,), float(rank)))
same(received, torch.arange(world, dtype=torch.float))
sizes = [rank + 1] * world
uneven = torch.empty(total + world)
dist.all_to_all_single(uneven, torch.full((sum(sizes),), float(rank)), list(range(1, world + 1)), sizes)
assert uneven.sum() == sum(r * (r + 1) for r in range(world))
dist.barrier()
objects = [None] * world
dist.all_gather_object(objects, {"rank": rank})
assert objects == [{"rank": r} for r in range(world)]
right, left = (rank + 1) % world, (rank - 1) % world
come = torch.empty(4)
requests = dist.batch_isend_irecv(
    [dist.P2POp(dist.isend, mine(), right), dist.P2POp(dist.irecv, come, left)]
)
for request in requests:
    request.wait()
same(come, torch.full((4,), float(left)))
if rank == 0:
    dist.send(mine(), 1, tag=5)
if rank == 1:
    dist.recv(come, 0, tag=5)
    same(come, torch.zeros(4))
evens, odds = dist.new_group([0, 2]), dist.new_group([1, 3])
values = mine()
dist.all_reduce(values, group=evens if rank % 2 == 0 else odds)
same(values, torch.full((4,), 2.0 if rank % 2 == 0 else 4.0))
values = functional.all_reduce(mine(), "sum", dist.group.WORLD)
same(values + 0, torch.full((4,), float(total)))
dist.destroy_process_group()
