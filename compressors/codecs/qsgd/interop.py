"""qsgd (docs/wire-formats-dense.md)."""
import numpy as np

from bits import BitReader, elias, packed_size, unpack
from options import each
from wire import codec, field, fields, magnitude, next_above, require, require_size

F = np.float32
D = np.float64

CASES = (each("bits", range(2, 9)) + each("levels", [1, 5, 127], bucket="100")
         + each("bucket", [1, 3, 5000], norm="2") + each("format", ["dense", "sparse"])
         + each("levels", [1, 200, 65535], format="dense", norm="2", bucket="1000")
         + each("levels", [1, 200, 65535], format="sparse", norm="2", bucket="1000"))


def qsgd_unit(norm, s):
    unit = F(D(norm) / s)
    while norm > 0 and F(s) * unit < norm:
        unit = next_above(unit)
    return unit


def qsgd_values(level, negative, norm, s):
    value = np.minimum(np.asarray(level).astype(F) * qsgd_unit(norm, s), norm)
    return np.where(negative, -value, value)


@codec("qsgd")
def qsgd(payload, spec):
    s = spec.integer("levels") or 2 ** (spec.integer("bits") - 1) - 1
    bucket = spec.integer("bucket")
    if spec.text("format") != "fixed":
        return qsgd_streams(payload, spec, s, bucket)
    n, buckets, width = spec.n, -(-spec.n // bucket), 1 + s.bit_length()
    require_size(payload, 4 * buckets + packed_size(n, width))
    norms = magnitude(fields(payload, 0, "f4", buckets))
    code = unpack(payload, 4 * buckets, n, width)
    level, sign = code & (1 << (width - 1)) - 1, code >> (width - 1)
    require(np.all(level <= s), "a level is above s")
    parts = [slice(j * bucket, (j + 1) * bucket) for j in range(buckets)]
    return np.concatenate([np.zeros(0, F)] + [qsgd_values(level[p], sign[p], norm, s)
                                              for p, norm in zip(parts, norms)])


def dense_stream(stream, n, s):
    levels, signs = np.zeros(n, np.int64), np.zeros(n, np.int64)
    for i in range(n):
        levels[i] = elias(stream) - 1
        require(levels[i] <= s, "a level is above s")
        signs[i] = stream.read(1) if levels[i] else 0
    return levels, signs


def sparse_stream(stream, n, s):
    levels, signs = np.zeros(n, np.int64), np.zeros(n, np.int64)
    count, place = elias(stream) - 1, -1
    require(count <= n, "a count is beyond the bucket")
    for _ in range(count):
        place += elias(stream)
        require(place < n, "a position is beyond the bucket")
        signs[place] = stream.read(1)
        levels[place] = elias(stream)
        require(levels[place] <= s, "a level is above s")
    return levels, signs


def qsgd_streams(payload, spec, s, bucket):
    read = dense_stream if spec.text("format") == "dense" else sparse_stream
    at, parts = 0, [np.zeros(0, F)]
    for begin in range(0, spec.n, bucket):
        norm = magnitude(field(payload, at, "f4"))
        stream = BitReader(payload, 8 * (at + 4))
        levels, signs = read(stream, min(bucket, spec.n - begin), s)
        stream.require_inside()
        parts.append(qsgd_values(levels, signs, norm, s))
        at = stream.end_byte()
    require_size(payload, at)
    return np.concatenate(parts)
