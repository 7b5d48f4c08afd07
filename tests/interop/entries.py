"""Counts and values that several sparse codecs have (docs/wire-formats-sparse.md)."""
from wire import count_up, field, fields, finite, require, require_size


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
