"""Philox 4x32-10, vectorised (docs/wire-formats.md, draws)."""
import numpy as np

LOW = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)


def philox_words(seed, count, step=0, worker=0, tensor=0):
    """The words of elements 0 ... count - 1."""
    blocks = (count + 3) // 4
    c = [np.arange(blocks, dtype=np.uint64)]
    c += [np.full(blocks, x, np.uint64) for x in (tensor, worker, step)]
    k0, k1 = seed & 0xFFFFFFFF, seed >> 32
    for _ in range(10):
        p0, p1 = np.uint64(0xD2511F53) * c[0], np.uint64(0xCD9E8D57) * c[2]
        c = [p1 >> HALF ^ c[1] ^ np.uint64(k0), p1 & LOW, p0 >> HALF ^ c[3] ^ np.uint64(k1), p0 & LOW]
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return np.stack(c, axis=1).reshape(-1)[:count]
