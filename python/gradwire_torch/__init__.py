"""Tells Gradwire which collectives a PyTorch script calls, and what it computes in between.

`gradwire torch -- torchrun ... train.py` puts this package on the path; PyTorch then loads it by
itself (entry point `torch.backends`), and it takes gloo's place. The script needs no change. A
script may say more:

    import gradwire_torch
    gradwire_torch.step()      # a step ends here, where no optimiser of torch.optim tells it
    gradwire_torch.hook("terngrad", clip=2.5).register(model)   # a codec's bytes in place of floats

Outside `gradwire torch` only hook() does something.
"""

from gradwire_torch.activation import activate
from gradwire_torch.rank import step


def hook(*arguments, **options):
    """codec_hook.hook(): imported when it is called, since it needs PyTorch and the library."""
    from gradwire_torch import codec_hook

    return codec_hook.hook(*arguments, **options)


__all__ = ["activate", "hook", "step"]
__version__ = "0.2.0"
