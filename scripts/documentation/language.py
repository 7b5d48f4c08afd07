"""Spelling (codespell) and a few rules of plain technical English."""
import re
import shutil
import subprocess

from .pages import ROOT, all_pages, prose_lines, shown, source_folders

# What readers see: pages, scenarios, and the folders whose strings reach the screen. Sources are
# spelt right as a whole, comments too.
SPELT = ["README.md", "CHANGELOG.md", "docs", *source_folders(), "python", "scripts", "gradwire"]
# Names of the code that are no misspellings.
ACCEPTED = "kown,upto,nin,vermillion"

# (what is wrong, what to write instead)
RULES = [
    (r"(?<![\w.)\]/])\.\d+(?! ?(?:md|h|cc))\b", "a zero before the point: 0.1, not .1"),
    (r"\b(?:was|were|is|are|been) got\b", '"obtained", "measured" or "computed"'),
    (r"\bhow (?:it|they) (?:was|were) (?:got|found out)\b", '"how it was obtained"'),
    (r"\bthat nothing hides\b", '"exposed"'),
    (r"\bstops? to pay\b", '"no longer pays"'),
    (r"\bout of (?:all )?reach\b", '"unreachable"'),
    (r"\bmore workers (?:do|are) (?:less|slower)\b", '"adding workers lowers throughput"'),
]
TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"')
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


def texts_of(source):
    """(line number, text) of the texts in quotes that have several words."""
    for number, line in enumerate(source.read_text().splitlines(), 1):
        if line.lstrip().startswith(("//", "#include")):
            continue
        for text in TEXT.findall(line):
            if " " in text.strip():
                yield number, text


def problems_in(place, numbered):
    return [f'{shown(place)}:{number}: "{found[0].strip()}": write {instead}' for number, text in numbered
            for pattern, instead in COMPILED for found in [pattern.search(text)] if found]


def check_language(pages=None, sources=None):
    """Of pages and of what programs say; all of both, if none are named."""
    if pages is None and sources is None:
        pages = all_pages()
        sources = [file for folder in source_folders() for kind in ("*.cc", "*.h") for file in sorted((ROOT / folder).rglob(kind))]
    problems = []
    for page in pages or []:
        problems += problems_in(page, [(number, without_code(line)) for number, line in prose_lines(page)])
    for source in sources or []:
        problems += problems_in(source, texts_of(source))
    return problems
