"""Levels and codes that several dense codecs have (docs/wire-formats-dense.md)."""
import numpy as np

from bits import unpack
from wire import TOP, require

F = np.float32
D = np.float64


def is_wide(unit):
    return (unit > F(2.0**100)) | ((unit > 0) & (unit < F(2.0**-100)))


def level_values(lowest, unit, level):
    """Evenly spaced levels; arrays of equal length."""
    plain = lowest + unit * level.astype(F)
    wide = np.minimum(lowest.astype(D) + unit.astype(D) * level, D(TOP)).astype(F)
    return np.where(is_wide(unit), wide, plain)


def two_bits(payload, at, n):
    code = unpack(payload, at, n, 2)
    require(np.all(code < 3), "a code is 3")
    return code
