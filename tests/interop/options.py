"""Choices of options that several codecs' cases have."""
from indices import NAMES

STOCHASTIC = {"rounding": "stochastic"}
INDEX_NAMES = NAMES + ["auto"]


def each(option, values, **others):
    return [{option: str(value), **others} for value in values]
