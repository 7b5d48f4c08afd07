"""none (docs/wire-formats-dense.md)."""
from wire import codec, fields, require_size

CASES = []


@codec("none")
def none(payload, spec):
    require_size(payload, 4 * spec.n)
    return fields(payload, 0, "f4", spec.n)
