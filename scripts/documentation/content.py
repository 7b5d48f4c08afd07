"""What the generated blocks of the pages hold."""
from . import runs
from .pages import ROOT

README = ROOT / "README.md"
TUTORIAL = ROOT / "docs" / "tutorial.md"
ASYNCHRONOUS = ROOT / "docs" / "models" / "asynchronous.md"


def hashes(shown):
    lines = ["| method | timeline hash | learning hash |", "| --- | --- | --- |"]
    lines += [f"| {row['method']} | `{row['timeline_hash']}` | `{row['learning_hash']}` |" for row in shown.rows]
    return "\n".join(lines)


def milliseconds(row):
    return f"{row['step_time_s'] * 1e3:.3g}"


def listed(words):
    return ", ".join(words[:-1]) + " and " + words[-1]


def packet_sentence(shown, packet):
    """What ns-3 says of the same runs, and by how much `flow` is off."""
    errors = [f["step_time_s"] / p["step_time_s"] - 1 for f, p in zip(shown.rows, packet.rows)]
    if [row["learning_hash"] for row in shown.rows] != [row["learning_hash"] for row in packet.rows]:
        raise RuntimeError("flow and packet have learned different things: synchronous learning must not")
    return (f"ns-3 (`--executor packet`) gives {listed([milliseconds(row) for row in packet.rows])} ms for the same steps: "
            f"`flow` is {listed([f'{100 * error:+.0f} %' for error in errors])} off on these lossy links, with one seed, "
            "by which both draw losses alike. The learning hashes are the same.")


def blocks(program, folder):
    """{(page, name): text} of everything that needs no ns-3, and the runs behind it."""
    quickstart = runs.run_scenario(program, runs.scenario_path("quickstart"), folder)
    fast = runs.run_scenario(program, runs.scenario_path("fast-lan"), folder)
    first = runs.run_scenario(program, runs.tutorial_scenario("first.json", folder), folder)
    asynchronous = runs.run_scenario(program, runs.scenario_path("asynchronous"), folder)
    return {
        (README, "quickstart"): quickstart.table,
        (README, "quickstart-hashes"): hashes(quickstart),
        (TUTORIAL, "fast-lan"): fast.table,
        (TUTORIAL, "first-run"): first.table,
        (ASYNCHRONOUS, "asynchronous"): asynchronous.table,
    }, {"quickstart": quickstart, "fast-lan": fast, "first": first, "asynchronous": asynchronous}


def packet_block(program, folder, quickstart):
    packet = runs.run_scenario(program, runs.scenario_path("quickstart"), folder, ("--executor", "packet"))
    return {(README, "quickstart-packet"): packet_sentence(quickstart, packet)}
