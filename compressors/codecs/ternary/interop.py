"""ternary (docs/wire-formats-dense.md)."""
import numpy as np

from bits import base3, packed_size, unpack
from levels import two_bits
from options import each
from wire import codec, field, magnitude, require, require_length, require_size

F = np.float32

CASES = each("form", ["base3"]) + each("bits", range(3, 9)) + each("dead_zone", [0.9], bits="4")


@codec("ternary")
def ternary(payload, spec):
    n, bits = spec.n, spec.integer("bits")
    in_base3 = bits == 2 and spec.text("form") == "base3"
    require_size(payload, 8 + (-(-n // 5) if in_base3 else packed_size(n, bits)))
    require_length(payload, n)
    level, top = field(payload, 4, "f4"), 2 ** (bits - 1) - 1
    magnitude(level)
    magnitude(level * F(top))
    if bits == 2:
        code = (base3 if in_base3 else two_bits)(payload, 8, n)
        return np.array([F(0), level, -level])[code]
    code = unpack(payload, 8, n, bits)
    require(np.all(code <= 2 * top), "the highest code is used")
    value = ((code + 1) // 2).astype(F) * level
    return np.where((code > 0) & (code % 2 == 0), -value, value)
