"""lowbit (docs/wire-formats-weights.md)."""
import numpy as np

from bits import packed_size, unpack
from wire import codec, field, fields, magnitude, require, require_size

F = np.float32
TABLES = [(1, [-1, 1]), (2, [-1, 0, 1]), (3, [-2, -1, 0, 1, 2]), (3, [-4, -2, -1, 0, 1, 2, 4])]

LOWBIT_TABLES = ["binary", "ternary", "pm012", "pm0124"]
CASES = ([{"table": table, "tie": tie} for table in LOWBIT_TABLES for tie in ("layer", "node")]
         + [{"tie": "model", "--scale": "0.75", "iterations": "1"}])
SHAPED = True


@codec("lowbit")
def lowbit(payload, spec):
    n, rows, columns = spec.n, field(payload, 0, "u4"), field(payload, 4, "u4")
    table, bits, tie, zero = (field(payload, at, "u1") for at in range(8, 12))
    require(rows * columns == n, "rows and columns are not the tensor's")
    require(table < len(TABLES) and tie <= 2 and zero == 0, "a field is out of range")
    require(bits == TABLES[table][0], "the width is not the table's")
    entries = np.array(TABLES[table][1], F)
    groups = rows if tie == 2 else 1
    require_size(payload, 12 + 4 * groups + packed_size(n, bits))
    scales = fields(payload, 12, "f4", groups)
    magnitude(scales)
    magnitude(scales * entries[-1])
    code = unpack(payload, 12 + 4 * groups, n, bits)
    require(np.all(code < len(entries)), "a code is beyond the table")
    of = np.arange(n) // max(columns, 1) if tie == 2 else np.zeros(n, np.int64)
    return scales[of] * entries[code]
