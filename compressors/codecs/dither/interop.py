"""dither (docs/wire-formats-dense.md)."""
import numpy as np

from bits import packed_size, unpack
from options import each
from wire import codec, field, magnitude, require, require_size

F = np.float32

CASES = (each("levels", [1, 2, 3, 7, 15, 63]) + each("p", ["infinity"], levels="5")
         + each("norm", ["natural"], levels="31"))


@codec("dither")
def dither(payload, spec):
    n, levels = spec.n, spec.integer("levels")
    width, at = 1 + levels.bit_length(), 4 if spec.text("norm") == "f32" else 2
    require_size(payload, at + packed_size(n, width))
    if at == 4:
        norm = magnitude(field(payload, 0, "f4"))
    else:
        exponent = field(payload, 0, "u2")
        require(exponent <= 254, "the norm's code is above 254")
        norm = F(2.0 ** (exponent - 127)) if exponent else F(0)
    code = unpack(payload, at, n, width)
    level = code & (1 << (width - 1)) - 1
    require(np.all(level <= levels), "a level is above s")
    value = np.ldexp(F(1), (level - levels).astype(np.int32)).astype(F) * norm
    return np.where(level == 0, F(0), np.where(code >> (width - 1), -value, value))
