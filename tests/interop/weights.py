"""Codecs of weights (docs/wire-formats-weights.md)."""
import numpy as np

from bits import packed_size, unpack
from wire import codec, field, fields, magnitude, require, require_size

F = np.float32
TABLES = [(1, [-1, 1]), (2, [-1, 0, 1]), (3, [-2, -1, 0, 1, 2]), (3, [-4, -2, -1, 0, 1, 2, 4])]


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


def node_rows(spec):
    """Rows are the first dimension here."""
    rows = spec.shape[0] if len(spec.shape) > 1 else 1
    return rows, spec.n // rows if rows else 0


def planes(payload, spec, bits):
    """Codes from rows of bit planes of 64-bit words."""
    rows, columns = node_rows(spec)
    row_bytes = (columns + 63) // 64 * 8
    require_size(payload, rows * bits * row_bytes)
    raw = np.frombuffer(payload, np.uint8).reshape(rows, bits, row_bytes)
    planes = np.unpackbits(raw, axis=2, bitorder="little")[:, :, :columns].astype(np.int64)
    return np.einsum("rpc,p->rc", planes, np.int64(1) << np.arange(bits)).reshape(-1)


@codec("binary")
def binary(payload, spec):
    return (2 * planes(payload, spec, 1) - 1).astype(F)


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
