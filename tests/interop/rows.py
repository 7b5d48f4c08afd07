"""Rows that several codecs of weights have (docs/wire-formats-weights.md)."""
import numpy as np

from wire import require_size

F = np.float32


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
