"""Sparse codecs (docs/wire-formats-sparse.md)."""
import numpy as np

from bits import BitReader, golomb_gap, golomb_parameter, packed_size, unpack
from indices import NAMES, ascending, delta_gaps, read_indices
from philox import philox_words
from wire import (DECODERS, Spec, codec, count_down, count_up, field, fields, finite, magnitude, require,
                  require_length, require_size, scattered)

F = np.float32
DEFAULTS = {}  # options of every codec, for topk's values; filled from `gradwire codec list`


def wanted_count(spec):
    k = spec.integer("k")
    return min(k, spec.n) if k > 0 else count_up(spec.n, spec.number("ratio"))


def checked_count(payload, at, n):
    k = field(payload, at, "u4")
    require(k <= n, "the count is above n")
    return k


def values_to_the_end(payload, at, k):
    require_size(payload, at + 4 * k)
    return finite(fields(payload, at, "f4", k))


@codec("topk")
def topk(payload, spec):
    n, values_codec = spec.n, spec.text("values")
    k = checked_count(payload, 0, n)
    if spec.text("indices") == "u32" and values_codec == "f32":
        require_size(payload, 4 + 8 * k)
        entries = np.frombuffer(payload, np.dtype([("index", "<u4"), ("value", "<f4")]), k, 4)
        return scattered(n, ascending(entries["index"], n), finite(entries["value"]))
    wanted = wanted_count(spec)
    most = min(n, 13 * wanted // 10) if spec.text("selection") == "sampled" else wanted
    require(k <= most, "the count is above what the options allow")
    number = field(payload, 4, "u1")
    require(spec.text("indices") in ("auto", NAMES[number] if number < 7 else ""), "another index format")
    indices, at = read_indices(number, payload, 5, n, k)
    if values_codec == "f32":
        values = values_to_the_end(payload, at, k)
    else:
        values = DECODERS[values_codec](payload[at:], Spec(k, DEFAULTS[values_codec]))
    return scattered(n, indices, values)


def permutation(n, k, key):
    """The elements at(0) ... at(k - 1)."""
    bits = max(8, (n - 1).bit_length())
    left, right = bits // 2, bits - bits // 2
    words = [int(w) for w in philox_words(key, 6 << right)]
    left_mask, right_mask = (1 << left) - 1, (1 << right) - 1
    for i in range(k):
        a, b = i >> right, i & right_mask
        while True:
            for r in (0, 2, 4):
                a = (a ^ words[(r << right) + b]) & left_mask
                b = (b ^ words[(r + 1 << right) + a]) & right_mask
            element = a << right | b
            if element < n:
                break
        yield element


@codec("randomk")
def randomk(payload, spec):
    k = wanted_count(spec)
    require_size(payload, 8 + 4 * k)
    values = finite(fields(payload, 8, "f4", k))
    return scattered(spec.n, list(permutation(spec.n, k, field(payload, 0, "u8"))) if k else [], values)


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


@codec("stc")
def stc(payload, spec):
    n, header = spec.n, 8 if spec.flag("stored_count") else 4
    count = count_up if spec.text("count") == "ceil" else count_down
    k = checked_count(payload, 0, n) if header == 8 else count(n, spec.number("ratio"))
    mean = magnitude(field(payload, header - 4, "f4"))
    stream, b, place = BitReader(payload, 8 * header), golomb_parameter(n, k), 0
    indices, values = [], []
    for _ in range(k):
        place += golomb_gap(stream, b, n)
        require(place < n, "an index is beyond the tensor")
        indices.append(place)
        values.append(-mean if stream.read(1) else mean)
        place += 1
    stream.require_inside()
    require_size(payload, stream.end_byte())
    return scattered(n, indices, values)


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


@codec("hquant")
def hquant(payload, spec):
    n = spec.n
    require_length(payload, n)
    k, depth, mode = checked_count(payload, 4, n), field(payload, 8, "u1"), field(payload, 9, "u1")
    require(depth <= 7 and mode <= 1 and field(payload, 10, "u2") == 0, "a field is out of range")
    leaves = magnitude(fields(payload, 12, "f4", 2 << depth))
    indices, at = read_indices(2 if mode == 0 else 6, payload, 12 + (8 << depth), n, k)
    require_size(payload, at + packed_size(k, 1 + depth))
    code = unpack(payload, at, k, 1 + depth)
    value = leaves[(code & 1) << depth | code >> 1]
    return scattered(n, indices, np.where(code & 1, -value, value))


@codec("csr")
def csr(payload, spec):
    require_length(payload, spec.n)
    k, tagged = checked_count(payload, 4, spec.n), spec.text("indices") != "u32"
    number = field(payload, 8, "u1") if tagged else 0
    indices, at = read_indices(number, payload, 9 if tagged else 8, spec.n, k)
    return scattered(spec.n, indices, values_to_the_end(payload, at, k))


@codec("masked")
def masked(payload, spec):
    n, at, mask = spec.n, 0, spec.mask
    if spec.text("format") == "record":
        require_length(payload, n)
        at = 8 + packed_size(n, 1)
        require(len(payload) >= at, "the mask is cut off")
        mask = payload[8:at]
    chosen = np.arange(n) if mask is None else np.flatnonzero(unpack(mask, 0, n, 1))
    if at:
        require(field(payload, 4, "u4") == len(chosen), "the count is not the mask's")
    return scattered(n, chosen, values_to_the_end(payload, at, len(chosen)))
