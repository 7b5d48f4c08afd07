"""stc (docs/wire-formats-sparse.md)."""
from bits import BitReader, golomb_gap, golomb_parameter
from entries import checked_count
from options import each
from wire import codec, count_down, count_up, field, magnitude, require, require_size, scattered

CASES = (each("ratio", [0.0001, 0.07, 0.3, 0.5, 0.7, 1]) + each("count", ["ceil"])
         + each("stored_count", ["true"], ratio="0.1"))


@codec("stc")
def stc(payload, spec):
    n, header = spec.n, 8 if spec.flag("stored_count") else 4
    count = count_up if spec.text("count") == "ceil" else count_down
    k = checked_count(payload, 0, n) if header == 8 else count(n, spec.number("ratio"))
    mean = magnitude(field(payload, header - 4, "f4"))
    stream, b, place = BitReader(payload, 8 * header), golomb_parameter(n, k), 0
    indices, values = [], []
    for _ in range(k):
        place += golomb_gap(stream, b, n)
        require(place < n, "an index is beyond the tensor")
        indices.append(place)
        values.append(-mean if stream.read(1) else mean)
        place += 1
    stream.require_inside()
    require_size(payload, stream.end_byte())
    return scattered(n, indices, values)
