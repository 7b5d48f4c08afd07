#include <nlohmann/json.hpp>
#include <set>

#include "cli/output/table.h"
#include "cli/runs/run.h"
#include "results/runs/collective_choice.h"
#include "runner/cost/packet_forecast.h"
#include "runner/cost/sweep_details.h"
#include "runner/training/trainer_module.h"
#include "scenarios/methods.h"

namespace gradwire::cli {
namespace {

std::string needs(const scenarios::Scenario& scenario) {
  std::string text;
  const auto add = [&](const std::string& need) { text += (text.empty() ? "" : ", ") + need; };
  if (scenario.workload.kind == scenarios::WorkloadKind::kTraining) add("training");
  if (scenario.executor == "packet") add("packet");
  if (scenario.executor == "emulator") add("emulator");
  if (scenario.cluster.device == "cuda") add("cuda");
  return text;
}

std::string swept_values(const scenarios::ScenarioFile& file, const scenarios::Scenario& scenario) {
  std::string text;
  for (const std::string& pointer : file.swept) {
    const nlohmann::ordered_json::json_pointer place(pointer);
    if (!scenario.json.contains(place)) continue;
    const nlohmann::ordered_json& value = scenario.json.at(place);
    text += (text.empty() ? "" : " ") + pointer.substr(pointer.rfind('/') + 1) + "=" +
            (value.is_string() ? value.get<std::string>() : value.dump());
  }
  return text;
}

/// Forecasts of what runs on the packet executor, and their sum.
class Forecasts {
 public:
  std::optional<runner::PacketForecast> of(const scenarios::Scenario& scenario) {
    if (scenario.executor != "packet") return std::nullopt;
    const auto forecast = runner::forecast_packet_run(scenario, profiles_);
    if (forecast) {
      total_.events += forecast->events;
      total_.wall_s += forecast->wall_s;
    }
    return forecast;
  }
  const runner::PacketForecast& total() const { return total_; }

 private:
  runner::ProfileCache profiles_;
  runner::PacketForecast total_;
};

/// What a collective left open comes to on each run's network, and why.
class Choices {
 public:
  std::string of(const scenarios::Scenario& scenario) {
    const std::string written = scenarios::collective_of(scenario);
    const scenarios::CollectiveChoice choice =
        written == "auto" ? chosen(scenario) : scenarios::CollectiveChoice{};
    if (choice.candidates.empty()) return written;
    std::vector<results::MetricRow> rows;
    for (const auto& each : choice.candidates)
      rows.push_back({-1, results::choice_metric(each.collective), each.time.value(), "s",
                      results::Provenance::kSimulated});
    sentences_.insert(results::choice_sentence(rows));
    return "auto: " + choice.candidates.front().collective;
  }
  const std::set<std::string>& sentences() const { return sentences_; }

 private:
  /// Empty where this machine cannot make the scenario's trainer.
  static scenarios::CollectiveChoice chosen(const scenarios::Scenario& scenario) {
    try {
      return runner::make_trainer(scenario, {})->collective_choice();
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::kCapability) return {};
      throw;
    }
  }
  std::set<std::string> sentences_;
};

/// How finely flow simulates a run.
Cell detail_cell(const scenarios::Scenario& scenario, std::optional<sim::Detail> detail) {
  if (scenario.executor != "flow") return {};
  return std::string(detail ? sim::name_of(*detail) : "auto");
}

std::int64_t steps_of(const scenarios::Workload& workload) {
  const bool steps = workload.kind == scenarios::WorkloadKind::kTraining ||
                     workload.kind == scenarios::WorkloadKind::kProfile;
  return steps ? workload.steps : workload.repetitions;
}

std::unique_ptr<results::Store> reader_of(Context& context) {
  try {
    return context.open_reader();
  } catch (const results::StoreError&) {
    return nullptr;  // no database yet: nothing is stored
  }
}

/// Lists the runs of a sweep without running any.
void plan(const RunArguments& arguments, Context& context) {
  const scenarios::ScenarioFile file = read_scenario(arguments);
  warn(file, context);
  Table table({{"run"},
               {.name = "method", .importance = Importance::kKey},
               {.name = "varied", .importance = Importance::kKey},
               {.name = "collective", .importance = Importance::kLow},
               {"workers"},
               {.name = "executor", .importance = Importance::kHigh},
               {.name = "detail", .importance = Importance::kHigh},
               {.name = "seed", .importance = Importance::kHigh},
               {.name = "steps", .importance = Importance::kLow},
               {.name = "needs", .importance = Importance::kLow},
               {.name = "stored", .importance = Importance::kHigh},
               {"events", "events (forecast)", Column::Style::kPlain, Importance::kLow},
               {"forecast_s", "time (forecast)", Column::Style::kDuration, Importance::kHigh}});
  const auto store = reader_of(context);
  Forecasts forecasts;
  Choices choices;
  runner::ProfileCache profiles;
  const auto details = runner::sweep_details(file.runs, profiles);
  bool open = false;
  std::int64_t number = 0, stored = 0;
  for (const scenarios::Scenario& scenario : file.runs) {
    const auto detail = details[static_cast<std::size_t>(number)];
    const bool there = store && runner::find_ended(*store, scenario, detail);
    open = open || (scenario.executor == "flow" && !detail);
    stored += there;
    const auto forecast = forecasts.of(scenario);
    table.add({++number, scenarios::method_label(scenario), swept_values(file, scenario),
               choices.of(scenario), static_cast<std::int64_t>(scenario.cluster.workers),
               scenario.executor, detail_cell(scenario, detail),
               static_cast<std::int64_t>(scenario.seed), steps_of(scenario.workload),
               needs(scenario), there,
               forecast ? Cell(static_cast<std::int64_t>(forecast->events)) : Cell(),
               forecast ? Cell(forecast->wall_s) : Cell()});
  }
  table.print(context);
  context.say(std::to_string(number) + " runs, " + std::to_string(stored) +
              " of them finished in " + context.database + " (run --resume skips those)");
  for (const std::string& sentence : choices.sentences()) context.say(sentence);
  if (open) context.say("detail auto: the first exchange decides between per-packet and fluid");
  if (forecasts.total().events > 0)
    context.say("on the packet executor: " + runner::in_words(forecasts.total()));
}

}  // namespace

void add_plan(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("plan", "List the runs of a scenario file without running them");
  auto arguments = std::make_shared<RunArguments>();
  add_scenario_options(*command, *arguments);
  command->add_option("--executor", arguments->executor, "As for run")
      ->check(CLI::IsMember(kExecutors));
  command->footer(
      "Runs on the packet executor get a forecast of ns-3's events and of the time on one core of\n"
      "this machine; where they train, their first step is trained for it.\n"
      "Examples:\n  gradwire plan scenarios/sweep.json\n"
      "  gradwire plan scenarios/collective.json --executor packet");
  command->callback([arguments, &context] { plan(*arguments, context); });
}

}  // namespace gradwire::cli
