"""fastsgd_r (docs/wire-formats-sparse.md)."""
import numpy as np

from bits import BitReader
from entries import checked_count
from indices import delta_gaps, read_indices
from options import INDEX_NAMES, each
from wire import codec, field, magnitude, require, require_size, scattered

F = np.float32

CASES = (each("base", [1.001, 1.5, 10]) + each("tau", [0, 1, 2, 255, 4095]) + each("scale", ["one"])
         + each("rounding", ["linear"]) + each("keys", INDEX_NAMES, tau="4"))


def power_levels(base, tau, scale):
    powers = [1.0]
    for _ in range(tau):
        powers.append(powers[-1] / base)
    return (np.float64(scale) * np.array(powers)).astype(F)


@codec("fastsgd_r")
def fastsgd_r(payload, spec):
    n, tau = spec.n, spec.integer("tau")
    k, width = checked_count(payload, 0, n), tau.bit_length()
    levels = power_levels(spec.number("base"), tau, magnitude(field(payload, 4, "f4")))
    if spec.text("keys") == "delta":
        stream = BitReader(payload, 64)
        indices = delta_gaps(stream, n, k)
    else:
        indices, at = read_indices(field(payload, 8, "u1"), payload, 9, n, k)
        stream = BitReader(payload, 8 * at)
    values = []
    for _ in range(k):
        negative, q = stream.read(1), stream.read(width)
        require(q <= tau, "a level is above tau")
        values.append(-levels[q] if negative else levels[q])
    stream.require_inside()
    require_size(payload, stream.end_byte())
    return scattered(n, indices, values)
