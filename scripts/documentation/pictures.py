"""Pictures of the pages: figures out of reports (SVG) and screenshots (PNG) that say what they show."""
import os
import re
import shutil
import struct
import subprocess
import zlib
from xml.etree import ElementTree

from .pages import ROOT

IMAGES = ROOT / "docs" / "images"
KEY = b"gradwire"  # of the PNG text chunk that names the runs shown
SIGNATURE = b"\x89PNG\r\n\x1a\n"


def outer_figures(report):
    """The <svg> elements of a page; plot areas are further ones inside."""
    depth, start = 0, 0
    for tag in re.finditer(r"<svg\b|</svg>", report):
        if tag[0] == "</svg>":
            depth -= 1
            if depth == 0:
                yield report[start:tag.end()]
        else:
            start = tag.start() if depth == 0 else start
            depth += 1


def figure(report, title):
    """A figure of an HTML report as a file of its own, light or dark as the reader's page is."""
    variables = re.search(r":root\{[^}]*\}", report)[0]
    dark = re.search(r"@media screen and \(prefers-color-scheme:dark\)\{(:root\{[^}]*\})\}", report)
    style = variables + (f"@media (prefers-color-scheme:dark){{{dark[1]}}}" if dark else "")
    for svg in outer_figures(report):
        if f"<title>{title}</title>" in svg:
            ElementTree.fromstring(svg)  # well-formed, or an exception
            return svg.replace(">", f">\n<style>{style}</style>", 1) + "\n"
    raise KeyError(f"the report has no figure \"{title}\"")


def identity(rows):
    """What a picture shows, in one text: the hashes of its runs."""
    return " ".join(f"{row['timeline_hash']}:{row['learning_hash']}" for row in rows)


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def label_png(path, text):
    """Writes what the picture shows into it, behind its header."""
    data = path.read_bytes()
    assert data[:8] == SIGNATURE
    end = 8 + 12 + struct.unpack(">I", data[8:12])[0]
    path.write_bytes(data[:end] + chunk(b"tEXt", KEY + b"\0" + text.encode("latin-1")) + data[end:])


def png_label(path):
    """The text that label_png wrote, or None."""
    data, at = path.read_bytes(), 8
    while at + 8 <= len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        if kind == b"tEXt" and body.startswith(KEY + b"\0"):
            return body[len(KEY) + 1:].decode("latin-1")
        at += 12 + length
    return None


def browser():
    return next((found for found in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if found), None)


def screenshot(page, path, width, height):
    """False where there is no browser."""
    program = browser()
    if not program:
        return False
    subprocess.run([program, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                    "--force-device-scale-factor=1", f"--window-size={width},{height}", f"--screenshot={path}",
                    page.as_uri()], check=True, capture_output=True, timeout=120)
    return True


def desktop_pictures(build, folder):
    """The walk through the real window leaves desktop*.png in the folder. False where it cannot be built."""
    subprocess.run(["cmake", "--build", build, "--target", "walk_desktop"], capture_output=True)
    walk = subprocess.run([ROOT / "scripts/desktop-walk", folder], capture_output=True, timeout=300,
                          env=dict(os.environ, GRADWIRE_BINARY_DIR=str(build)))
    if walk.returncode == 77:
        return False
    walk.check_returncode()
    return True
