"""Tells Gradwire which collectives a PyTorch script calls, and what it computes in between.

`gradwire torch -- torchrun ... train.py` puts this package on the path; PyTorch then loads it by
itself (entry point `torch.backends`), and it takes gloo's place. The script needs no change. A
script may say more:

    import gradwire_torch
    gradwire_torch.step()      # a step ends here, where no optimiser of torch.optim tells it

Outside `gradwire torch` the package does nothing.
"""

from gradwire_torch.activation import activate
from gradwire_torch.rank import step

__all__ = ["activate", "step"]
__version__ = "0.2.0"
