"""kbit (docs/wire-formats-weights.md)."""
import numpy as np

from bits import packed_size, unpack
from options import each
from rows import planes
from wire import codec, require_size

F = np.float32

CASES = (each("bits", range(1, 9)) + each("bits", range(1, 9), layout="planes")
         + each("bits", [1, 3, 8], grid="step", step="0.01")
         + each("step", [0.25], grid="step", layout="planes", bits="3"))
SHAPED = True


@codec("kbit")
def kbit(payload, spec):
    bits = spec.integer("bits")
    if spec.text("layout") == "planes":
        code = planes(payload, spec, bits)
    else:
        require_size(payload, packed_size(spec.n, bits))
        code = unpack(payload, 0, spec.n, bits)
    if spec.text("grid") == "unit":
        return F(2.0 * code / (2**bits - 1) - 1.0)
    return (code - 2 ** (bits - 1)).astype(F) * F(spec.number("step"))
