#!/usr/bin/env python3
"""The checks of the pages find what they look for: each has a page that must pass and one that must not."""
import importlib.machinery
import importlib.util
import json
import pathlib
import shutil
import sys
import tempfile
import unittest

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts"
sys.dont_write_bytecode = True
sys.path.insert(0, str(SCRIPTS))
from documentation import blocks, commands, language, links, method_runs, options, pages, pictures, runs  # noqa: E402


def load_script(name):
    loader = importlib.machinery.SourceFileLoader(name.replace("-", "_"), str(SCRIPTS / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


class Pages(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def page(self, text, name="page.md"):
        path = self.folder / name
        path.write_text(text)
        return path

    def test_blocks_and_their_marks(self):
        page = self.page("<!-- run: exit 3 -->\n```sh\nfalse\n```\n\n```json\n{}\n```\n<!-- file: a.json -->\n\n```\nx\n```\n")
        found = pages.blocks_of(page)
        self.assertEqual([(b.line, b.language, b.mark, b.value, b.text) for b in found],
                         [(2, "sh", "run", "exit 3", "false\n"), (6, "json", "", "", "{}\n"), (11, "", "file", "a.json", "x\n")])

    def test_anchors_are_those_of_github(self):
        page = self.page("# One, two: `three`\n## A (b) & c\n## A (b) & c\n```\n# none\n```\n")
        self.assertEqual(pages.anchors_of(page), {"one-two-three", "a-b--c", "a-b--c-1"})

    def test_links(self):
        self.page("# Here\n", "other.md")
        good = self.page("[a](other.md) [b](other.md#here) [c](https://example.com/none) `[no](link.md)` `sim/cluster/link.h`\n# D\n[d](#d)\n")
        self.assertEqual(links.check_links([good]), [])
        bad = self.page("[a](none.md)\n[b](other.md#there)\n![c](none.png)\n`sim/none.h`\n[d](#d)\n", "bad.md")
        self.assertEqual([line.split(":")[1] for line in links.check_links([bad])], ["1", "2", "3", "5", "4"])

    def test_language(self):
        good = self.page("It is 0.1 % in `.5`, file.md, 3.44 and ../x.\n```\n.5\n```\n")
        self.assertEqual(language.check_language([good]), [])
        bad = self.page("It is .1 % of it.\nSays how it was got.\n", "bad.md")
        self.assertEqual({line.split(":")[1] for line in language.check_language([bad])}, {"1", "2"})

    def test_language_of_programs(self):
        good = self.page('// "it was got"\nsay("it is 0.1 % of " + name);\nname("%.3f", ".5");\n', "good.cc")
        self.assertEqual(language.check_language(sources=[good]), [])
        quoted = self.page('say("a \\"quoted\\" word", "b c");\n', "quoted.cc")
        self.assertEqual(list(language.texts_of(quoted)), [(1, 'a \\"quoted\\" word'), (1, "b c")])
        bad = self.page('say("how it was got");\nsay("a \\"quoted\\" .1 % of it");\n', "bad.cc")
        self.assertEqual({line.split(":")[1] for line in language.check_language(sources=[bad])}, {"1", "2"})

    def test_spelling(self):
        if not shutil.which("codespell"):
            self.skipTest("codespell is missing")
        self.assertEqual(language.misspelt([str(self.page("A receiver separates them.\n"))]), [])
        self.assertEqual(len(language.misspelt([str(self.page("A reciever seperates them.\n"))])), 2)

    def test_options(self):
        program = self.folder / "program"
        program.write_text('#!/bin/sh\ncase $1 in run) echo "-o,--out --set";; --help) echo "--db";; *) exit 2;; esac\n')
        program.chmod(0o755)
        good = self.page("`gradwire run a --set x=-1`\n```sh\n./gradwire run a \\\n  -o b --db c | sort --none  # --no\n```\n")
        self.assertEqual(options.check_options(program, [good]), [])
        bad = self.page("`gradwire run --none`\n```sh\ngradwire walk\n```\n", "bad.md")
        self.assertEqual([line.split(":")[1] for line in options.check_options(program, [bad])], ["2", "1"])

    def test_generated_blocks(self):
        page = self.page("a\n<!-- generated: t -->\nold\n<!-- end -->\nz\n<!-- generated: u -->\nkept\n<!-- end -->\n")
        self.assertTrue(blocks.write_block(page, "t", "| a | b |\n| --- | ---: |\n| 1 | 2 |"))
        self.assertFalse(blocks.write_block(page, "t", "| a | b |\n| --- | ---: |\n| 1 | 2 |"))
        self.assertEqual(blocks.table_rows(blocks.block_text(page, "t")), [{"a": "1", "b": "2"}])
        self.assertEqual(blocks.block_text(page, "u"), "kept\n")
        with self.assertRaises(KeyError):
            blocks.write_block(page, "none", "")


class Commands(unittest.TestCase):
    def run_text(self, text):
        folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, folder)
        (folder / "page.md").write_text(text)
        said = []
        return commands.run_page(folder / "page.md", folder, 30, said.append), said

    def test_blocks_build_on_each_other(self):
        counts, said = self.run_text("<!-- file: x.json -->\n```json\n{}\n```\n```sh\ntest -s x.json\necho y > y\n```\n"
                                     "```sh\ncat y\n```\n<!-- run: exit 3 -->\n```sh\nexit 3\n```\n```cpp\nno\n```\n")
        self.assertEqual(counts, [3, 0, 0], said)

    def test_a_failing_command_is_found_wherever_it_stands(self):
        counts, said = self.run_text("```sh\nfalse\ntrue\n```\n```sh\nfalse | true\n```\n<!-- run: exit 3 -->\n```sh\ntrue\n```\n")
        self.assertEqual(counts, [3, 3, 0])
        self.assertIn("exit code 1 from: false", said[0])

    def test_what_is_not_run_says_why(self):
        counts, said = self.run_text("<!-- run: not here, it opens a window -->\n```sh\nfalse\n```\n")
        self.assertEqual(counts, [0, 0, 1])
        self.assertIn("it opens a window", said[0])
        self.assertEqual(self.run_text("<!-- run: sometimes -->\n```sh\ntrue\n```\n")[0], [0, 1, 0])


class Shown(unittest.TestCase):
    update = load_script("update-docs")
    row = {"method": "none", "seed": "1", "step_time_s": 0.05, "wire_bytes": 10, "time_to_target_s": 1.0,
           "final_loss": 0.1, "final_accuracy": 0.97, "learning_hash": "a", "timeline_hash": "t"}

    def problems(self, **changed):
        return self.update.row_problems("x", [dict(self.row, **changed)], [self.row])

    def test_every_changed_figure_is_found(self):
        self.assertEqual(self.problems(), [])
        for name, value in dict(step_time_s=0.0500001, wire_bytes=11, timeline_hash="u", final_loss=0.2).items():
            self.assertTrue(self.problems(**{name: value}), name)

    def test_another_instruction_set_may_learn_otherwise_in_the_last_digits(self):
        self.assertEqual(self.problems(learning_hash="b", final_loss=0.2, time_to_target_s=2, final_accuracy=0.96), [])
        self.assertTrue(self.problems(learning_hash="b", final_accuracy=0.95))
        self.assertTrue(self.problems(learning_hash="b", timeline_hash="u"))

    def test_every_block_of_the_pages_is_written_by_a_script(self):
        source = (SCRIPTS / "documentation" / "content.py").read_text()
        experiments = {path.stem for path in (pages.ROOT / "scenarios" / "reproductions").glob("*.json")}
        for page in pages.all_pages():
            for name in blocks.names_of(page):
                if page.name == "reproductions.md":  # scripts/update-reproductions
                    self.assertIn(name, experiments)
                elif name.startswith(("runs-", "ranking-", "networks-")):  # scripts/update-methods
                    self.assertIn(name.partition("-")[2], self.METHOD_SCENARIOS)
                elif name.startswith("clients-"):
                    self.assertTrue(method_runs.file_of(name.partition("-")[2]).exists(), name)
                else:
                    self.assertIn(f'"{name}"', source, page)

    METHOD_FILES = list((pages.ROOT / "scenarios" / "methods").glob("*.json"))
    METHOD_SCENARIOS = {path.stem for path in METHOD_FILES}

    def test_every_scenario_of_a_method_has_its_runs_on_a_page(self):
        shown = {}
        for page in pages.all_pages():
            for name in blocks.names_of(page):
                if name.startswith(("runs-", "ranking-", "networks-")):
                    shown[name.partition("-")[2]] = blocks.table_rows(blocks.block_text(page, name))
        self.assertLessEqual(set(shown), self.METHOD_SCENARIOS)
        lockstep = {path.stem for path in self.METHOD_FILES if "schedule" not in json.loads(path.read_text())}
        self.assertEqual(lockstep - set(shown), set())  # rounds are told by their pages in other words
        for name, rows in shown.items():
            self.assertGreater(len(rows), 0, name)

    def test_a_scenario_of_a_method_that_misses_its_marks_is_told(self):
        def run(method, seed, accuracy, wire_bytes):
            return dict(id=seed, method=method, seed=str(seed), final_accuracy=accuracy, wire_bytes=wire_bytes,
                        scenario={"exchange": {"zero": 1}})
        class Runs:
            rows = [run("none", 1, .9, 100), run("cgx", 1, .8, 20)]
        def told(check):
            Runs.file = {"expected": {"checks": [check]}}
            return method_runs.unmet(Runs)
        self.assertEqual(told({"metric": "final_accuracy", "min": .8}), [])
        self.assertEqual(len(told({"metric": "final_accuracy", "min": .85})), 1)
        ratio = {"metric": "wire_bytes", "method": "cgx", "against": "none", "compare": "ratio"}
        self.assertEqual(told({**ratio, "max": .2}), [])  # 20 / 100
        self.assertEqual(len(told({**ratio, "max": .19})), 1)
        self.assertEqual(len(told({"metric": "final_accuracy", "method": "other", "min": 0})), 1)
        self.assertEqual(told({"metric": "final_accuracy", "where": {"/exchange/zero": "1"}, "min": .5}), [])
        self.assertEqual(len(told({"metric": "final_accuracy", "where": {"/exchange/zero": "2"}, "min": .5})), 1)

    # Marks that are missed; the page's last section says what was tried.
    NOT_REPRODUCED = {"admm": {"`admm table=binary / admm table=binary straight_through=true`"},
                      "mnist-eight": {"`dgc 0.1% warmup_epochs=1 selection=exact - none [name=sgd]`"},
                      "comet": {"`comet interval=25 adaptive=false batch=true`"},
                      "mnist-eight-amsgrad": {"`comp-ams 1% compressor=block-sign - none [name=amsgrad]`"}}

    def test_the_page_of_reproductions_has_a_table_of_each_experiment(self):
        page = pages.ROOT / "docs" / "reproductions.md"
        experiments = {path.stem for path in (pages.ROOT / "scenarios" / "reproductions").glob("*.json")}
        self.assertEqual(set(blocks.names_of(page)), experiments)
        for name in experiments:
            rows = blocks.table_rows(blocks.block_text(page, name))
            self.assertGreater(len(rows), 0, name)
            self.assertTrue(any(row["verdict"] == "holds" for row in rows), name)
            self.assertFalse([row for row in rows if row["verdict"] == "meets the mark, which it must not"])
            missed = {row["runs"] for row in rows if row["verdict"] == "not reproduced"}
            self.assertEqual(missed, self.NOT_REPRODUCED.get(name, set()), name)

    def test_pictures_name_the_runs_that_they_show(self):
        shown = json.loads(self.update.DATA.read_text())["quickstart"]
        folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, folder)
        picture = folder / "p.png"
        picture.write_bytes(pictures.SIGNATURE + pictures.chunk(b"IHDR", bytes(13)) + pictures.chunk(b"IEND", b""))
        self.assertIsNone(pictures.png_label(picture))
        pictures.label_png(picture, pictures.identity(shown))
        self.assertEqual(pictures.png_label(picture), pictures.identity(shown))
        self.assertEqual(picture.read_bytes()[-12:], pictures.chunk(b"IEND", b""))

    def test_figures_are_whole(self):
        page = "<style>:root{--a:1;}</style><svg><title>T</title><svg></svg><g/></svg><svg><title>U</title></svg>"
        self.assertTrue(pictures.figure(page, "T").rstrip().endswith("<svg></svg><g/></svg>"))
        with self.assertRaises(KeyError):
            pictures.figure(page, "V")

    def test_a_program_that_cannot_train_skips(self):
        folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, folder)
        program = folder / "gradwire"
        program.write_text("#!/bin/sh\necho no LibTorch >&2\nexit 5\n")
        program.chmod(0o755)
        with self.assertRaises(runs.CannotRun):
            runs.call(program, ["run", "x"])


if __name__ == "__main__":
    unittest.main()
