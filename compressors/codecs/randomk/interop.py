"""randomk (docs/wire-formats-sparse.md)."""
from entries import wanted_count
from options import each
from philox import philox_words
from wire import codec, field, fields, finite, require_size, scattered

CASES = each("ratio", [0.3, 1]) + each("k", [1, 5], shared="false") + each("unbiased", ["true"])


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
