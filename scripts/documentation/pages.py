"""Markdown pages: which there are, their headings, their fenced blocks and the marks above these."""
import dataclasses
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^(\s*)(```+|~~~+)\s*(\w*)\s*$")
MARK = re.compile(r"^<!--\s*(run|file):\s*(.*?)\s*-->$")


@dataclasses.dataclass
class Block:
    page: pathlib.Path
    line: int  # of the opening fence, counted from 1
    language: str
    text: str
    mark: str = ""  # "run", "file" or none
    value: str = ""  # what the mark says


def source_folders():
    """Top folders of the program's sources, as CMakeLists.txt adds them."""
    added = re.search(r"^foreach\(folder (.+)\)$", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE)[1]
    return sorted({path.partition("/")[0] for path in added.split()})


def all_pages():
    """README.md, CHANGELOG.md and every page below docs/."""
    front = [ROOT / name for name in ("README.md", "CHANGELOG.md")]
    return [page for page in front if page.exists()] + sorted((ROOT / "docs").rglob("*.md"))


def shown(page):
    try:
        return str(pathlib.Path(page).resolve().relative_to(ROOT))
    except ValueError:
        return str(page)


def blocks_of(page):
    """The fenced blocks of a page; a mark stands in a comment right above its block."""
    blocks, mark, inside = [], None, None
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if inside:
            if line.strip() == inside[1]:
                blocks.append(inside[0])
                inside = None
            else:
                inside[0].text += line[inside[2]:] + "\n"
            continue
        fence = FENCE.match(line)
        if fence:
            block = Block(page, number, fence[3], "")
            if mark:
                block.mark, block.value = mark
            inside, mark = (block, fence[2], len(fence[1])), None
            continue
        found = MARK.match(line.strip())
        mark = (found[1], found[2]) if found else (mark if not line.strip() else None)
    return blocks


def prose_lines(page):
    """(number, line) of everything outside fenced blocks."""
    inside = None
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if inside:
            inside = None if line.strip() == inside else inside
            continue
        fence = FENCE.match(line)
        if fence:
            inside = fence[2]
            continue
        yield number, line


def anchors_of(page):
    """The anchors that headings get, as GitHub makes them."""
    anchors, seen = set(), {}
    for _, line in prose_lines(page):
        heading = re.match(r"^#{1,6}\s+(.*?)\s*#*$", line)
        if heading:
            text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1])
            text = re.sub(r"<[^>]+>|[`*]", "", text).lower()
            anchor = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
            count = seen.get(anchor, 0)
            seen[anchor] = count + 1
            anchors.add(f"{anchor}-{count}" if count else anchor)
        anchors.update(re.findall(r'<a (?:name|id)="([^"]+)"', line))
    return anchors
