"""hquant (docs/wire-formats-sparse.md)."""
import numpy as np

from bits import packed_size, unpack
from entries import checked_count
from indices import read_indices
from options import each
from wire import codec, field, fields, magnitude, require, require_length, require_size, scattered

CASES = (each("ratio", [0.01, 0.5, 1]) + each("depth", range(8), ratio="0.2")
         + each("indices", ["bitmap", "packed"]))


@codec("hquant")
def hquant(payload, spec):
    n = spec.n
    require_length(payload, n)
    k, depth, mode = checked_count(payload, 4, n), field(payload, 8, "u1"), field(payload, 9, "u1")
    require(depth <= 7 and mode <= 1 and field(payload, 10, "u2") == 0, "a field is out of range")
    leaves = magnitude(fields(payload, 12, "f4", 2 << depth))
    indices, at = read_indices(2 if mode == 0 else 6, payload, 12 + (8 << depth), n, k)
    require_size(payload, at + packed_size(k, 1 + depth))
    code = unpack(payload, at, k, 1 + depth)
    value = leaves[(code & 1) << depth | code >> 1]
    return scattered(n, indices, np.where(code & 1, -value, value))
