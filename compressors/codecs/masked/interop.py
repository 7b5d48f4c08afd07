"""masked (docs/wire-formats-sparse.md)."""
import numpy as np

from bits import packed_size, unpack
from entries import values_to_the_end
from options import each
from wire import codec, field, require, require_length, scattered

CASES = each("format", ["record"])


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


def uses_mask(options):
    return True
