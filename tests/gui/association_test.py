#!/usr/bin/env python3
"""What `cmake --install` gives a desktop: its files say which files `gradwire-gui` opens.

association_test.py PART BUILD SAMPLES FOLDER: PART is "files" (both files against each other and against
what the program opens), "desktop-file-validate" or "mime-database" (by the desktop's own tools). SAMPLES
makes a results database. Exit codes: 0 right, 1 wrong, 77 the tool is not installed.
"""
import configparser
import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as xml

MIME = "{http://www.freedesktop.org/standards/shared-mime-info}"
RESULTS, SCENARIO = "application/x-gradwire-results", "application/x-gradwire-scenario"


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def needs(*tools):
    for tool in tools:
        if not shutil.which(tool):
            skip(f"{tool} is not installed")


def same(what, found, expected):
    if found != expected:
        sys.exit(f"{what}: {found!r}, not {expected!r}")


def install(build, folder):
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run(["cmake", "--install", build, "--component", "gui", "--prefix", folder + "/root"],
                   check=True, stdout=subprocess.DEVNULL)
    return folder + "/root"


def problems(entry_text, mime_text, root):
    """What keeps a double click from opening a file in the program."""
    entry = configparser.RawConfigParser(strict=True)
    entry.optionxform = str
    entry.read_string(entry_text)
    entry = entry["Desktop Entry"]
    found = []
    program, *arguments = entry["Exec"].split()
    if not os.access(f"{root}/bin/{program}", os.X_OK):
        found.append(f"{program} is not installed")
    if arguments != ["%f"]:
        found.append(f"the file is not handed over: {entry['Exec']}")
    icon = f"{root}/share/icons/hicolor/scalable/apps/{entry['Icon']}.svg"
    if not os.path.exists(icon):
        found.append(f"there is no icon {icon}")
    opened = [each for each in entry["MimeType"].split(";") if each]
    types = xml.fromstring(mime_text)
    defined = [each.get("type") for each in types.iter(MIME + "mime-type")]
    if sorted(opened) != sorted(defined):
        found.append(f"opens {opened}, but {defined} are defined")
    return found


def check_files(root, entry, mime, database):
    same("problems", problems(entry, mime, root), [])
    # The program opens what the types' patterns are for: scenarios are told by their ending.
    for each in xml.fromstring(mime).iter(MIME + "mime-type"):
        for glob in each.iter(MIME + "glob"):
            same(f"{glob.get('pattern')} is a scenario", glob.get("pattern").endswith(".json"),
                 each.get("type") == SCENARIO)
    match = list(xml.fromstring(mime).iter(MIME + "match"))[-1]
    with open(database, "rb") as file:
        file.seek(int(match.get("offset")))
        same("the database's mark", int.from_bytes(file.read(4), "big"), int(match.get("value"), 16))
    # Broken ones are found.
    for broken in (entry.replace("gradwire-gui %f", "gradwire-gui"), entry.replace("gradwire-gui %f", "gradwire-qui %f"),
                   entry.replace(SCENARIO + ";", ""), entry.replace("Icon=gradwire", "Icon=gradwires")):
        if len(problems(broken, mime, root)) != 1:
            sys.exit(f"this entry should have one problem:\n{broken}")


def check_validator(root, entry, mime, database):
    needs("desktop-file-validate")
    file = root + "/share/applications/gradwire-gui.desktop"
    subprocess.run(["desktop-file-validate", file], check=True)
    with open(root + "/broken.desktop", "w") as broken:
        broken.write(entry.replace("Type=Application", "Type=Program"))
    if subprocess.run(["desktop-file-validate", root + "/broken.desktop"], stdout=subprocess.DEVNULL).returncode == 0:
        sys.exit("desktop-file-validate takes everything")


def desktop(root):
    """Of a user whose desktop has what was installed, and Debian's types."""
    return {**os.environ, "XDG_DATA_HOME": root + "/share", "XDG_DATA_DIRS": "/usr/share", "LC_ALL": "C"}


def content_type(root, path):
    said = subprocess.run(["gio", "info", "-a", "standard::content-type", path], env=desktop(root), check=True,
                          capture_output=True, text=True).stdout
    return said.rsplit("standard::content-type:", 1)[1].split()[0]


def check_database(root, entry, mime, database):
    needs("update-mime-database", "gio")
    packages = root + "/share/mime/packages"
    folder = os.path.dirname(root)

    def types():
        subprocess.run(["update-mime-database", root + "/share/mime"], env=desktop(root), check=True)
        return {name: content_type(root, f"{folder}/{name}")
                for name in ("runs.db", "gradwire.db", "other.db", "mine.gradwire.json", "mine.json")}

    shutil.copy(database, folder + "/runs.db")
    with open(folder + "/other.db", "wb") as file:
        file.write(b"SQLite format 3\0".ljust(4096, b"\0"))
    # Without a mark the name alone tells.
    for name, text in (("gradwire.db", "-"), ("mine.gradwire.json", "{}"), ("mine.json", "{}")):
        with open(f"{folder}/{name}", "w") as file:
            file.write(text + "\n")
    found = types()
    same("gradwire.db", found["gradwire.db"], RESULTS)
    same("mine.gradwire.json", found["mine.gradwire.json"], SCENARIO)
    same("mine.json", found["mine.json"], "application/json")
    same("a results database of any name", found["runs.db"], RESULTS)
    if found["other.db"] == RESULTS:
        sys.exit("every database is taken for one of results")
    # Without the mark only the name tells.
    broken = mime.replace("0x47726457", "0x47726458")
    with open(packages + "/gradwire.xml", "w") as file:
        file.write(broken)
    if types()["runs.db"] == RESULTS:
        sys.exit("the mark is not what a results database is told by")


def main():
    part, build, samples, folder = sys.argv[1:]
    root = install(build, folder)
    with open(root + "/share/applications/gradwire-gui.desktop") as file:
        entry = file.read()
    with open(root + "/share/mime/packages/gradwire.xml") as file:
        mime = file.read()
    database = folder + "/sample.db"
    subprocess.run([samples, database, "3"], check=True)
    {"files": check_files, "desktop-file-validate": check_validator,
     "mime-database": check_database}[part](root, entry, mime, database)


main()
