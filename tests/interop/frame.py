"""Frames (docs/wire-formats.md, frames)."""
from wire import Spec, field, fields, require


def crc_table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


TABLE = crc_table()


def crc32c(data):
    register, table = 0xFFFFFFFF, TABLE
    for byte in data:
        register = table[(register ^ byte) & 255] ^ register >> 8
    return register ^ 0xFFFFFFFF


class Cursor:
    """Fields one after the other, none beyond the header's end."""

    def __init__(self, data, at):
        self.data, self.at = data, at

    def number(self, kind):
        value = field(self.data, self.at, kind)
        self.at += int(kind[1:])
        return value

    def text(self, kind):
        length = self.number(kind)
        require(self.at + length <= len(self.data), "a text is cut off")
        self.at += length
        return self.data[self.at - length : self.at].decode()


def read_frame(data, mask=None):
    """Returns the codec's name, the payload and its Spec. Refuses what is damaged or cut off."""
    require(data[:4] == b"GRWF", "not a frame")
    require(len(data) >= 68 and field(data, 4, "u2") == 1 and field(data, 6, "u1") == 1, "an unknown frame")
    size = field(data, 8, "u4")
    require(68 <= size <= len(data), "the header is cut off")
    head = data[: size - 4]
    require(crc32c(head) == field(data, size - 4, "u4"), "the header is damaged")
    n, payload_size = (int(x) for x in fields(head, 16, "u8", 2))
    cursor = Cursor(head, 64)
    shape = [cursor.number("u8") for _ in range(cursor.number("u1"))]
    name, _tensor = cursor.text("u1"), cursor.text("u2")
    options = {}
    for _ in range(cursor.number("u2")):
        option = cursor.text("u1")
        options[option] = cursor.text("u2")
    require(cursor.at == len(head), "bytes follow the header's last field")
    product = 1
    for length in shape:
        product *= length
    require(not shape or product == n, "the shape has not n elements")
    require(size + payload_size + 4 <= len(data), "the payload is cut off")
    payload = data[size : size + payload_size]
    require(crc32c(payload) == field(data, size + payload_size, "u4"), "the payload is damaged")
    return name, payload, Spec(n, options, shape, mask)
