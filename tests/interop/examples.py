"""The examples in the pages."""
import pathlib
import re

import numpy as np


class Example:
    """encode CODEC [--set OPTION=VALUE]... [--shape SHAPE]; mask, in, out, back: see the dense page."""

    def __init__(self, page, text):
        lines = dict((line.split(None, 1) + [""])[:2] for line in text.strip().splitlines())
        words = lines["encode"].split()
        self.codec, rest = words[0], dict_of(words[1:])
        self.where = f"{page}: {lines['encode']}"
        self.options = dict(setting.split("=") for setting in rest.get("--set", []))
        self.shape = rest.get("--shape", [None])[0]
        self.mask = bytes.fromhex(lines["mask"]) if "mask" in lines else None
        self.values, self.decoded = floats(lines["in"]), floats(lines["back"])
        self.payload = bytes.fromhex(re.sub(r"[|\s]", "", lines["out"]))


def dict_of(words):
    settings = {}
    for option, value in zip(words[::2], words[1::2]):
        settings.setdefault(option, []).append(value)
    return settings


def floats(text):
    """"1 0*3" is 1, 0, 0, 0."""
    values = []
    for word in text.split():
        value, _, count = word.partition("*")
        values += [float(value)] * int(count or 1)
    return np.array(values, "<f4")


def pages_in(folder):
    return sorted(pathlib.Path(folder).glob("wire-formats-*.md"))


def examples_in(folder):
    return [Example(page.name, text) for page in pages_in(folder)
            for text in re.findall(r"^```example\n(.*?)^```$", page.read_text(), re.S | re.M)]


def documented(folder, name):
    return any(f"\n## `{name}`\n" in page.read_text() for page in pages_in(folder))
