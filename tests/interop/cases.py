"""Which inputs are tried. Which options, each codec's own file says, compressors/codecs/<name>/interop.py:

    @codec("name")              # wire.py: the decoder, written from the page
    CASES = [{option: text}]    # every option with a value that is not its default: the test demands it
    SHAPED = True               # optional: matrices are tried, too
    LARGEST = 6e4               # optional: largest magnitude tried
    def uses_mask(options)      # optional: whether both sides are given a mask
"""
import importlib.util
import pathlib

import numpy as np

SIZES = [0, 1, 7, 1000, 20011]
OTHERS = [7, 20011, 1, 20011, 0, 20011]
SHAPES = ["0x4", "1x1", "8x125", "10x4x25", "1x1000", "1000x1", "125x160"]
CODECS = {}  # name -> its file, as a module


def load_codecs(folder):
    """Reads every codec's file, which registers its decoder."""
    for path in sorted(pathlib.Path(folder).glob("*/interop.py")):
        spec = importlib.util.spec_from_file_location(f"interop_{path.parent.name}", path)
        CODECS[path.parent.name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(CODECS[path.parent.name])


def cases_of(name):
    return CODECS[name].CASES


def normal(rng, n):
    return rng.standard_normal(n)


def sparse(rng, n):
    return np.where(rng.random(n) < 0.05, rng.standard_normal(n), 0)


def zeros(rng, n):
    return np.where(rng.random(n) < 0.5, 0.0, -0.0)


def wide(rng, n):
    """Magnitudes from subnormals to 2^100, some of them zero."""
    return np.ldexp(rng.standard_normal(n), rng.integers(-148, 100, n)) * (rng.random(n) < 0.9)


def tiny(rng, n):
    return rng.standard_normal(n) * 1e-42


KINDS = [normal, sparse, wide, zeros, tiny]


def largest_of(name):
    return getattr(CODECS[name], "LARGEST", 1e38)


def inputs_of(name, number):
    """(input kind, n, shape or None) of case `number`; case 0 has all of them."""
    if number == 0:
        tried = [(kind, n, None) for n in SIZES for kind in (KINDS if n > 7 else [normal, wide])]
    else:
        tried = [(KINDS[1 + number % 4], 1000, None), (KINDS[number % 3], OTHERS[number % 6], None)]
    if getattr(CODECS[name], "SHAPED", False):
        shapes = SHAPES if number == 0 else [SHAPES[number % 7], SHAPES[2 + number % 5]]
        tried += [(KINDS[(number + i) % 3], int(np.prod([int(x) for x in shape.split("x")])), shape)
                  for i, shape in enumerate(shapes)]
    return tried


def uses_mask(name, options):
    asks = getattr(CODECS[name], "uses_mask", None)
    return asks is not None and asks(options)
