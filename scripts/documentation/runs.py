"""Runs scenarios for the pages and gives what the pages show of them."""
import dataclasses
import json
import pathlib
import subprocess
import tempfile

from .pages import ROOT, blocks_of

# What the pictures and tables are made from; kept beside the pictures and compared by a test.
SHOWN_FIGURES = ("method", "seed", "step_time_s", "wire_bytes", "time_to_target_s", "final_loss", "final_accuracy",
                 "learning_hash", "timeline_hash")


@dataclasses.dataclass
class Shown:
    """A scenario that the pages show."""
    rows: list  # as `run --format json` gives them
    table: str  # the Markdown table of `run`
    report: str  # HTML
    database: pathlib.Path


class CannotRun(Exception):
    """What the message names is not built or not there."""


def call(program, arguments, **more):
    done = subprocess.run([str(program), *map(str, arguments)], capture_output=True, text=True, **more)
    if done.returncode == 5:
        raise CannotRun(done.stderr.strip())
    if done.returncode:
        raise RuntimeError(f"gradwire {' '.join(map(str, arguments))} ended with {done.returncode}: {done.stderr}")
    return done.stdout


def run_scenario(program, scenario, folder, more=()):
    """Runs it twice: for the table, and in a database of its own for the figures and the report."""
    folder = pathlib.Path(folder)
    stem = pathlib.Path(scenario).stem + "".join(more).replace("-", "")
    database, report = folder / f"{stem}.db", folder / f"{stem}.html"
    common = ["run", scenario, "-q", *more]
    text = call(program, [*common, "--db", database, "--report", report, "--format", "json"])
    table = call(program, [*common, "--db", folder / f"{stem}.table.db", "--no-report", "--format", "markdown"])
    lines = [line for line in table.splitlines() if line.startswith("|")]
    return Shown(json.loads(text)["rows"], "\n".join(lines), report.read_text(), database)


def figures_of(shown):
    return [{name: row.get(name) for name in SHOWN_FIGURES} for row in shown.rows]


def tutorial_scenario(name, folder):
    """The file that the tutorial tells its readers to save."""
    for block in blocks_of(ROOT / "docs" / "tutorial.md"):
        if block.mark == "file" and block.value == name:
            path = pathlib.Path(folder) / name
            path.write_text(block.text)
            return path
    raise KeyError(f"docs/tutorial.md has no file {name}")


def scaling_figure(program, folder):
    """Throughput over workers, with the model's lines beyond the runs, of the scalability report."""
    folder = pathlib.Path(folder)
    call(program, ["report", "--scalability", scenario_path("alexnet"), "-o", folder / "scaling", "--db",
                   folder / "scaling.db", "-q"])
    return (folder / "scaling" / "figures" / "throughput.svg").read_text()


def chart_figure(program, folder):
    """AlexNet's bars of TernGrad's chart with the models' lines."""
    call(program, ["reproduce", "terngrad-chart", "-o", pathlib.Path(folder) / "chart", "-q"])
    return (pathlib.Path(folder) / "chart" / "figure1.svg").read_text()


def scratch():
    return tempfile.TemporaryDirectory(prefix="gradwire-docs-")


def scenario_path(name):
    return ROOT / "scenarios" / f"{name}.json"
