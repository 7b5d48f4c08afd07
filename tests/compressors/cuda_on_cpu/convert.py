#!/usr/bin/env python3
"""Writes a CUDA source as C++ for cuda_runtime_api.h beside this file: convert.py SOURCE TARGET.

kernel<<<grid, threads, shared, stream>>>(arguments) becomes a call with a lambda; everything else
is left to macros.
"""
import re
import sys


def matching(text, at, step, opening, closing):
    """The index of the bracket that belongs to the one at `at`, forwards or backwards."""
    depth = 0
    while True:
        depth += (text[at] == opening) - (text[at] == closing)
        if depth == 0:
            return at
        at += step


def kernel_begin(text, end):
    """Where the kernel's name begins that ends before `end`, template arguments included."""
    while text[end - 1].isspace():
        end -= 1
    begin = end
    if text[begin - 1] == ">":
        begin = matching(text, begin - 1, -1, "<", ">")
    while text[begin - 1].isalnum() or text[begin - 1] == "_":
        begin -= 1
    return begin


def convert(text):
    while "<<<" in text:
        at = text.index("<<<")
        begin, close = kernel_begin(text, at), text.index(">>>", at)
        end = matching(text, close + 3, 1, "(", ")") + 1
        call = text[begin:at].strip() + text[close + 3 : end]
        launch = f"cuda_on_cpu::launch({text[at + 3 : close]}, [&] {{ {call}; }})"
        text = text[:begin] + launch + text[end:]
    text = re.sub(r"extern __shared__ ([\w:]+) (\w+)\[\]", r"\1* \2 = cuda_on_cpu::dynamic_shared", text)
    text = text.replace("__shared__ alignas(16)", "alignas(16) static")
    return re.sub(r"#pragma unroll.*", "", text)


with open(sys.argv[1]) as source, open(sys.argv[2], "w") as target:
    target.write(convert(source.read()))
