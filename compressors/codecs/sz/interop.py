"""sz (docs/wire-formats-weights.md)."""
import numpy as np

from bits import BitReader, Huffman
from options import each
from wire import TOP, codec, field, fields, finite, require, require_size

CHUNK = 4096
WORD = 1 << 32

CASES = (each("bound", [0, 1e-7, 0.1]) + each("mode", ["absolute"], bound="0.01")
         + each("predictor", ["none", "1d", "2d"]) + each("radius", [1, 2, 4096]) + each("zero_runs", ["never"]))
SHAPED = True


class Block:
    """The fields of an sz block that is not raw, in order."""

    def __init__(self, payload, n, form, at):
        self.payload, self.n, self.at = payload, n, at
        self.predictor, self.runs = form & 3, form >> 7
        self.radius, count = self.number("u2"), self.number("u2")
        require(1 <= self.radius <= 4096, "the radius is out of range")
        highest = self.radius + (12 if self.runs else 0)
        require(1 <= count <= self.radius + highest, "the number of symbols is out of range")
        table = fields(payload, self.at, "i2,u1", count)
        self.at += 3 * count
        symbols = table["f0"].astype(np.int64)
        require(np.all(np.diff(symbols) > 0), "symbols are out of order")
        require(symbols[0] >= -self.radius and symbols[-1] < highest, "a symbol is out of range")
        self.bits, self.outliers = self.number("u4"), self.number("u4")
        self.tokens, self.run_bits = (self.number("u4"), self.number("u4")) if self.runs else (n, 0)
        self.exact = self.number("u4") if form & 0x40 else 0
        require(1 <= self.tokens <= n and max(self.outliers, self.exact) <= n, "a count exceeds n")
        self.lengths = dict(zip(symbols.tolist(), table["f1"].tolist()))
        require(max(self.lengths.values()) <= longest_code(self.tokens), "a code is too long")

    def number(self, kind):
        value = field(self.payload, self.at, kind)
        self.at += int(kind[1:])
        return value

    def stream(self, bits):
        size = (bits + 7) // 8
        require(self.at + size <= len(self.payload), "a stream is cut off")
        self.at += size
        return BitReader(self.payload[self.at - size : self.at])

    def entries(self, kind, count):
        table = fields(self.payload, self.at, "u4," + kind, count)
        self.at += 8 * count
        return table["f0"].astype(np.int64), table["f1"]


def longest_code(tokens):
    length, a, b = 0, 1, 2
    while b <= tokens and length < 15:
        length, a, b = length + 1, b, a + b
    return max(length, 1)


def symbols_of(block):
    stream, runs = block.stream(block.bits), block.stream(block.run_bits)
    tokens = Huffman(block.lengths).decode(stream, block.tokens)
    require(stream.at == block.bits, "the symbols have another number of bits")
    symbols = tokens
    if block.runs:
        symbols = []
        for token in tokens:
            if token < block.radius:
                symbols.append(token)
                continue
            c = token - block.radius + 1
            run = (1 << c) + runs.read(c)
            require(len(symbols) % CHUNK + run <= CHUNK, "a run crosses a chunk")
            symbols += [0] * run
    require(runs.at == block.run_bits, "the run lengths have another number of bits")
    require(len(symbols) == block.n, "the symbols are not as many as the elements")
    return symbols


def codes_of(block, symbols, columns):
    """The numbers p, modulo 2^32."""
    index, code = block.entries("i4", block.outliers)
    escapes = np.flatnonzero(np.array(symbols) == -block.radius)
    require(np.array_equal(escapes, index), "the outliers are not those of the escapes")
    outliers = iter((code.astype(np.int64) % WORD).tolist())
    p = []
    for e, symbol in enumerate(symbols):
        if symbol == -block.radius:
            p.append(next(outliers))
            continue
        left = p[e - 1] if block.predictor and e else 0
        if block.predictor == 2 and e >= columns:
            left = p[e - columns] + (left - p[e - columns - 1] if e % columns else 0)
        elif block.predictor == 2 and e % columns == 0:
            left = 0
        p.append((symbol + left) % WORD)
    return np.array(p, np.uint32).view(np.int32)


@codec("sz")
def sz(payload, spec):
    n, bound = field(payload, 0, "u4"), field(payload, 4, "f4")
    form, dimensions = field(payload, 8, "u1"), field(payload, 9, "u1")
    shape = fields(payload, 10, "u4", dimensions).tolist()
    product = 1
    for length in shape:
        product *= length
    require(n == spec.n and dimensions > 0 and product == n, "the shape is not the tensor's")
    raw = form & 3 == 3
    require(form & 0x3C == 0 and (not raw or form == 3), "an unknown form")
    require(np.isfinite(bound) and bound >= 0 and (raw or bound > 0), "the bound is out of range")
    at = 10 + 4 * dimensions
    if raw:
        require_size(payload, at + 4 * n)
        return finite(fields(payload, at, "f4", n))
    block = Block(payload, n, form, at)
    codes = codes_of(block, symbols_of(block), shape[-1] if dimensions > 1 else n)
    top = np.float64(TOP)
    values = np.clip(2 * np.float64(bound) * codes, -top, top).astype(np.float32)
    index, exact = block.entries("f4", block.exact)
    require_size(payload, block.at)
    require(np.all(np.diff(index) > 0) and np.all(index < n), "exact values are out of order")
    values[index] = finite(exact)
    return values
