"""Runs of scenarios/methods/ as the pages show them, and whether they are what the scenarios expect."""
import json
import re
import sqlite3

from .runs import call, scenario_path

MARGIN = 0.01  # of the dense run's final accuracy, below which the ranking's target lies


def value_at(scenario, pointer):
    for key in pointer.strip("/").split("/"):
        scenario = scenario.get(key) if isinstance(scenario, dict) else None
    return scenario


def file_of(name):
    """A scenario of a method, else one that ships under that name."""
    own = scenario_path(f"methods/{name}")
    return own if own.exists() else scenario_path(name)


class Runs:
    """The runs of one scenario file, by number, with the resolved scenario of each."""

    def __init__(self, program, name, database):
        path = file_of(name)
        self.file = json.loads(path.read_text())
        text = call(program, ["run", path, "--resume", "--no-report", "-q", "--format", "json",
                              "--db", database])
        self.store = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
        self.rows = sorted(json.loads(text)["rows"], key=lambda row: row["id"])
        for row in self.rows:
            (resolved,) = self.store.execute("SELECT json FROM scenarios WHERE id = (SELECT scenario_id FROM runs WHERE id = ?)",
                                             (row["id"],)).fetchone()
            row["scenario"] = json.loads(resolved)

    def time_to(self, row, accuracy):
        """Virtual time at which a run was first that accurate; None where it never was."""
        return self.store.execute(
            "SELECT min(s.end_s) FROM metrics m JOIN steps s ON s.run_id = m.run_id AND s.step = m.step "
            "WHERE m.run_id = ? AND m.name = 'accuracy' AND m.value >= ?", (row["id"], accuracy)).fetchone()[0]

    def figure(self, row, name):
        """A figure of a run that its workload knows; None where it has none."""
        found = self.store.execute("SELECT value FROM metrics WHERE run_id = ? AND name = ? AND step < 0", (row["id"], name)).fetchone()
        return found and found[0]

    def total(self, row, name):
        """Of a figure that each row of the run has."""
        return self.store.execute("SELECT sum(value) FROM metrics WHERE run_id = ? AND name = ? AND step >= 0", (row["id"], name)).fetchone()[0]

    def swept(self):
        return [pointer for pointer in self.file["sweep"] if pointer.startswith("/") and pointer != "/method"]


def matches(row, method, where):
    def text(value):
        return value if isinstance(value, str) else json.dumps(value)
    return (not method or row["method"] == method) and all(
        text(value_at(row["scenario"], pointer)) == wanted for pointer, wanted in where.items())


def unmet(runs):
    """What the scenario's checks demand and the runs do not show, in words."""
    problems = []
    for check in runs.file.get("expected", {}).get("checks", []):
        others = [row for row in runs.rows if matches(row, check.get("against"), check.get("against_where", {}))]
        own = [row for row in runs.rows if matches(row, check.get("method"), check.get("where", {}))]
        if not own:
            problems.append(f"no run is of {json.dumps(check)}")
        def figure(row):
            return row[check["metric"]] if check["metric"] in row else runs.figure(row, check["metric"])
        for row in own:
            value = figure(row)
            if "against" in check or "against_where" in check:
                other = figure(next(each for each in others if each["seed"] == row["seed"]))
                value = value / other if check.get("compare") == "ratio" else value - other
            low, high = check.get("min", float("-inf")), check.get("max", float("inf"))
            if value is None or not low <= value <= high:
                problems.append(f"run {row['id']}, {row['method']}: {check['metric']} {value}, not in {low}..{high}")
    return problems


def seconds(value):
    if value is None:
        return "-"
    for limit, factor, unit in ((1e-3, 1e6, "us"), (1, 1e3, "ms")):
        if value < limit:
            return f"{value * factor:.3g} {unit}"
    return f"{value:.3g} s" if value < 1000 else f"{value:.0f} s"


def leaves(value, prefix=""):
    """{"name": ...} and what else an object holds, by its last key."""
    if not isinstance(value, dict) or not value:
        return {prefix: "" if value == {} else value}
    found = {}
    for key, inner in value.items():
        found.update(leaves(inner, key))
    return found


