"""bf16 (docs/wire-formats-dense.md)."""
import numpy as np

from options import each
from wire import codec, fields, require_size

F = np.float32

CASES = each("overflow", ["saturate"])


@codec("bf16")
def bf16(payload, spec):
    require_size(payload, 2 * spec.n)
    return (fields(payload, 0, "u2", spec.n).astype(np.uint32) << np.uint32(16)).view(F)
