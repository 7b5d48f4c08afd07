"""minmax (docs/wire-formats-dense.md)."""
import numpy as np

from bits import unpack
from levels import level_values
from options import STOCHASTIC, each
from wire import codec, fields, finite, magnitude, require_size

CASES = (each("bits", range(1, 9)) + each("bucket", [1, 3, 64, 4096, 100000], bits="3")
         + [{"bits": "5", **STOCHASTIC}])


@codec("minmax")
def minmax(payload, spec):
    n, bits, bucket = spec.n, spec.integer("bits"), spec.integer("bucket")
    buckets = -(-n // bucket)
    require_size(payload, 8 * buckets + -(-n * bits // 64) * 8)
    headers = fields(payload, 0, "f4", 2 * buckets).reshape(buckets, 2)
    magnitude(headers[:, 0])
    finite(headers[:, 1])
    of = np.arange(n) // bucket
    return level_values(headers[of, 1], headers[of, 0], unpack(payload, 8 * buckets, n, bits))
