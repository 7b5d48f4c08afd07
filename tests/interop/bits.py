"""Codes of fixed width, bit streams, Elias, Golomb-Rice, Huffman, base 3 (docs/wire-formats.md)."""
import numpy as np

from wire import require


def packed_size(n, width):
    return (n * width + 7) // 8


def unpack(payload, at, n, width, order="little"):
    """n codes of `width` bits from byte `at`; "little" is LSB first, "big" is MSB first."""
    size = packed_size(n, width)
    require(at + size <= len(payload), "the codes are cut off")
    raw = np.frombuffer(payload, np.uint8, size, at)
    bits = np.unpackbits(raw, bitorder=order)[: n * width].reshape(n, width).astype(np.int64)
    places = np.arange(width) if order == "little" else np.arange(width)[::-1]
    return bits @ (np.int64(1) << places)


def base3(payload, at, n):
    size = (n + 4) // 5
    require(at + size <= len(payload), "the codes are cut off")
    raw = np.frombuffer(payload, np.uint8, size, at).astype(np.int64)
    require(np.all(raw <= 242), "a byte is above 242")
    return (raw[:, None] // 3 ** np.arange(5) % 3).reshape(-1)[:n]


class BitReader:
    """Most significant bit first; what lies beyond the end reads as 0, and `require_inside` refuses it."""

    def __init__(self, data, bit=0):
        self.data, self.at = data, bit

    def peek(self, width):
        byte = self.at >> 3
        window = int.from_bytes(self.data[byte : byte + 8].ljust(8, b"\0"), "big")
        return window >> (64 - (self.at & 7) - width) & ((1 << width) - 1)

    def read(self, width):
        value = 0
        while width > 0:
            part = min(width, 32)
            value = value << part | self.peek(part)
            self.at += part
            width -= part
        return value

    def require_inside(self):
        require(self.at <= 8 * len(self.data), "the stream is cut off")

    def end_byte(self):
        return (self.at + 7) // 8


def elias(stream):
    """One Elias omega code."""
    number = 1
    while stream.read(1) == 1:
        require(number + 1 <= 33, "a number has more than 33 digits")
        number = 1 << number | stream.read(number)
    stream.require_inside()
    return number


def golomb_parameter(n, k):
    if k == 0:
        return 0
    q, b = 1 - k / n, 0
    while q >= 0.6180339887498949 and b < 31:
        q, b = q * q, b + 1
    return b


def golomb_gap(stream, b, limit):
    """One Golomb-Rice code; a gap that exceeds `limit` is refused."""
    ones = 0
    while stream.read(1) == 1:
        ones += 1
        require(ones << b <= limit, "a gap leads beyond the tensor")
    gap = (ones << b) + stream.read(b)
    stream.require_inside()
    return gap


class Huffman:
    """A canonical code from {symbol: length}."""

    def __init__(self, lengths):
        self.lone = next(iter(lengths)) if list(lengths.values()) == [0] else None
        self.longest = max(lengths.values())
        if self.lone is not None:
            return
        require(min(lengths.values()) > 0, "a symbol among others has no bits")
        kraft = sum(1 << (self.longest - length) for length in lengths.values())
        require(kraft == 1 << self.longest, "the code is not complete")
        self.table = []
        for length, symbol in sorted((length, symbol) for symbol, length in lengths.items()):
            self.table += [(symbol, length)] * (1 << (self.longest - length))

    def decode(self, stream, count):
        if self.lone is not None:
            return [self.lone] * count
        symbols, table, longest = [], self.table, self.longest
        for _ in range(count):
            symbol, length = table[stream.peek(longest)]
            stream.at += length
            symbols.append(symbol)
        return symbols
