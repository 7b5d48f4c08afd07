"""fp16 (docs/wire-formats-dense.md)."""
import numpy as np

from options import each
from wire import codec, fields, require_size

F = np.float32

CASES = each("overflow", ["saturate"]) + each("not_finite", ["send"])


@codec("fp16")
def fp16(payload, spec):
    require_size(payload, 2 * spec.n)
    values = fields(payload, 0, "f2", spec.n).astype(F)
    quiet = np.where(np.isnan(values), np.uint32(0x400000), np.uint32(0))
    return (values.view(np.uint32) | quiet).view(F)