def differing(rows, pointers):
    """By row: what the swept fields but the method are, where they are not the same in all runs."""
    found = [{} for _ in rows]
    for pointer in pointers:
        own = [leaves(value_at(row["scenario"], pointer), pointer.rsplit("/", 1)[1]) for row in rows]
        for key in dict.fromkeys(key for each in own for key in each):
            if len({json.dumps(each.get(key)) for each in own}) > 1:
                for place, each in enumerate(own):
                    if each.get(key) is not None:
                        found[place][key] = each[key]
    return [", ".join(f"{key} {value}".strip() for key, value in each.items()) for each in found]


def markdown(header, right, lines):
    ruler = ["---:" if title in right else "---" for title in header]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [header, ruler, *lines])


def of_model(runs, row):
    """Perplexity, and the model's file against fp32."""
    perplexity, kept, fp32 = (runs.figure(row, name) for name in ("perplexity", "model_file_bytes", "fp32_model_bytes"))
    return perplexity and f"{perplexity:.3g}", kept and f"1 / {fp32 / kept:.3g}"


def table(runs):
    """One row a run: bytes against fp32, a step's time, and where it learned, accuracy, time to the target, and of text perplexity;
    of a model that is not kept as fp32, its file's share of fp32's bytes."""
    more = differing(runs.rows, runs.swept())
    target = value_at(runs.file, "/workload/target_accuracy")
    header = ["run", "bytes / fp32", "step", "final accuracy", f"time to {100 * (target or 0):g} %", "perplexity", "model / fp32"]
    lines = []
    for row, other in zip(runs.rows, more):
        ratio, accuracy = row["traffic_ratio"], row["final_accuracy"]
        name = row["method"] if len({each["method"] for each in runs.rows}) > 1 else ""
        lines.append([f"`{name}`" * bool(name) + (", " if name and other else "") + (other or "-" * (not name)),
                      "-" if ratio is None else f"{ratio:.3g}", seconds(row["step_time_s"]),
                      "diverged" if row["status"] == "diverged" else "-" if accuracy is None else f"{100 * accuracy:.1f} %",
                      seconds(row["time_to_target_s"]), *(own or "-" for own in of_model(runs, row))])
    keep = [place for place in range(len(header)) if place == 0 or any(line[place] != "-" for line in lines)]
    return markdown([header[place] for place in keep], header[1:], [[line[place] for place in keep] for line in lines])


def clients(runs):
    """One row a run of rounds: accuracy of the model and for the tenth of the clients that it serves worst, bytes each way, time."""
    lines = []
    for row in runs.rows:
        worst = runs.figure(row, "client_accuracy_worst_tenth")
        ways = [f"{runs.total(row, way) / 1e6:.0f} MB" for way in ("upload_bytes", "download_bytes")]
        lines.append([f"`{row['method']}`", f"{100 * row['final_accuracy']:.1f} %", f"{100 * worst:.0f} %", *ways,
                      seconds(row["simulated_s"])])
    header = ["method", "accuracy", "worst tenth of the clients", "up", "down", "simulated time"]
    return markdown(header, header[1:], lines)


def spaced(quantity):
    """10Gbps as 10 Gbit/s, 1ms as 1 ms."""
    number, unit = re.fullmatch(r"([\d.]+)(\D+)", quantity).groups()
    return f"{number} {unit.replace('bps', 'bit/s')}"


def link_in_words(link):
    text = f"{spaced(link['bandwidth'])}, {spaced(link['delay'])} each way"
    return text + (f", {100 * link['loss']:g} % of packets lost" if link.get("loss") else "")


def same_training(row):
    """What tells the runs of one network apart, but for the seed."""
    scenario = row["scenario"]
    return row["method"], scenario["exchange"]["collective"], scenario["workload"]["optimizer"]["name"]


def standings(runs, link):
    """[(training, times by seed, mean row)] of one network, the fastest first; who missed a target comes last."""
    own = [row for row in runs.rows if row["scenario"]["network"]["link"] == link]
    first = own[0]["scenario"]["workload"]["optimizer"]["name"]
    dense = {row["seed"]: row["final_accuracy"] for row in own
             if row["method"] == "none" and row["scenario"]["workload"]["optimizer"]["name"] == first}
    found = {}
    for row in own:
        found.setdefault(same_training(row), []).append((runs.time_to(row, dense[row["seed"]] - MARGIN), row))
    def order(each):
        times = [time for time, _ in each[1]]
        return (times.count(None), sum(time for time in times if time) / max(1, len(times) - times.count(None)))
    return sorted(found.items(), key=order)


