"""sign (docs/wire-formats-dense.md)."""
import numpy as np

from bits import packed_size, unpack
from options import each
from wire import codec, field, magnitude, require_size

F = np.float32

CASES = each("block", [1, 3, 1000, 4096]) + each("scale", ["none"])


@codec("sign")
def sign(payload, spec):
    n, scaled = spec.n, spec.text("scale") == "mean"
    block = spec.integer("block") or max(n, 1)
    at, parts = 0, [np.zeros(0, F)]
    for begin in range(0, n, block):
        count = min(block, n - begin)
        mean = magnitude(field(payload, at, "f4")) if scaled else F(1)
        at += 4 if scaled else 0
        parts.append(np.where(unpack(payload, at, count, 1), -mean, mean))
        at += packed_size(count, 1)
    require_size(payload, at)
    return np.concatenate(parts)
