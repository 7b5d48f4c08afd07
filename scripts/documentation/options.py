"""Whether the commands that pages name have the options that they are given there."""
import re
import shlex
import subprocess

from .commands import LANGUAGES
from .pages import all_pages, blocks_of, prose_lines, shown

LAUNCHER = {"build", "test"}  # commands of ./gradwire itself
GROUPS = {"codec", "bench", "reproduce"}  # commands with commands of their own


class Help:
    """Options by command, from the program's own help."""

    def __init__(self, program):
        self.program, self.known = str(program), {}

    def options(self, words):
        """None if there is no such command."""
        key = tuple(words)
        if key not in self.known:
            done = subprocess.run([self.program, *words, "--help"], capture_output=True, text=True)
            self.known[key] = set(re.findall(r"(?<![\w-])--?[a-zA-Z][\w-]*", done.stdout)) if done.returncode == 0 else None
        return self.known[key]


def invocations(text):
    """The words behind each `gradwire` of a line of shell."""
    for part in re.split(r"\s(?:\||&&|;)\s", text):
        try:
            words = shlex.split(part, comments=True)
        except ValueError:
            continue
        if words and words[0] in ("gradwire", "./gradwire"):
            yield words[1:]


def problem_of(words, help_of):
    if not words or words[0].startswith("-") or words[0] in LAUNCHER or not re.fullmatch(r"[a-z-]+", words[0]):
        return None
    command = words[:2] if words[0] in GROUPS and len(words) > 1 and not words[1].startswith("-") else words[:1]
    known = help_of.options(command)
    if known is None:
        return f"there is no command `gradwire {' '.join(command)}`"
    known = known | help_of.options([])
    for word in words[len(command):]:
        option = re.match(r"--?[a-zA-Z][\w-]*", word)
        if option and option[0] not in known:
            return f"`gradwire {' '.join(command)}` has no {option[0]}"
    return None


def commands_of(page):
    """(line, words) of every command in blocks and in code type."""
    for block in blocks_of(page):
        if block.language in LANGUAGES or not block.language:
            joined = block.text.replace("\\\n", " ")
            for words in (w for line in joined.splitlines() for w in invocations(line.strip().removeprefix("$ "))):
                yield block.line, words
    for number, line in prose_lines(page):
        for text in re.findall(r"`([^`]+)`", line) + ([line.strip()] if line.startswith("    ") else []):
            for words in invocations(text):
                yield number, words


def check_options(program, pages=None):
    help_of = Help(program)
    problems = []
    for page in pages or all_pages():
        for number, words in commands_of(page):
            problem = problem_of(words, help_of)
            if problem:
                problems.append(f"{shown(page)}:{number}: {problem}")
    return problems
