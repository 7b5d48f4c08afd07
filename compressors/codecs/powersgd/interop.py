"""powersgd (docs/wire-formats-dense.md)."""
import numpy as np

from options import each
from wire import DECODERS, TOP, codec, fields, finite, require_size

F = np.float32
D = np.float64

CASES = each("rank", [1, 2, 3, 32]) + [{"iterations": "2", "warm_start": "false"}]
SHAPED = True


@codec("powersgd")
def powersgd(payload, spec):
    n, rows = spec.n, spec.shape[0]
    columns = n // rows if n else 0
    rank = min(spec.integer("rank"), rows, columns)
    if len(spec.shape) < 2 or n == 0 or rank * (rows + columns) >= n:
        return finite(DECODERS["none"](payload, spec))
    require_size(payload, 4 * rank * (rows + columns))
    factors = finite(fields(payload, 0, "f4", rank * (rows + columns))).astype(D)
    p, q = factors[: rows * rank].reshape(rows, rank), factors[rows * rank :].reshape(columns, rank)
    total = np.zeros((rows, columns))
    for k in range(rank):
        total += p[:, k : k + 1] * q[:, k]
    return np.clip(total, -D(TOP), D(TOP)).astype(F).reshape(-1)
