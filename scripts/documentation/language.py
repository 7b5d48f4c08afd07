"""Spelling (codespell) and a few rules of plain technical English."""
import re
import shutil
import subprocess

from .pages import ROOT, all_pages, prose_lines, shown

# What readers see: pages, scenarios, and the folders whose strings reach the screen. Sources are
# spelt right as a whole, comments too.
SPELT = ["README.md", "CHANGELOG.md", "docs", "scenarios", "base", "compressors", "sim", "results", "trainers",
         "emulator", "runner", "cli", "gui", "bench", "scripts", "gradwire"]
# Names of the code that are no misspellings.
ACCEPTED = "kown,upto,nin,vermillion"

# (what is wrong, what to write instead)
RULES = [
    (r"(?<![\w.)\]/])\.\d+(?! ?(?:md|h|cc))\b", "a zero before the point: 0.1, not .1"),
    (r"\b(?:was|were|is|are|been) got\b", '"obtained", "measured" or "computed"'),
    (r"\bhow (?:it|they) (?:was|were) (?:got|found out)\b", '"how it was obtained"'),
    (r"\bcommunication that nothing hides\b", '"exposed communication"'),
    (r"\bout of (?:all )?reach\b", '"unreachable"'),
    (r"\bmore workers (?:do|are) (?:less|slower)\b", '"adding workers lowers throughput"'),
]
COMPILED = [(re.compile(pattern), instead) for pattern, instead in RULES]


def misspelt(paths=None):
    """codespell's findings, one a line; None where codespell is missing."""
    program = shutil.which("codespell")
    if not program:
        return None
    paths = [path for path in (paths or SPELT) if (ROOT / path).exists()]
    done = subprocess.run([program, "--ignore-words-list", ACCEPTED, "--skip", "*.png,*.svg,*.up,*.down,*.csv,*.bin",
                           *paths], cwd=ROOT, capture_output=True, text=True)
    return [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]


def without_code(line):
    return re.sub(r"`[^`]*`|\]\([^)]*\)", "``", line)


def check_language(pages=None):
    problems = []
    for page in pages or all_pages():
        for number, line in prose_lines(page):
            text = without_code(line)
            for pattern, instead in COMPILED:
                found = pattern.search(text)
                if found:
                    problems.append(f'{shown(page)}:{number}: "{found[0].strip()}": write {instead}')
    return problems
