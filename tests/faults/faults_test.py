"""Whether scripts/faults sees what it looks for: a program that breaks its promises."""
import importlib.machinery
import importlib.util
import pathlib
import random
import sys
import unittest

sys.dont_write_bytecode = True
SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "faults"
loader = importlib.machinery.SourceFileLoader("faults", str(SCRIPT))
faults = importlib.util.module_from_spec(importlib.util.spec_from_loader("faults", loader))
loader.exec_module(faults)


class Done:
    def __init__(self, returncode, stderr=""):
        self.returncode, self.stderr = returncode, stderr


class Pretended:
    """A program, as a trial sees it: how it ends with a fault and after it, and what is stored then."""

    def __init__(self, code, message, rows, later, left=()):
        self.done, self.states, self.folder = [Done(code, message), Done(0)], [(rows, ""), (later, "")], self
        self.left = left

    def calls_of(self, command, fault):
        return 10

    def fresh(self, command):
        pass

    def run(self, *arguments, **more):
        return self.done.pop(0)

    def stored(self):
        return self.states.pop(0)

    def rglob(self, pattern):
        return [pathlib.Path(name) for name in self.left]


class TheFirstFault(random.Random):
    def choice(self, values):
        return values[0]


def problems(*arguments, **more):
    command = faults.Command("run", ["run"], {})
    command.rows = {("a", 1): 1, ("b", 1): 2}
    return [each.text for each in faults.inject(Pretended(*arguments, **more), command, 1, TheFirstFault(1))[3]]


WHOLE = {("a", 1): 1, ("b", 1): 2}
GOOD = "gradwire: cannot write to runs.db: No space left on device; make room there"


class FaultsTest(unittest.TestCase):
    def test_a_program_that_keeps_its_promises_has_no_problems(self):
        self.assertEqual(problems(6, GOOD, {("a", 1): 1}, WHOLE), [])
        self.assertEqual(problems(0, "", WHOLE, WHOLE), [])

    def test_what_is_broken_is_told(self):
        for what, arguments in {
                "exit code -6": (-6, "assertion", {}, WHOLE),
                "no message says what failed": (6, "failed", {}, WHOLE),
                "no message says what to do": (6, "cannot write to runs.db: No space left", {}, WHOLE),
                "is not what it is without faults": (6, GOOD, {("a", 1): 7}, WHOLE),
                "exit code 0, but 1 of 2 runs": (0, "", {("a", 1): 1}, WHOLE),
                "afterwards 1 of 2 runs": (6, GOOD, {}, {("a", 1): 1}),
                "finished runs were lost": (6, GOOD, WHOLE, {("a", 1): 1})}.items():
            found = problems(*arguments)
            self.assertTrue(any(what in text for text in found), (what, found))
        self.assertTrue(any("there is still" in text for text in problems(6, GOOD, {}, WHOLE, left=["report.html.part"])))


if __name__ == "__main__":
    unittest.main()
