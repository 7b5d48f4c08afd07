"""Parts of pages that a script writes: from `<!-- generated: NAME -->` to `<!-- end -->`."""
import re

from .pages import shown

BLOCK = re.compile(r"(<!-- generated: ([\w-]+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)


def names_of(page):
    return [match[1] for match in BLOCK.findall(page.read_text())]


def block_text(page, name):
    for match in BLOCK.finditer(page.read_text()):
        if match[2] == name:
            return match[3]
    raise KeyError(f"{shown(page)} has no block \"generated: {name}\"")


def write_block(page, name, text):
    """Whether the page changed."""
    old = page.read_text()
    block_text(page, name)
    new = BLOCK.sub(lambda match: match[1] + "\n" + text.strip() + "\n\n" + match[4] if match[2] == name else match[0],
                    old)
    if new != old:
        page.write_text(new)
    return new != old


def table_rows(text):
    """The first Markdown table of a text, as a list of {header: cell}."""
    lines = [[cell.strip() for cell in line.strip().strip("|").split("|")]
             for line in text.splitlines() if line.lstrip().startswith("|")]
    return [dict(zip(lines[0], cells)) for cells in lines[2:]] if len(lines) > 2 else []
