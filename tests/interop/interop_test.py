#!/usr/bin/env python3
"""Holds decoders that were written from docs/wire-formats*.md against the program's own.

    interop_test.py PROGRAM DOCS_FOLDER [CODEC...]

For every codec of `gradwire codec list` and many values of every option: the program encodes, both
decode, and every float must be the same to the last bit. Changed payloads must be refused by both or
give the same floats in both. The examples in the pages are run. Exit code 77: it cannot run here.
"""
import sys

try:
    import numpy as np
except ImportError as error:
    print(f"skipped: {sys.executable} has no NumPy ({error}); Debian: apt-get install python3-numpy")
    sys.exit(77)

import concurrent.futures
import pathlib
import time

from cases import CODECS, cases_of, inputs_of, largest_of, load_codecs, uses_mask
from codings import check_codings, frame_example
from examples import documented, examples_in
from frame import read_frame
from program import Program, ProgramFailed
from wire import DECODERS, DEFAULTS, Refused, Spec, decode

MUTATIONS = 2  # of each case's payload


class Failed(Exception):
    pass


def demand(condition, what):
    if not condition:
        raise Failed(what)


def decoded(name, payload, spec):
    """The floats' bytes, or None if the payload is refused."""
    try:
        return decode(name, payload, spec).tobytes()
    except Refused:
        return None


def demand_same(ours, theirs, where):
    if ours != theirs:
        raise Failed(f"{where}: {difference(ours, theirs)}")


def difference(ours, theirs):
    if ours is None or theirs is None:
        return "NumPy " + ("refuses" if ours is None else "decodes") + ", the program does not"
    a, b = np.frombuffer(ours, "<u4"), np.frombuffer(theirs, "<u4")
    if len(a) != len(b):
        return f"{len(a)} and {len(b)} floats"
    e = int(np.flatnonzero(a != b)[0])
    return f"element {e}: NumPy has {a[e:e+1].view('<f4')[0]!r}, the program {b[e:e+1].view('<f4')[0]!r}"


def tensor_of(rng, name, kind, n):
    limit = largest_of(name)
    return np.clip(kind(rng, n), -limit, limit).astype("<f4")


