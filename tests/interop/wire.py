"""What all decoders share: refusals, the facts beside a payload, fields (docs/wire-formats.md)."""
import math

import numpy as np

TOP = np.float32(np.finfo(np.float32).max)
DECODERS = {}
DEFAULTS = {}  # options of every codec, for codecs within codecs; filled from `gradwire codec list`


class Refused(Exception):
    """The bytes are no payload of this codec."""


class Spec:
    """What both sides know: n, the shape, the options as text, the mask's bytes (None = all ones)."""

    def __init__(self, n, options, shape=None, mask=None):
        self.n, self.options, self.mask = n, options, mask
        self.shape = list(shape) if shape else [n]

    def text(self, name):
        return self.options[name]

    def integer(self, name):
        return int(float(self.options[name]))

    def number(self, name):
        return float(self.options[name])

    def flag(self, name):
        return self.options[name] == "true"

    def columns(self):
        return self.shape[-1] if len(self.shape) > 1 else self.n


def codec(name):
    """Registers decode(payload, spec) -> float32[n]."""

    def register(decode):
        DECODERS[name] = decode
        return decode

    return register


def decode(name, payload, spec):
    with np.errstate(all="ignore"):
        values = DECODERS[name](payload, spec)
    return np.ascontiguousarray(values, dtype="<f4")


def require(condition, why):
    if not condition:
        raise Refused(why)


def require_size(payload, size):
    require(len(payload) == size, f"{len(payload)} bytes instead of {size}")


def field(payload, at, kind):
    """One little-endian number, such as field(payload, 4, "f4")."""
    kind = np.dtype("<" + kind)
    require(at + kind.itemsize <= len(payload), f"the end is within the field at byte {at}")
    value = np.frombuffer(payload, kind, 1, at)[0]
    return np.float32(value) if kind.kind == "f" and kind.itemsize == 4 else int(value)


def fields(payload, at, kind, count):
    kind = np.dtype("<" + kind)
    require(at + count * kind.itemsize <= len(payload), f"the end is within the fields at byte {at}")
    return np.frombuffer(payload, kind, count, at)


def finite(values):
    require(np.all(np.isfinite(values)), "a value is not finite")
    return values


def magnitude(value):
    """A scale: finite, sign bit clear."""
    require(np.all(np.isfinite(value)) and not np.any(np.signbit(value)), "a scale is not finite and >= 0")
    return value


def require_length(payload, n):
    require(field(payload, 0, "u4") == n, "the count is not the tensor's")


def next_above(value):
    """The binary32 number above value >= 0."""
    return (np.atleast_1d(np.float32(value)).view(np.uint32) + np.uint32(1)).view(np.float32)[0]


def count_up(n, share):
    return 0 if n == 0 else min(n, max(1, math.ceil(share * n * (1 - 1e-12))))


def count_down(n, share):
    return 0 if n == 0 else min(n, max(1, math.floor(share * n * (1 + 1e-12))))


def scattered(n, indices, values):
    """Values at indices, +0 elsewhere."""
    out = np.zeros(n, np.float32)
    out[np.asarray(indices, np.int64)] = values
    return out
