"""rowquant (docs/wire-formats-dense.md)."""
import numpy as np

from bits import packed_size, unpack
from options import STOCHASTIC, each
from wire import codec, fields, magnitude, require_size

F = np.float32

CASES = (each("bits", range(1, 9)) + each("bits", range(1, 9), grid="released")
         + [{"bits": "2", **STOCHASTIC}])
SHAPED = True
LARGEST = 6e4  # of the values that are tried: scales are binary16


@codec("rowquant")
def rowquant(payload, spec):
    n, bits, columns = spec.n, spec.integer("bits"), spec.columns()
    symmetric = spec.text("grid") == "symmetric"
    count = (n // columns if n else 0) if symmetric else columns
    at = packed_size(n, bits)
    require_size(payload, at + 2 * count)
    scales = magnitude(fields(payload, at, "f2", count)).astype(F)
    code = unpack(payload, 0, n, bits, "big").astype(F)
    if symmetric:
        top = F(2**bits - 1)
        return scales[np.arange(n) // max(columns, 1)] * ((2 * code - top) * (F(1) / top))
    half = F(2 ** (bits - 1))
    return (code - half) / half * scales[np.arange(n) % max(columns, 1)]
