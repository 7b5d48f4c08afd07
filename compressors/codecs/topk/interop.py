"""topk (docs/wire-formats-sparse.md)."""
import numpy as np

from entries import checked_count, values_to_the_end, wanted_count
from indices import NAMES, ascending, read_indices
from options import INDEX_NAMES, each
from wire import DECODERS, DEFAULTS, Spec, codec, field, finite, require, require_size, scattered

VALUE_CODECS = ["fp16", "bf16", "int8", "minmax", "natural", "qsgd", "terngrad", "sign", "log"]
CASES = (each("ratio", [0.1, 0.5, 1]) + each("k", [1, 5, 300])
         + each("indices", INDEX_NAMES, ratio="0.07")
         + each("values", VALUE_CODECS, ratio="0.3")
         + [{"selection": "sampled", "sample": "0.01", "indices": "delta"}])


@codec("topk")
def topk(payload, spec):
    n, values_codec = spec.n, spec.text("values")
    k = checked_count(payload, 0, n)
    if spec.text("indices") == "u32" and values_codec == "f32":
        require_size(payload, 4 + 8 * k)
        entries = np.frombuffer(payload, np.dtype([("index", "<u4"), ("value", "<f4")]), k, 4)
        return scattered(n, ascending(entries["index"], n), finite(entries["value"]))
    wanted = wanted_count(spec)
    most = min(n, 13 * wanted // 10) if spec.text("selection") == "sampled" else wanted
    require(k <= most, "the count is above what the options allow")
    number = field(payload, 4, "u1")
    require(spec.text("indices") in ("auto", NAMES[number] if number < 7 else ""), "another index format")
    indices, at = read_indices(number, payload, 5, n, k)
    if values_codec == "f32":
        values = values_to_the_end(payload, at, k)
    else:
        values = DECODERS[values_codec](payload[at:], Spec(k, DEFAULTS[values_codec]))
    return scattered(n, indices, values)
