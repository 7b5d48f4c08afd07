"""site_pages.py FOLDER: the pages of docs/ and those of the repository beside it, as MkDocs takes them.

A page may link to a file outside docs/ (the front page, a scenario, a source file). Each such file comes
along below repository/, and its links are turned there; a linked folder, of which a site has no page,
loses its link and keeps its words.
"""
import os
import pathlib
import re
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
LINK = re.compile(r"(!?)\[((?:[^\]\[]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
FENCE = re.compile(r"^\s*(```|~~~)")


def github_slug(text, separator="-"):
    """The anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", separator)


def place_of(file):
    """Where a file of the repository stands in the site."""
    relative = file.relative_to(ROOT)
    return pathlib.Path(*relative.parts[1:]) if relative.parts[0] == "docs" else "repository" / relative


class Site:
    def __init__(self, folder):
        self.folder, self.todo, self.done = folder, [], set()

    def add(self, file):
        if file not in self.done:
            self.done.add(file)
            self.todo.append(file)

    def turned(self, page, match):
        mark, text, target = match.groups()
        if re.match(r"^[a-z]+:|^#", target):
            return match[0]
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve()
        if file.is_dir():
            return text
        if not file.is_file() or ROOT not in file.parents:
            return match[0]  # MkDocs says that it is not there
        self.add(file)
        there = os.path.relpath(place_of(file), place_of(page).parent)
        return f"{mark}[{text}]({there}{'#' + anchor if anchor else ''})"

    def lines_of(self, page):
        inside = False
        for line in page.read_text().splitlines():
            if FENCE.match(line):
                inside = not inside
            yield line if inside else LINK.sub(lambda match: self.turned(page, match), line)

    def write(self):
        while self.todo:
            file = self.todo.pop()
            target = self.folder / place_of(file)
            target.parent.mkdir(parents=True, exist_ok=True)
            if file.suffix == ".md":
                target.write_text("\n".join(self.lines_of(file)) + "\n")
            else:
                shutil.copyfile(file, target)


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    shutil.rmtree(folder, ignore_errors=True)
    site = Site(folder)
    for file in sorted((ROOT / "docs").rglob("*")):
        if file.is_file():
            site.add(file)
    site.write()


if __name__ == "__main__":
    main()
