"""The numbers that docs/wire-formats.md itself gives for codings, draws and frames."""
import re

from bits import BitReader, Huffman, elias, golomb_parameter, unpack
from frame import crc32c
from indices import NAMES, read_indices
from philox import philox_words

ELIAS = {1: "0", 2: "100", 3: "110", 4: "101000", 5: "101010", 7: "101110", 8: "1110000", 16: "10100100000"}
INDICES = {
    "u32": "01000000 04000000 08000000 0f000000",
    "runs16": "0100 0200 0300 0600",
    "bitmap": "12 81 00",
    "golomb": "29 d0",
    "golomb-stored": "02 29 d0",
    "delta": "19 4f 00",
    "packed": "81 a0 07",
}


def bits_of(text):
    return BitReader(int(text.ljust(64, "0"), 2).to_bytes(8, "big"))


def check_codings(page):
    """Returns what does not hold, or None; the page shows all of it."""
    for code in [*ELIAS.values(), *INDICES.values()]:
        if f"`{code}`" not in page:
            return f"a table without {code}"
    for number, code in ELIAS.items():
        stream = bits_of(code)
        if elias(stream) != number or stream.at != len(code):
            return f"the Elias code of {number}"
    for name, text in INDICES.items():
        section = bytes.fromhex(text)
        indices, end = read_indices(NAMES.index(name), section, 0, 20, 4)
        if list(indices) != [1, 4, 8, 15] or end != len(section):
            return f"the example of index format {name}"
    if golomb_parameter(20, 4) != 2:
        return "golomb(20, 4)"
    lengths = {0: 1, 1: 2, 2: 3, -3: 4, -1: 4}
    if Huffman(lengths).decode(bits_of("0101101110" + "1111"), 5) != [0, 1, 2, -3, -1]:
        return "the Huffman example"
    if [int(w) for w in philox_words(0, 4)] != [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]:
        return "Philox of zeros"
    if crc32c(b"123456789") != 0xE3069283:
        return "CRC-32C of 123456789"
    if list(unpack(b"\x81\xa0\x07", 0, 4, 5)) != [1, 4, 8, 15]:
        return "codes of 5 bits"
    return None


def frame_example(page):
    """The frame of 1.0, -2.5, 65504 by fp16 with seed 1, as the page has it."""
    text = page[page.index("by `fp16` with seed 1") :]
    return bytes.fromhex(re.search(r"\n\n((    [0-9a-f ]+\n)+)", text).group(1))
