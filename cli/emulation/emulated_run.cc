#include "cli/emulation/emulated_run.h"

#include <algorithm>
#include <cmath>

#include "results/runs/notes.h"
#include "results/statistics/median.h"
#include "runner/run_loop.h"

namespace gradwire::cli {

using scenarios::Scenario;

namespace {

constexpr int kGlooTurns = 5;

/// "frames left the links late by 23 us in the median, ...; how many by up to 16 us: 40, 32 us: 3".
/// The histogram's bins, four an octave, by octaves.
std::string lateness_words(const emulator::LinkReport& seen) {
  const auto time = [](double seconds) { return format_duration(Seconds(seconds)); };
  std::string words = "frames left the links late by " + time(seen.late_50) + " in the median, " +
                      time(seen.late_99) + " one in a hundred, " + time(seen.late_most) +
                      " at most; how many by up to";
  double edge = 1e-6;
  std::int64_t frames = 0;
  for (std::size_t i = 0; i < seen.late.size(); ++i) {
    while (edge < seen.late[i].most * (1 - 1e-6)) edge *= 2;
    frames += seen.late[i].frames;
    const bool last = i + 1 == seen.late.size();
    if (!last && seen.late[i + 1].most * (1 - 1e-6) <= edge) continue;
    words += " " + time(edge) + ": " + std::to_string(frames) + (last ? "" : ",");
    frames = 0;
  }
  return words;
}

/// "1,200 messages arrived as they were sent, byte by byte: 3.2 MB of the method's own".
std::string payload_words(const emulator::PayloadCounts& counts) {
  const Bytes all = counts.own + counts.pattern;
  std::string words = std::to_string(counts.messages) + " messages, " + format_bytes(all) +
                      ", arrived as they were sent, byte by byte: ";
  if (counts.pattern == Bytes(0)) return words + "what the method's encoders made";
  if (counts.own == Bytes(0)) return words + "a pattern of the same sizes";
  return words + format_bytes(counts.own) + " of them what the method's encoders made, the rest " +
         "a pattern";
}

/// "rank 1 at 10.0.0.2: its clock is 12 us ahead, known to 35 us", a line each.
std::vector<std::string> machine_words(const emulator::EmulatorReport& report) {
  std::vector<std::string> lines;
  for (std::size_t rank = 0; rank < report.machines.size(); ++rank) {
    const emulator::ClockOffset& clock = report.clocks.at(rank);
    lines.push_back("rank " + std::to_string(rank) + " at " + report.machines[rank] +
                    ": its clock is " + format_duration(Seconds(std::abs(clock.ahead.value()))) +
                    (clock.ahead < Seconds(0) ? " behind" : " ahead") + ", known to " +
                    format_duration(clock.uncertainty));
  }
  return lines;
}

constexpr std::string_view kChaosNote = "chaos: ", kLinksNote = "links were made by ";

/// "htb and netem", "htb, without delays", "the link process".
std::string links_words(const emulator::EmulatorReport& report) {
  if (report.shaper == "link") return "the link process";
  return report.shaper + (report.delay_by == "netem" ? " and netem" : ", without delays");
}

/// Whether links that were made so are what this --shaper asks for, which is not auto.
bool are_as_asked(std::string_view made, const std::string& shaper) {
  if (shaper == "netem") return made.ends_with("and netem");
  return (made == "the link process") == (shaper == "link");
}

/// NaN where it was not stored.
double figure_in(std::span<const results::MetricRow> metrics, const std::string& name) {
  for (const results::MetricRow& row : metrics)
    if (row.name == name && row.step < 0) return row.value;
  return std::nan("");
}

/// Whether a stored emulation may stand for one that is asked for: it says what its links were,
/// they were made as they shall be, and nothing went wrong on purpose.
bool may_stand(std::span<const results::MetricRow> metrics, const std::string& shaper) {
  if (!std::isfinite(figure_in(metrics, kOverhead))) return false;
  bool as_asked = shaper.empty() || shaper == "auto";
  for (const std::string& note : results::notes_of(metrics)) {
    if (note.starts_with(kChaosNote)) return false;
    if (!as_asked && note.starts_with(kLinksNote))
      as_asked = are_as_asked(std::string_view(note).substr(kLinksNote.size()), shaper);
  }
  return as_asked;
}

}  // namespace

double whole_run_figure(const results::Store& store, results::RunId run, const std::string& name) {
  return figure_in(store.metrics(run), name);
}

runner::EmulatedLinks emulated_links(const results::Store& store, results::RunId run) {
  const std::vector<results::MetricRow> metrics = store.metrics(run);
  const double overhead = figure_in(metrics, kOverhead);  // none of measured ones
  runner::EmulatedLinks links{true, Seconds(std::isfinite(overhead) ? overhead : 0)};
  for (const results::MetricRow& row : metrics)
    if (row.provenance == results::Provenance::kPartlyEmulated) links.delays = false;
  return links;
}

void describe(const emulator::EmulatorReport& report, const Context& context) {
  if (!report.machines.empty()) {
    context.say("measured among processes of " + std::to_string(report.machines.size()) +
                " ranks, whose network nobody shapes, " + report.congestion_control);
    for (const std::string& line : machine_words(report)) context.say(line);
    return;
  }
  const std::string delay = report.delay_by == "none" ? "no added delay (the kernel has no netem)"
                                                      : "delay by " + report.delay_by;
  context.say("emulated with " + report.shaper + ", loss by " + report.loss_by + ", " + delay +
              ", " + report.congestion_control + ", namespaces of " + report.name_space);
  for (const std::string& warning : report.warnings) context.say("warning: " + warning);
  for (const std::string& missing : report.missing)
    context.say("warning: partly emulated: " + missing +
                "; the twin in flow has the delays that were emulated");
}

/// The run that is taken instead of running; 0 = none. Of emulated runs the latest, if it may stand
/// for this one.
results::RunId EmulatedRun::finished(const Scenario& scenario, const runner::RunProgress& at,
                                     bool emulated) {
  if (!options_.resume) return 0;
  const auto found = store_.find_ended(scenario.hash, scenario.seed);
  const bool usable = found && (!emulated || may_stand(store_.metrics(*found), options_.shaper));
  if (!usable) return 0;
  observer_.on_run_ended(at, *store_.run(*found), true);
  return *found;
}

std::unique_ptr<emulator::Emulator> EmulatedRun::make(const Scenario& scenario) const {
  emulator::EmulatorOptions options;
  options.transport = scenario.network.transport;
  options.seed = scenario.seed;
  if (!options_.shaper.empty()) options.shaper = options_.shaper;
  options.incidents = options_.incidents;
  options.gloo = options_.gloo;
  options.rendezvous = options_.rendezvous;
  return cli::make_emulator(scenarios::build_cluster(scenario), options);
}

results::RunId EmulatedRun::emulate(const Scenario& scenario, const runner::RunProgress& at) {
  if (const results::RunId run = finished(scenario, at, true)) return run;
  // A single collective's elements are its bytes, all others' are gradients.
  element_bytes_ = scenario.workload.collective.empty() ? 4 : 1;
  runner::RunOptions options;
  options.train_first = true;
  options.keeps_payloads = true;
  // Who is missing is said before anything is measured.
  std::unique_ptr<emulator::Emulator> ready;
  if (!options_.rendezvous.empty()) ready = make(scenario);
  options.executor_factory = [&](const Scenario& resolved) -> std::unique_ptr<sim::Executor> {
    auto executor = ready ? std::move(ready) : make(resolved);
    report_ = executor->report();
    emulator_ = executor.get();
    return executor;
  };
  options.executor_facts = [this] { return facts(); };
  const results::RunId run = store(scenario, std::move(options), at);
  if (run > 0) require_valid(run);
  return run;
}

runner::RunFacts EmulatedRun::facts() const {
  runner::RunFacts facts;
  facts.notes = report_.missing;
  for (const std::string& incident : report_.incidents)
    facts.notes.push_back(std::string(kChaosNote) + incident);
  facts.notes.push_back(payload_words(emulator_->payloads()));
  facts.figures = {{kBaseRtt, report_.median_base_rtt.value(), "s"}};
  if (!report_.machines.empty()) {
    for (std::string& words : machine_words(report_)) facts.notes.push_back(std::move(words));
    return facts;
  }
  facts.notes.push_back(std::string(kLinksNote) + links_words(report_));
  facts.figures.push_back({kOverhead, report_.median_overhead.value(), "s"});
  facts.figures.push_back({kHeldUp, emulator_->reactions().share, ""});
  try {
    facts.invalid = emulator_->why_invalid();
    const emulator::LinkReport seen = emulator_->links();
    if (seen.by_process) {
      facts.notes.push_back(lateness_words(seen));
      facts.figures.push_back({kLate50, seen.late_50, "s"});
      facts.figures.push_back({kLate99, seen.late_99, "s"});
      facts.figures.push_back({kLateMost, seen.late_most, "s"});
    }
    if (options_.gloo) add_gloo(facts);
  } catch (const Error&) {
    // The run has failed, and its processes cannot be asked: its own error says why.
  }
  return facts;
}

/// After the run's own steps, whose links and times it does not touch.
void EmulatedRun::add_gloo(runner::RunFacts& facts) const {
  const auto gloo = emulator_->time_gloo(kGlooTurns, element_bytes_);
  if (!gloo) {
    facts.notes.push_back("Gloo sums nothing here: no step has a collective");
    return;
  }
  std::vector<double> times;
  for (const Seconds time : gloo->seconds) times.push_back(time.value());
  const auto [least, most] = std::ranges::minmax(times);
  const double median = results::middle_of(times);
  facts.notes.push_back("Gloo of PyTorch " + gloo->version + " sums a step's " +
                        std::to_string(gloo->elements) + " floats in " +
                        format_duration(Seconds(median)) + " (" + format_duration(Seconds(least)) +
                        " to " + format_duration(Seconds(most)) + " of " +
                        std::to_string(times.size()) + "), in the same namespaces");
  facts.figures.push_back({kGloo, median, "s"});
}

void EmulatedRun::require_valid(results::RunId run) const {
  const auto summary = store_.run(run);
  if (summary->status != results::RunStatus::kInvalid) return;
  throw Error(
      ErrorKind::kFailure, "take", "run " + std::to_string(run),
      "it is stored as invalid: " + summary->error,
      report_.priority == "real-time"
          ? "run it where less else runs, or with slower links"
          : "run it where less else runs, with slower links, or with real-time priority: as "
            "root, or with \"rtprio 2\" for you in /etc/security/limits.conf");
}

results::RunId EmulatedRun::simulate(const Scenario& scenario, const std::string& executor,
                                     const runner::EmulatedLinks& links,
                                     const runner::RunProgress& at) {
  return run(runner::simulated_twin(scenario, executor, links), at);
}

results::RunId EmulatedRun::run(const Scenario& scenario, const runner::RunProgress& at) {
  if (const results::RunId run = finished(scenario, at, false)) return run;
  return store(scenario, {}, at);
}

results::RunId EmulatedRun::store(const Scenario& scenario, runner::RunOptions options,
                                  const runner::RunProgress& at) {
  options.threads = options_.threads;
  options.profiles = &profiles_;
  options.resume = options_.resume;
  results::RunId id = 0;
  const auto outcome = runner::run_scenario(scenario, options, store_, observer_, at, id);
  observer_.on_run_ended(at, *store_.run(id), false);
  return outcome == runner::RunOutcome::kInterrupted ? 0 : id;
}

}  // namespace gradwire::cli