def mean(values):
    return sum(values) / len(values)


def mean_time(each):
    return mean([time for time, _ in each]) if all(time is not None for time, _ in each) else None


def label(training, several):
    method, collective, optimizer = training
    return f"`{method}`" + (f", {collective}" if several else "") + (f", {optimizer}" if optimizer != "sgd" else "")


def ranking_of(runs, link):
    """A network's heading, who wins and where fp16 stands in a sentence, and the table."""
    places = standings(runs, link)
    names = {training: label(training, sum(other[0][0] == training[0] and other[0][2] == training[2] for other in places) > 1)
             for training, _ in places}
    fp16 = next(mean_time(each) for training, each in places if training[0] == "fp16" and training[2] == places_optimizer(runs))
    lines, beaten = [], []
    for place, (training, each) in enumerate(places, 1):
        time, reached = mean_time(each), sum(time is not None for time, _ in each)
        lines.append([str(place) if reached else "-", names[training], training[1], f"{mean([row['traffic_ratio'] for _, row in each]):.3f}",
                      seconds(mean([row["step_time_s"] for _, row in each])),
                      seconds(time) if time is not None else f"{reached} of {len(each)} seeds",
                      "-" if time is None or fp16 is None else f"{time / fp16:.2f}",
                      f"{100 * mean([row['final_accuracy'] for _, row in each]):.1f} %"])
        if fp16 is not None and time is not None and time > fp16 and training[0] != "none":
            beaten.append(names[training])
    header = ["place", "method", "exchange", "bytes / fp32", "step", "time to target", "over fp16", "final accuracy"]
    words = f"First is {names[places[0][0]]}."
    if beaten:
        words += f" fp16 is there before {'; '.join(beaten)}."
    return f"### {link_in_words(link)}\n\n{words}\n\n" + markdown(header, header[3:] + ["place"], lines)


def places_optimizer(runs):
    return runs.rows[0]["scenario"]["workload"]["optimizer"]["name"]


def ranking(runs):
    links = []
    for row in runs.rows:
        if row["scenario"]["network"]["link"] not in links:
            links.append(row["scenario"]["network"]["link"])
    return "\n\n".join(ranking_of(runs, link) for link in links)


def times_over_fp16(runs):
    """One row a training: bytes, accuracy, and its time to the target over that of fp16 on each network, the fastest of each in bold."""
    links = []
    for row in runs.rows:
        if row["scenario"]["network"]["link"] not in links:
            links.append(row["scenario"]["network"]["link"])
    tables = [dict(standings(runs, link)) for link in links]
    trainings = sorted(tables[0], key=lambda training: [row["id"] for _, row in tables[0][training]])
    fp16 = next(training for training in trainings if training[0] == "fp16" and training[2] == places_optimizer(runs))
    times = [{training: mean_time(table[training]) for training in trainings} for table in tables]
    best = [min(time for time in each.values() if time is not None) for each in times]
    def cell(training, place):
        time = times[place][training]
        if time is None:
            return "-"
        text = f"{time / times[place][fp16]:.2f}"
        return f"**{text}**" if time == best[place] else text
    lines = []
    for training in trainings:
        several = sum(other[0] == training[0] and other[2] == training[2] for other in trainings) > 1
        each = tables[0][training]
        lines.append([label(training, several), training[1], f"{mean([row['traffic_ratio'] for _, row in each]):.3f}",
                      f"{100 * mean([row['final_accuracy'] for _, row in each]):.1f} %", *(cell(training, place) for place in range(len(links)))])
    header = ["method", "exchange", "bytes / fp32", "final accuracy", *(link_in_words(link) for link in links)]
    own = ", ".join(f"{seconds(each[fp16])}" for each in times)
    return markdown(header, header[2:], lines) + f"\n\nfp16 takes {own}."
