"""Takes gloo's place when PyTorch is imported in a process that `gradwire torch` has started."""

import os
import sys

from gradwire_torch.messages import HUB_VARIABLE

OLDEST = (2, 5)
TRIED = ("2.11",)


def _number(version):
    digits = []
    for part in version.split("+")[0].split(".")[:2]:
        digits.append(int("".join(c for c in part if c.isdigit()) or 0))
    return tuple(digits)


def why_unsuitable(torch):
    """Why this PyTorch cannot be followed; empty: it can."""
    version = str(torch.__version__)
    if _number(version) < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        return f"it is {version}, and {oldest} is the oldest that can be followed"
    if not hasattr(torch, "distributed") or not torch.distributed.is_available():
        return f"{version} was built without torch.distributed"
    if not torch.distributed.is_gloo_available():
        return f"{version} was built without gloo"
    return ""


def _follow_optimizers():
    """A step ends where the outermost step() of an optimiser does."""
    from torch.optim import optimizer

    from gradwire_torch import rank

    running = []

    def before(one, arguments, options):
        if id(one) in running:  # the last one of it ended by an exception
            del running[running.index(id(one)) :]
        running.append(id(one))

    def after(one, arguments, options):
        if id(one) in running:
            del running[running.index(id(one)) :]
        if not running:
            rank.step()

    optimizer.register_optimizer_step_pre_hook(before)
    optimizer.register_optimizer_step_post_hook(after)


def activate():
    """Entry point of `torch.backends`. Does nothing outside `gradwire torch`."""
    if not os.environ.get(HUB_VARIABLE):
        return
    import torch

    why = why_unsuitable(torch)
    if why:
        sys.stderr.write(f"gradwire: this PyTorch will not do: {why}\n")
        sys.stderr.flush()
        os._exit(5)
    from torch.distributed import distributed_c10d as c10d

    from gradwire_torch import alike, link
    from gradwire_torch.process_group import RecordedGroup

    link.watch(os.environ[HUB_VARIABLE])
    if alike.ranks():
        alike.pretend()

    def make(options, backend_options):
        return RecordedGroup(
            options.store,
            options.group_rank,
            options.group_size,
            options.timeout,
            options.group_id,
            list(options.global_ranks_in_group) or None,
        )

    torch.distributed.Backend.register_backend("gradwire", make, extended_api=True, devices=["cpu"])
    c10d.ProcessGroupGloo = RecordedGroup
    _follow_optimizers()
