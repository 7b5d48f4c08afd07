"""The table that an architecture fills, and its JSON."""
import json
from math import prod


def dumped(value):
    return json.dumps(value, ensure_ascii=False)


class Table:
    """Layers in forward order. Counts are exact integers, of one sample.

    flops: two for each multiply-add of a convolution, a matrix product or a recurrence; of other
    layers about what an element costs (COST), which no time depends on: memory bounds them.
    inputs, outputs: elements of activations that the layer reads and writes.
    """

    COST = {"relu": 1, "add": 1, "gelu": 8, "tanh": 8, "softmax": 5, "batch-norm": 4, "layer-norm": 8,
            "eager-softmax": 8, "fused-softmax": 8, "eager-heads": 1, "fused-heads": 1, "eager-dropout-add": 3,
            "fused-dropout-add": 3, "eager-gelu": 9, "fused-gelu": 9, "eager-rms-norm": 6, "eager-rotation": 6,
            "repeat-heads": 0, "eager-gate": 8, "cross-entropy": 6,
            "local-response-norm": 12, "concatenate": 0, "embedding": 0}

    def __init__(self, name, paper, variant, sample):
        self.name, self.paper, self.variant, self.sample = name, paper, variant, sample
        self.layers = []

    def add(self, name, kind, inputs, outputs, flops=None, **tensors):
        if flops is None:
            flops = self.COST[kind] * outputs
        shapes = {"tensors": {key: list(shape) for key, shape in tensors.items()}} if tensors else {}
        self.layers.append({
            "name": name,
            "kind": kind,
            "elements": sum(prod(shape) for shape in tensors.values()),
            **shapes,
            "flops_per_sample": flops,
            "inputs_per_sample": inputs,
            "activations_per_sample": outputs,
        })

    def linear(self, name, inputs, outputs, rows=1, bias=True, tied=False):
        """y = x W^T + b on `rows` vectors; `tied`: W stands at another layer."""
        tensors = {} if tied else {"weight": (outputs, inputs)}
        if bias:
            tensors["bias"] = (outputs,)
        self.add(name, "linear", rows * inputs, rows * outputs, 2 * rows * inputs * outputs, **tensors)

    def pointwise(self, name, kind, elements, operands=1, **tensors):
        self.add(name, kind, operands * elements, elements, **tensors)

    def parameters(self):
        return sum(layer["elements"] for layer in self.layers)

    def flops(self):
        return sum(layer["flops_per_sample"] for layer in self.layers)

    def note(self):
        return (f"Computed from the architecture by scripts/layer-tables. {self.variant} "
                f"{self.parameters():,} parameters. One sample: {self.sample}. Paper: {self.paper}.")

    def json(self):
        head = {"schema_version": 1, "kind": "workload", "name": self.name, "source": "computed",
                "note": self.note()}
        lines = [f'  "{key}": {dumped(value)},' for key, value in head.items()]
        layers = ["    " + dumped(layer) for layer in self.layers]
        return "{\n" + "\n".join(lines) + '\n  "layers": [\n' + ",\n".join(layers) + "\n  ]\n}\n"