class Case:
    """One codec with one choice of options."""

    def __init__(self, program, name, number, options):
        self.program, self.name, self.number, self.options = program, name, number, options
        self.rng = np.random.default_rng([number, *name.encode()])
        self.decoded = self.mutated = self.noticed = 0

    def run(self):
        for kind, n, shape in inputs_of(self.name, self.number):
            self.where = f"{self.name} {self.options}, {kind.__name__}, n = {n}, shape {shape}"
            try:
                self.one(tensor_of(self.rng, self.name, kind, n), shape)
            except ProgramFailed as failure:
                raise Failed(f"{self.where}: {failure}") from failure
        return self

    def one(self, values, shape):
        mask = None
        if uses_mask(self.name, self.options):
            mask = self.rng.integers(0, 256, (len(values) + 7) // 8, np.uint8).tobytes()
        facts = self.program.facts(self.name, self.options, shape, mask)
        frame = self.program.encode(facts, values)
        theirs = self.program.decode_frame(facts, frame)
        name, payload, spec = read_frame(frame, mask)
        demand(name == self.name and spec.n == len(values), f"{self.where}: the frame is another's")
        ours = decoded(name, payload, spec)
        demand(theirs is not None, f"{self.where}: the program refuses its own frame")
        demand_same(ours, theirs, self.where)
        self.decoded += 1
        if len(values) == 1000 and shape is None:
            self.damage_frame(frame, len(payload), mask, facts)
            self.mutate(facts, payload, spec, theirs)
            if self.number == 0:
                bare = self.program.encode(facts, values, bare=True)
                demand(bare == payload, f"{self.where}: the bare payload differs from the frame's")

    def damage_frame(self, frame, size, mask, facts):
        at = len(frame) - 4 - 1 - int(self.rng.integers(0, size))
        damaged = frame[:at] + bytes([frame[at] ^ 0x10]) + frame[at + 1 :]
        try:
            read_frame(damaged, mask)
            raise Failed(f"{self.where}: a damaged frame is not noticed")
        except Refused:
            pass
        if self.number == 0:
            demand(self.program.decode_frame(facts, damaged) is None, f"{self.where}: the program takes it")

    def mutate(self, facts, payload, spec, original):
        """Cut off, and with a byte changed: refused by both, or the same floats."""
        for change in range(MUTATIONS):
            at = int(self.rng.integers(0, len(payload)))
            flip = int(self.rng.integers(1, 256))
            changed = payload[:at] + bytes([payload[at] ^ flip]) + payload[at + 1 :]
            if change == 0 and self.number % 2:
                changed = payload[:-1] if self.number % 4 == 1 else payload + b"\0"
            theirs = self.program.decode_bare(facts, spec, changed)
            ours = decoded(self.name, changed, spec)
            demand_same(ours, theirs, f"{self.where}: byte {at} ^ {flip}")
            self.mutated += 1
            self.noticed += ours != original


def run_example(program, example):
    facts = program.facts(example.codec, example.options, example.shape, example.mask)
    payload = program.encode(facts, example.values, bare=True)
    demand(payload == example.payload, f"{example.where}: the program sends {payload.hex(' ')}")
    shape = [int(x) for x in example.shape.split("x")] if example.shape else None
    options = {**program.options[example.codec], **example.options}
    spec = Spec(len(example.values), options, shape, example.mask)
    for values in (decoded(example.codec, payload, spec), program.decode_bare(facts, spec, payload)):
        demand(values == example.decoded.tobytes(), f"{example.where}: it decodes to something else")


def check_front_page(program, pages):
    page = pathlib.Path(pages, "wire-formats.md").read_text()
    wrong = check_codings(page)
    demand(wrong is None, f"docs/wire-formats.md: {wrong} does not hold")
    values = np.array([1.0, -2.5, 65504], "<f4")
    frame = program.encode(program.facts("fp16", {}, None, None), values)
    demand(frame == frame_example(page), f"docs/wire-formats.md: the example's frame is {frame.hex(' ')}")


def check_lists(program, pages):
    for name, options in program.options.items():
        demand(name in CODECS, f"codec {name} has no file compressors/codecs/{name}/interop.py")
        demand(name in DECODERS, f"codec {name} has no decoder in its interop.py")
        demand(hasattr(CODECS[name], "CASES"), f"codec {name} has no CASES in its interop.py")
        demand(documented(pages, name), f"codec {name} has no section in docs/wire-formats-*.md")
        demand(any(example.codec == name for example in examples_in(pages)), f"codec {name} has no example")
        for option, default in options.items():
            tried = any(case.get(option, default) != default for case in cases_of(name))
            demand(tried, f"option {option} of codec {name} is never tried")
        for option, choices in program.choices[name].items():
            untried = choices - {options[option]} - {case.get(option) for case in cases_of(name)}
            demand(not untried, f"{option}={untried} of codec {name} is never tried")


def main():
    begun = time.monotonic()
    program, pages, only = Program(sys.argv[1]), sys.argv[2], sys.argv[3:]
    load_codecs(pathlib.Path(pages).parent / "compressors" / "codecs")
    DEFAULTS.update(program.options)
    if not only:
        check_lists(program, pages)
        check_front_page(program, pages)
    only = only or list(program.options)
    examples = [example for example in examples_in(pages) if example.codec in only]
    for example in examples:
        run_example(program, example)
    cases = [Case(program, name, number, options) for name in only
             for number, options in enumerate([{}] + cases_of(name))]
    noticed = dict.fromkeys(only, 0)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for case in pool.map(Case.run, cases):
            noticed[case.name] += case.noticed
    for name in only:
        demand(noticed[name] > 0, f"{name}: no changed byte changed a float")
    print(f"{len(program.options)} codecs, {len(cases)} choices of options")
    print(f"{sum(case.decoded for case in cases)} tensors decode to the same floats")
    print(f"{sum(case.mutated for case in cases)} changed payloads are refused by both or decode alike")
    print(f"{len(examples)} examples of the pages hold; {time.monotonic() - begun:.1f} s")


if __name__ == "__main__":
    try:
        main()
    except Failed as failure:
        print(f"failed: {failure}")
        sys.exit(1)
