"""natural (docs/wire-formats-dense.md)."""
import numpy as np

from bits import packed_size, unpack
from options import each
from wire import codec, require, require_size

F = np.float32

CASES = [{"bits": "8"}] + each("lowest", [-126, -20, 1], bits="8")


@codec("natural")
def natural(payload, spec):
    bits = spec.integer("bits")
    require_size(payload, packed_size(spec.n, bits))
    code = unpack(payload, 0, spec.n, bits).astype(np.uint32)
    if bits == 9:
        require(np.all(code & 255 != 255), "an exponent field is 255")
        return (code << np.uint32(23)).view(F)
    low = (code & 127).astype(np.int64)
    power = np.ldexp(F(1), (spec.integer("lowest") + low - 1).astype(np.int32)).astype(F)
    return np.copysign(np.where(low == 0, F(0), power), np.where(code & 128, F(-1), F(1)))
