#!/usr/bin/env python3
"""The flow engine and its classes stay as small as scripts/count-lines says; a class that grows is found."""

import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]


def check(root):
    return subprocess.run([sys.executable, root / "scripts/count-lines", "--check"], text=True,
                          capture_output=True, check=False)


def seeded(text):
    """What is said of a copy whose engine has this text in place of a file of its own."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "scripts").mkdir()
        shutil.copy(ROOT / "scripts/count-lines", root / "scripts")
        for each in ("flow", "model", "transport"):
            shutil.copytree(ROOT / "sim" / each, root / "sim" / each)
        (root / "sim/flow/choose_detail.cc").write_text(text)  # in its place: there may be no room left
        return check(root)


def class_of(functions):
    lines = "".join(f"  int function_{i}() const;\n" for i in range(functions))
    return f"class Seeded {{\n public:\n{lines}}};\n"


def main():
    found = check(ROOT)
    assert found.returncode == 0, found.stderr
    assert seeded(class_of(60)).returncode == 0
    for text, words in ((class_of(61), "Seeded has 61 member functions"), ("\n" * 11000, "lines, more than")):
        found = seeded(text)
        assert found.returncode == 1 and words in found.stderr, found


main()
