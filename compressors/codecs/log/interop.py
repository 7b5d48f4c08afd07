"""log (docs/wire-formats-dense.md)."""
import numpy as np

from bits import packed_size, unpack
from wire import codec, field, require_length, require_size

F = np.float32
D = np.float64

CASES = []


@codec("log")
def log(payload, spec):
    require_size(payload, 5 + packed_size(spec.n, 6))
    require_length(payload, spec.n)
    code = unpack(payload, 5, spec.n, 6)
    level = code & 31
    power = np.ldexp(D(1), (field(payload, 4, "i1") - level + 1).astype(np.int32))
    value = np.where((level == 0) | (power < 2.0**-149), 0, power).astype(F)
    return np.where(code & 32, -value, value)
