"""csr (docs/wire-formats-sparse.md)."""
from entries import checked_count, values_to_the_end
from indices import read_indices
from options import INDEX_NAMES, each
from wire import codec, field, require_length, scattered

CASES = (each("sparsity", [0, 0.99]) + each("mask_ratio", [0, 0.5]) + each("positions", ["mask"])
         + each("indices", INDEX_NAMES, sparsity="0.95"))


@codec("csr")
def csr(payload, spec):
    require_length(payload, spec.n)
    k, tagged = checked_count(payload, 4, spec.n), spec.text("indices") != "u32"
    number = field(payload, 8, "u1") if tagged else 0
    indices, at = read_indices(number, payload, 9 if tagged else 8, spec.n, k)
    return scattered(spec.n, indices, values_to_the_end(payload, at, k))


def uses_mask(options):
    return options.get("positions") == "mask"
