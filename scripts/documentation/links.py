"""Relative links, anchors and source paths that pages name, and pages that the index does not reach."""
import re

from .pages import ROOT, all_pages, anchors_of, prose_lines, shown, source_folders

LINK = re.compile(r"!?\[(?:[^\]\[]|\[[^\]]*\])*\]\(([^)\s]+)\)")
TAG = re.compile(r'<(?:img|source|a)\s[^>]*(?:src|srcset|href)="([^"]+)"')
CODE = re.compile(r"`([^`]+)`")
PATH = re.compile(r"^(?:\.\./)?([\w.-]+)/[\w./*-]*$")


def links_of(page):
    """(line number, target) of each link."""
    for number, line in prose_lines(page):
        without_code = CODE.sub("", line)
        for target in LINK.findall(without_code) + TAG.findall(without_code):
            yield number, target


def target_problem(page, target):
    if re.match(r"^[a-z]+:", target):
        return None  # another machine's; not fetched
    path, _, anchor = target.partition("#")
    file = (page.parent / path).resolve() if path else page
    if not file.exists():
        return f"there is no {path}"
    if anchor and file.suffix == ".md" and anchor not in anchors_of(file):
        return f"{shown(file)} has no heading #{anchor}"
    return None


def named_paths(page, tops):
    """Paths of the repository that stand in code type, such as `sim/cluster/link.h`."""
    for number, line in prose_lines(page):
        for text in CODE.findall(line):
            match = PATH.match(text)
            if match and match[1] in tops:
                yield number, text


def path_exists(path):
    return any(ROOT.glob(path.rstrip("/"))) if "*" in path else (ROOT / path).exists()


def reachable_from(start):
    """Pages that links lead to from one page."""
    found, todo = set(), [start.resolve()]
    while todo:
        page = todo.pop()
        if page in found or page.suffix != ".md" or not page.exists():
            continue
        found.add(page)
        todo += [(page.parent / target.partition("#")[0]).resolve() for _, target in links_of(page)
                 if not re.match(r"^[a-z]+:|^#", target)]
    return found


def check_links(pages=None):
    """One line for each problem."""
    problems = []
    tops = {*source_folders(), "python", "tests", "docs", "scripts", "cmake"}
    every = pages is None
    pages = all_pages() if every else pages
    for page in pages:
        for number, target in links_of(page):
            problem = target_problem(page, target)
            if problem:
                problems.append(f"{shown(page)}:{number}: link to {target}: {problem}")
        for number, path in named_paths(page, tops):
            if not path_exists(path):
                problems.append(f"{shown(page)}:{number}: names {path}, which does not exist")
    if every:
        reached = reachable_from(ROOT / "docs" / "README.md")
        problems += [f"{shown(page)}: docs/README.md does not lead to it" for page in pages
                     if page.resolve() not in reached and page.parent != ROOT]
    return problems
