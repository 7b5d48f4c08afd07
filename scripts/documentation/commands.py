"""Runs the command blocks of pages as they are written.

A block of language sh, bash or console is run; a comment right above it may say otherwise:

    <!-- run: not here, REASON -->    it is not run; the reason is printed
    <!-- run: exit 7 -->              its last command ends with this code
    <!-- file: NAME -->               the block (of any language) is what the reader saves as NAME
"""
import os
import pathlib
import re
import subprocess
import tempfile
import time

from .pages import ROOT, blocks_of, shown

LANGUAGES = ("sh", "bash", "console")
# Names the command that failed.
PROLOGUE = """set -uo pipefail
trap 'code=$?; echo "exit code $code from: $BASH_COMMAND" >&2; exit $code' ERR
"""


def scratch_copy(program):
    """A folder that looks like the clone, whose ./gradwire is the given program."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="gradwire-docs-"))
    for entry in ROOT.iterdir():
        if entry.name not in ("gradwire", "build", ".git", ".deps", "out") and not entry.name.startswith("gradwire"):
            (folder / entry.name).symlink_to(entry)
    launcher = folder / "gradwire"
    launcher.write_text(f'#!/bin/sh\nexec "{pathlib.Path(program).resolve()}" "$@"\n')
    launcher.chmod(0o755)
    return folder


def expected_exit(block):
    found = re.fullmatch(r"exit (\d+)", block.value) if block.mark == "run" else None
    return int(found[1]) if found else 0


def reason_to_skip(block):
    found = re.fullmatch(r"not here,\s*(.+)", block.value) if block.mark == "run" else None
    return found[1] if found else None


def run_block(block, folder, limit):
    """(exit code, output)"""
    text = re.sub(r"^\$ ", "", block.text, flags=re.MULTILINE) if block.language == "console" else block.text
    environment = dict(os.environ, PATH=f"{folder}:{os.environ['PATH']}", GRADWIRE_NO_INPUT="1")
    try:
        done = subprocess.run(["bash", "-c", PROLOGUE + text], cwd=folder, env=environment, timeout=limit,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace")
        return done.returncode, done.stdout
    except subprocess.TimeoutExpired as late:
        output = late.stdout or b""
        return 124, output.decode(errors="replace") if isinstance(output, bytes) else output


def run_page(page, folder, limit, say):
    """Counts of (run, failed, not run). Blocks of a page build on each other."""
    counts = [0, 0, 0]
    for block in blocks_of(page):
        place = f"{shown(page)}:{block.line}"
        if block.mark == "file":
            (folder / block.value).write_text(block.text)
            continue
        if block.language not in LANGUAGES:
            continue
        reason = reason_to_skip(block)
        if reason:
            say(f"not run  {place}: {reason}")
            counts[2] += 1
            continue
        if block.mark == "run" and not re.fullmatch(r"exit \d+", block.value):
            say(f"FAILED   {place}: its mark is not understood: run: {block.value}")
            counts[1] += 1
            continue
        started = time.monotonic()
        code, output = run_block(block, folder, limit)
        counts[0] += 1
        if code == expected_exit(block):
            say(f"ok       {place} ({time.monotonic() - started:.1f} s)")
        else:
            counts[1] += 1
            say(f"FAILED   {place}: exit code {code}, expected {expected_exit(block)}\n" +
                "".join(f"    {line}\n" for line in block.text.splitlines() + ["--- output:"] +
                        output.splitlines()[-30:]))
    return counts
