"""terngrad (docs/wire-formats-dense.md)."""
import numpy as np

from bits import base3, packed_size
from levels import two_bits
from options import each
from wire import codec, field, magnitude, require_size

F = np.float32

CASES = (each("clip", [0, 1]) + each("scale", ["released"]) + each("code", ["base3"])
         + each("scaler", ["bucket"])
         + each("--scale", [0.5], code="base3"))


@codec("terngrad")
def terngrad(payload, spec):
    in_base3 = spec.text("code") == "base3"
    require_size(payload, 4 + (-(-spec.n // 5) if in_base3 else packed_size(spec.n, 2)))
    scale = magnitude(field(payload, 0, "f4"))
    code = (base3 if in_base3 else two_bits)(payload, 4, spec.n)
    return np.array([-scale, F(0), scale])[code]
