"""int8 (docs/wire-formats-dense.md)."""
import numpy as np

from levels import is_wide, level_values
from options import STOCHASTIC
from wire import codec, field, finite, next_above, require, require_length, require_size

F = np.float32
D = np.float64

CASES = [STOCHASTIC]


@codec("int8")
def int8(payload, spec):
    n = spec.n
    require_size(payload, 12 + n)
    require_length(payload, n)
    lowest, highest = field(payload, 4, "f4"), field(payload, 8, "f4")
    finite(np.array([lowest, highest]))
    require(highest >= lowest, "the ends are in the wrong order")
    span = D(highest) - D(lowest)
    unit = F(span / 255)
    if (is_wide(unit) or (unit == 0 and span > 0)) and D(unit) * 255 < span:
        unit = next_above(unit)
    level = np.frombuffer(payload, np.uint8, n, 12)
    values = level_values(np.full(n, lowest), np.full(n, unit), level)
    return np.where(level == 255, highest, values)
