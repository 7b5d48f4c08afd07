"""binary (docs/wire-formats-weights.md)."""
import numpy as np

from options import STOCHASTIC
from rows import planes
from wire import codec

F = np.float32

CASES = [STOCHASTIC]
SHAPED = True


@codec("binary")
def binary(payload, spec):
    return (2 * planes(payload, spec, 1) - 1).astype(F)
