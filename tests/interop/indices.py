"""Ascending indices below n (docs/wire-formats.md, index formats). Each reader returns the indices and
the byte after the section."""
import numpy as np

from bits import BitReader, golomb_gap, golomb_parameter, packed_size, unpack
from wire import field, fields, require

NAMES = ["u32", "runs16", "bitmap", "golomb", "golomb-stored", "delta", "packed"]


def ascending(indices, n):
    indices = np.asarray(indices, np.int64)
    require(np.all(indices < n), "an index is beyond the tensor")
    require(np.all(np.diff(indices) > 0), "an index is out of order")
    return indices


def read_u32(payload, at, n, k):
    return fields(payload, at, "u4", k), at + 4 * k


def read_runs16(payload, at, n, k):
    indices, place = [], 0
    while len(indices) < k:
        run = field(payload, at, "u2")
        at += 2
        place += run
        require(place < n, "an index is beyond the tensor")
        if run != 65535:
            indices.append(place)
            place += 1
    return indices, at


def read_bitmap(payload, at, n, k):
    indices = np.flatnonzero(unpack(payload, at, n, 1))
    require(len(indices) == k, "the bitmap has another number of ones")
    return indices, at + packed_size(n, 1)


def gaps(stream, b, n, k):
    indices, place = [], 0
    for _ in range(k):
        place += golomb_gap(stream, b, n)
        require(place < n, "an index is beyond the tensor")
        indices.append(place)
        place += 1
    return indices


def read_golomb(payload, at, n, k):
    stream = BitReader(payload, 8 * at)
    return gaps(stream, golomb_parameter(n, k), n, k), stream.end_byte()


def read_golomb_stored(payload, at, n, k):
    b = field(payload, at, "u1")
    require(b <= 31, "a Golomb parameter is above 31")
    stream = BitReader(payload, 8 * (at + 1))
    return gaps(stream, b, n, k), stream.end_byte()


def delta_gaps(stream, n, k):
    indices, place = [], 0
    while len(indices) < k:
        width = stream.read(5)
        for _ in range(min(64, k - len(indices))):
            place += stream.read(width)
            stream.require_inside()
            require(place < n, "an index is beyond the tensor")
            indices.append(place)
            place += 1
    return indices


def read_delta(payload, at, n, k):
    stream = BitReader(payload, 8 * at)
    return delta_gaps(stream, n, k), stream.end_byte()


def read_packed(payload, at, n, k):
    width = (n - 1).bit_length() if n > 1 else 0
    return unpack(payload, at, k, width), at + packed_size(k, width)


READERS = [read_u32, read_runs16, read_bitmap, read_golomb, read_golomb_stored, read_delta, read_packed]


def read_indices(number, payload, at, n, k):
    require(number < len(READERS), f"{number} is no index format")
    indices, end = READERS[number](payload, at, n, k)
    return ascending(indices, n), end
