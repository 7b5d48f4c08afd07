"""Dense codecs (docs/wire-formats-dense.md)."""
import numpy as np

from bits import BitReader, base3, elias, packed_size, unpack
from wire import (TOP, codec, field, fields, finite, magnitude, next_above, require, require_length,
                  require_size)

F = np.float32
D = np.float64


@codec("none")
def none(payload, spec):
    require_size(payload, 4 * spec.n)
    return fields(payload, 0, "f4", spec.n)


@codec("fp16")
def fp16(payload, spec):
    require_size(payload, 2 * spec.n)
    values = fields(payload, 0, "f2", spec.n).astype(F)
    quiet = np.where(np.isnan(values), np.uint32(0x400000), np.uint32(0))
    return (values.view(np.uint32) | quiet).view(F)


@codec("bf16")
def bf16(payload, spec):
    require_size(payload, 2 * spec.n)
    return (fields(payload, 0, "u2", spec.n).astype(np.uint32) << np.uint32(16)).view(F)


def is_wide(unit):
    return (unit > F(2.0**100)) | ((unit > 0) & (unit < F(2.0**-100)))


def level_values(lowest, unit, level):
    """Evenly spaced levels; arrays of equal length."""
    plain = lowest + unit * level.astype(F)
    wide = np.minimum(lowest.astype(D) + unit.astype(D) * level, D(TOP)).astype(F)
    return np.where(is_wide(unit), wide, plain)


@codec("int8")
def int8(payload, spec):
    n = spec.n
    require_size(payload, 12 + n)
    require_length(payload, n)
    lowest, highest = field(payload, 4, "f4"), field(payload, 8, "f4")
    finite(np.array([lowest, highest]))
    require(highest >= lowest, "the ends are in the wrong order")
    span = D(highest) - D(lowest)
    unit = F(span / 255)
    if (is_wide(unit) or (unit == 0 and span > 0)) and D(unit) * 255 < span:
        unit = next_above(unit)
    level = np.frombuffer(payload, np.uint8, n, 12)
    values = level_values(np.full(n, lowest), np.full(n, unit), level)
    return np.where(level == 255, highest, values)


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


@codec("rowquant")
def rowquant(payload, spec):
    n, bits, columns = spec.n, spec.integer("bits"), spec.columns()
    symmetric = spec.text("grid") == "symmetric"
    count = (n // columns if n else 0) if symmetric else columns
    at = packed_size(n, bits)
    require_size(payload, at + 2 * count)
    scales = magnitude(fields(payload, at, "f2", count)).astype(F)
    code = unpack(payload, 0, n, bits, "big").astype(F)
    if symmetric:
        top = F(2**bits - 1)
        return scales[np.arange(n) // max(columns, 1)] * ((2 * code - top) * (F(1) / top))
    half = F(2 ** (bits - 1))
    return (code - half) / half * scales[np.arange(n) % max(columns, 1)]


@codec("natural")
def natural(payload, spec):
    bits = spec.integer("bits")
    require_size(payload, packed_size(spec.n, bits))
    code = unpack(payload, 0, spec.n, bits).astype(np.uint32)
    if bits == 9:
        require(np.all(code & 255 != 255), "an exponent field is 255")
        return (code << np.uint32(23)).view(F)
    low = (code & 127).astype(np.int64)
    power = np.ldexp(F(1), (spec.integer("lowest") + low - 1).astype(np.int32)).astype(F)
    return np.copysign(np.where(low == 0, F(0), power), np.where(code & 128, F(-1), F(1)))


@codec("dither")
def dither(payload, spec):
    n, levels = spec.n, spec.integer("levels")
    width, at = 1 + levels.bit_length(), 4 if spec.text("norm") == "f32" else 2
    require_size(payload, at + packed_size(n, width))
    if at == 4:
        norm = magnitude(field(payload, 0, "f4"))
    else:
        exponent = field(payload, 0, "u2")
        require(exponent <= 254, "the norm's code is above 254")
        norm = F(2.0 ** (exponent - 127)) if exponent else F(0)
    code = unpack(payload, at, n, width)
    level = code & (1 << (width - 1)) - 1
    require(np.all(level <= levels), "a level is above s")
    value = np.ldexp(F(1), (level - levels).astype(np.int32)).astype(F) * norm
    return np.where(level == 0, F(0), np.where(code >> (width - 1), -value, value))


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


def two_bits(payload, at, n):
    code = unpack(payload, at, n, 2)
    require(np.all(code < 3), "a code is 3")
    return code


@codec("terngrad")
def terngrad(payload, spec):
    in_base3 = spec.text("code") == "base3"
    require_size(payload, 4 + (-(-spec.n // 5) if in_base3 else packed_size(spec.n, 2)))
    scale = magnitude(field(payload, 0, "f4"))
    code = (base3 if in_base3 else two_bits)(payload, 4, spec.n)
    return np.array([-scale, F(0), scale])[code]


@codec("ternary")
def ternary(payload, spec):
    n, bits = spec.n, spec.integer("bits")
    in_base3 = bits == 2 and spec.text("form") == "base3"
    require_size(payload, 8 + (-(-n // 5) if in_base3 else packed_size(n, bits)))
    require_length(payload, n)
    level, top = field(payload, 4, "f4"), 2 ** (bits - 1) - 1
    magnitude(level)
    magnitude(level * F(top))
    if bits == 2:
        code = (base3 if in_base3 else two_bits)(payload, 8, n)
        return np.array([F(0), level, -level])[code]
    code = unpack(payload, 8, n, bits)
    require(np.all(code <= 2 * top), "the highest code is used")
    value = ((code + 1) // 2).astype(F) * level
    return np.where((code > 0) & (code % 2 == 0), -value, value)


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


@codec("log")
def log(payload, spec):
    require_size(payload, 5 + packed_size(spec.n, 6))
    require_length(payload, spec.n)
    code = unpack(payload, 5, spec.n, 6)
    level = code & 31
    power = np.ldexp(D(1), (field(payload, 4, "i1") - level + 1).astype(np.int32))
    value = np.where((level == 0) | (power < 2.0**-149), 0, power).astype(F)
    return np.where(code & 32, -value, value)


@codec("powersgd")
def powersgd(payload, spec):
    n, rows = spec.n, spec.shape[0]
    columns = n // rows if n else 0
    rank = min(spec.integer("rank"), rows, columns)
    if len(spec.shape) < 2 or n == 0 or rank * (rows + columns) >= n:
        return finite(none(payload, spec))
    require_size(payload, 4 * rank * (rows + columns))
    factors = finite(fields(payload, 0, "f4", rank * (rows + columns))).astype(D)
    p, q = factors[: rows * rank].reshape(rows, rank), factors[rows * rank :].reshape(columns, rank)
    total = np.zeros((rows, columns))
    for k in range(rank):
        total += p[:, k : k + 1] * q[:, k]
    return np.clip(total, -D(TOP), D(TOP)).astype(F).reshape(-1)
