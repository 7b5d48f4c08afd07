"""What a rank tells the hub: one JSON object a line. Gradwire's bridge/recording.h has the keys."""

import json

VERSION = 1
HUB_VARIABLE = "GRADWIRE_TORCH_HUB"
ALIKE_VARIABLE = "GRADWIRE_TORCH_ALIKE"

_encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=True).encode


def line(message):
    """The message as bytes that end with its line."""
    return (_encode(message) + "\n").encode("ascii")
