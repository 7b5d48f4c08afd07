"""dgc (docs/wire-formats-sparse.md)."""
import numpy as np

from options import each
from wire import codec, field, finite, require, require_size, scattered

CASES = each("ratio", [0.1, 1]) + each("k", [1, 5]) + [{"selection": "exact"}, {"sample": "0.1"}]


@codec("dgc")
def dgc(payload, spec):
    count = field(payload, 0, "u4")
    require_size(payload, 4 + 6 * count)
    entries = np.frombuffer(payload, np.dtype([("run", "<u2"), ("value", "<f4")]), count, 4)
    run, value = entries["run"].astype(np.int64), finite(np.ascontiguousarray(entries["value"]))
    after = np.cumsum(run + 1)
    require(count == 0 or after[-1] <= spec.n, "the entries cover more than the tensor")
    named = ~((run == 65535) & (value.view(np.uint32) == 0))
    return scattered(spec.n, after[named] - 1, value[named])
