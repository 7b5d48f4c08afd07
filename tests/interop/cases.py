"""Which options are tried with which inputs. Every option of every codec appears with a value that is
not its default: the test demands it."""
import numpy as np

from indices import NAMES

SIZES = [0, 1, 7, 1000, 20011]
OTHERS = [7, 20011, 1, 20011, 0, 20011]
SHAPES = ["0x4", "1x1", "8x125", "10x4x25", "1x1000", "1000x1", "125x160"]
SHAPED = {"rowquant", "powersgd", "lowbit", "binary", "kbit", "sz"}
LOWBIT_TABLES = ["binary", "ternary", "pm012", "pm0124"]
STOCHASTIC = {"rounding": "stochastic"}
INDEX_NAMES = NAMES + ["auto"]

VALUE_CODECS = ["fp16", "bf16", "int8", "minmax", "natural", "qsgd", "terngrad", "sign", "log"]


def each(option, values, **others):
    return [{option: str(value), **others} for value in values]


CASES = {
    "none": [],
    "fp16": each("overflow", ["saturate"]) + each("not_finite", ["send"]),
    "bf16": each("overflow", ["saturate"]),
    "int8": [STOCHASTIC],
    "minmax": each("bits", range(1, 9)) + each("bucket", [1, 3, 64, 4096, 100000], bits="3")
    + [{"bits": "5", **STOCHASTIC}],
    "rowquant": each("bits", range(1, 9)) + each("bits", range(1, 9), grid="released")
    + [{"bits": "2", **STOCHASTIC}],
    "natural": [{"bits": "8"}] + each("lowest", [-126, -20, 1], bits="8"),
    "dither": each("levels", [1, 2, 3, 7, 15, 63]) + each("p", ["infinity"], levels="5")
    + each("norm", ["natural"], levels="31"),
    "qsgd": each("bits", range(2, 9)) + each("levels", [1, 5, 127], bucket="100")
    + each("bucket", [1, 3, 5000], norm="2") + each("format", ["dense", "sparse"])
    + each("levels", [1, 200, 65535], format="dense", norm="2", bucket="1000")
    + each("levels", [1, 200, 65535], format="sparse", norm="2", bucket="1000"),
    "terngrad": each("clip", [0, 1]) + each("scale", ["released"]) + each("code", ["base3"])
    + each("scaler", ["bucket"])
    + each("--scale", [0.5], code="base3"),
    "ternary": each("form", ["base3"]) + each("bits", range(3, 9)) + each("dead_zone", [0.9], bits="4"),
    "sign": each("block", [1, 3, 1000, 4096]) + each("scale", ["none"]),
    "log": [],
    "powersgd": each("rank", [1, 2, 3, 32]) + [{"iterations": "2", "warm_start": "false"}],
    "topk": each("ratio", [0.1, 0.5, 1]) + each("k", [1, 5, 300])
    + each("indices", INDEX_NAMES, ratio="0.07")
    + each("values", VALUE_CODECS, ratio="0.3")
    + [{"selection": "sampled", "sample": "0.01", "indices": "delta"}],
    "randomk": each("ratio", [0.3, 1]) + each("k", [1, 5], shared="false") + each("unbiased", ["true"]),
    "dgc": each("ratio", [0.1, 1]) + each("k", [1, 5]) + [{"selection": "exact"}, {"sample": "0.1"}],
    "stc": each("ratio", [0.0001, 0.07, 0.3, 0.5, 0.7, 1]) + each("count", ["ceil"])
    + each("stored_count", ["true"], ratio="0.1"),
    "fastsgd_r": each("base", [1.001, 1.5, 10]) + each("tau", [0, 1, 2, 255, 4095]) + each("scale", ["one"])
    + each("rounding", ["linear"]) + each("keys", INDEX_NAMES, tau="4"),
    "hquant": each("ratio", [0.01, 0.5, 1]) + each("depth", range(8), ratio="0.2")
    + each("indices", ["bitmap", "packed"]),
    "csr": each("sparsity", [0, 0.99]) + each("mask_ratio", [0, 0.5]) + each("positions", ["mask"])
    + each("indices", INDEX_NAMES, sparsity="0.95"),
    "masked": each("format", ["record"]),
    "lowbit": [{"table": table, "tie": tie} for table in LOWBIT_TABLES for tie in ("layer", "node")]
    + [{"tie": "model", "--scale": "0.75", "iterations": "1"}],
    "binary": [STOCHASTIC],
    "kbit": each("bits", range(1, 9)) + each("bits", range(1, 9), layout="planes")
    + each("bits", [1, 3, 8], grid="step", step="0.01")
    + each("step", [0.25], grid="step", layout="planes", bits="3"),
    "sz": each("bound", [0, 1e-7, 0.1]) + each("mode", ["absolute"], bound="0.01")
    + each("predictor", ["none", "1d", "2d"]) + each("radius", [1, 2, 4096]) + each("zero_runs", ["never"]),
}


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
    return 6e4 if name == "rowquant" else 1e38


def inputs_of(name, number):
    """(input kind, n, shape or None) of case `number`; case 0 has all of them."""
    if number == 0:
        tried = [(kind, n, None) for n in SIZES for kind in (KINDS if n > 7 else [normal, wide])]
    else:
        tried = [(KINDS[1 + number % 4], 1000, None), (KINDS[number % 3], OTHERS[number % 6], None)]
    if name in SHAPED:
        shapes = SHAPES if number == 0 else [SHAPES[number % 7], SHAPES[2 + number % 5]]
        tried += [(KINDS[(number + i) % 3], int(np.prod([int(x) for x in shape.split("x")])), shape)
                  for i, shape in enumerate(shapes)]
    return tried


def uses_mask(name, options):
    return name == "masked" or options.get("positions") == "mask"
