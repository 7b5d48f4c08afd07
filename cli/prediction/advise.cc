#include "cli/prediction/advise.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file_descriptor.h"
#include "bridge/recording.h"
#include "cli/output/run_table.h"
#include "cli/reports/assume_steps.h"
#include "cli/scenarios/plain_scenario.h"
#include "results/advice/scenario_prices.h"
#include "results/prediction/fit_file.h"
#include "runner/prediction/advice.h"
#include "runner/prediction/published_errors.h"
#include "runner/prediction/recorded_table.h"
#include "scenarios/profiles/profile_json.h"
#include "scenarios/share.h"

namespace gradwire::cli {
namespace {

/// So long a command says nothing at most, while it works.
constexpr auto kSilence = std::chrono::seconds(3);

constexpr int kMostWorkers = 4096;

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump();
}

/// What a trace says of a step, as a layer table beside the database; its fields of a scenario.
std::vector<std::string> sets_of_trace(const std::string& trace, const Context& context) {
  if (trace.empty()) return {};
  const bridge::Recording recording = bridge::read_recording(trace);
  const scenarios::WorkloadProfile table = runner::recorded_table(recording, trace);
  const std::string path = (std::filesystem::absolute(context.database).parent_path() /
                            (table.origin.name + ".table.json"))
                               .lexically_normal()
                               .string();
  write_file(path, scenarios::profile_text(table));
  context.say("what the trace says of a step: " + path);
  return {"/workload/profile=" + quoted(path), "/workload/batch_per_worker=1",
          "/cluster/workers=" + std::to_string(std::max(2, recording.header.world))};
}

/// The options as a scenario's fields, behind what --set says.
std::vector<std::string> sets_of(const AdviseArguments& arguments, const Context& context) {
  std::vector<std::string> sets = sets_of_trace(arguments.trace, context);
  sets.insert(sets.end(), arguments.sets.begin(), arguments.sets.end());
  const auto set = [&](const char* pointer, const std::string& value) {
    if (!value.empty()) sets.push_back(pointer + std::string("=") + quoted(value));
  };
  set("/workload/profile", arguments.model);
  set("/workload/precision", arguments.precision);
  set("/cluster/device", arguments.device);
  set("/network/link/bandwidth", arguments.rate);
  set("/network/link/delay", arguments.delay);
  if (arguments.batch > 0)
    sets.push_back("/workload/batch_per_worker=" + std::to_string(arguments.batch));
  if (arguments.loss >= 0) sets.push_back("/network/link/loss=" + std::to_string(arguments.loss));
  return sets;
}

scenarios::Scenario scenario_of(const AdviseArguments& arguments, const Context& context) {
  RunArguments run;
  run.file = arguments.file;
  run.sets = sets_of(arguments, context);
  run.network = arguments.network;
  const scenarios::ScenarioFile file = named_or_plain_scenario(run);
  warn(file, context);
  if (file.runs.size() > 1)
    context.say("advice is for the first of the file's " + std::to_string(file.runs.size()) +
                " runs; choose another with --set");
  return file.runs.at(0);
}

runner::AdviceChoices choices_of(const AdviseArguments& arguments) {
  runner::AdviceChoices choices;
  for (const std::string& method : arguments.methods)
    choices.methods.push_back(runner::method_of_text(method));
  choices.collectives = arguments.collectives;
  for (const std::string& bucket : arguments.buckets)
    choices.buckets.push_back(parse_bytes(bucket));
  choices.simulate_exchanges = !arguments.closed_form;
  return choices;
}

results::StepFit fit_of(const AdviseArguments& arguments) {
  if (arguments.fit.empty()) return results::usual_fit();
  return results::fit_from_json(read_file(arguments.fit), arguments.fit);
}

/// What stored runs say: of methods' accuracy, and of steps to one. Without a database nothing is
/// known, which is no error unless runs were asked for; a database that was named is said to be
/// absent.
void add_trained(const AdviseArguments& arguments, const Context& context, AdviceShown& shown) {
  shown.accuracy = accuracy_knowledge(arguments.accuracy_options);
  const bool asked = arguments.accuracy > 0 || !arguments.filter.empty();
  if (!asked && !std::filesystem::exists(context.database)) {
    if (context.database != Context().database)
      context.say("gradwire: there is no database " + context.database +
                  ": no run of it counts for accuracies");
    return;
  }
  const auto store = context.open_reader();
  const auto runs = filtered_runs(*store, arguments.filter);
  shown.accuracy.trained = results::accuracy_comparisons(runs);
  if (arguments.accuracy > 0)
    shown.trained = results::steps_to_target(*store, runs, arguments.accuracy);
}

/// Views that would show nothing.
void check(const AdviseArguments& arguments) {
  if (arguments.accuracy <= 0 && arguments.assume_steps != "none")
    throw Error(ErrorKind::kUsage, "advise", "", "--assume-steps is about the steps to an accuracy",
                "say --target-accuracy, too");
  if (arguments.accuracy > 0 && arguments.show != "cost")
    throw Error(ErrorKind::kUsage, "advise", "--target-accuracy",
                "the times to an accuracy are what --show cost shows", "say --show cost, too");
}

results::CostOptions costs_of(const AdviseArguments& arguments,
                              const scenarios::Scenario& scenario) {
  const results::CostOptions costs =
      costs_of(arguments.prices, results::costs_of_scenario(scenario.json.dump()));
  if (arguments.show == "cost" && !costs.prices.any() && arguments.accuracy <= 0)
    throw Error(ErrorKind::kUsage, "advise", "--show cost", "no price is given",
                "say --gpu-hour, --port-hour or --gigabyte (or the scenario's prices), or "
                "--target-accuracy for times alone");
  return costs;
}

/// The command at the end stays on a line of its own, to be copied whole.
void say_recommendation(const std::string& text, const Context& context) {
  const std::size_t end = text.find(results::kToFindOut);
  if (end == std::string::npos) return context.say_wrapped(text);
  context.say_wrapped(text.substr(0, end) + " To find out:");
  context.say("  " + text.substr(end + results::kToFindOut.size()));
}

void advise(const AdviseArguments& arguments, Context& context) {
  check(arguments);
  const scenarios::Scenario scenario = scenario_of(arguments, context);
  AdviceShown shown{arguments, scenario, fit_of(arguments), costs_of(arguments, scenario), {},
                    {},        {}};
  add_trained(arguments, context, shown);
  const std::vector<int> counts = arguments.workers.empty()
                                      ? std::vector<int>{scenario.cluster.workers}
                                      : worker_counts(arguments.workers);
  std::vector<std::string> left_out;
  const results::AccuracyQuestion question{&shown.accuracy, scenario.workload.profile};
  runner::AdviceChoices choices = choices_of(arguments);
  auto said = std::chrono::steady_clock::now();
  for (const int workers : counts) {
    choices.on_method = [&, workers](std::size_t number, std::size_t all) {
      const auto now = std::chrono::steady_clock::now();
      if (now - said < kSilence) return;
      said = now;
      context.say("simulating exchanges among " + std::to_string(workers) + " workers: method " +
                  std::to_string(number) + " of " + std::to_string(all));
    };
    WorkersAdvice one{workers, {}, {}, {}};
    one.candidates = runner::advice_candidates(scenario, choices, workers, left_out);
    one.advice = results::advise(one.candidates, shown.fit, question);
    one.by_codec_cost = results::advice_by_codec_cost(one.candidates, shown.fit, question);
    say_recommendation(std::to_string(workers) + " workers. " + verdict_sentence(one.advice),
                       context);
    if (const auto text = codec_cost_sentence(one.by_codec_cost); !text.empty())
      context.say_wrapped(text);
    shown.by_workers.push_back(std::move(one));
  }
  const results::PredictionQuestion about = runner::prediction_question(scenario);
  const auto nearest = runner::published_errors(about);
  if (const auto text = results::published_errors_words(nearest, about); !text.empty())
    context.say_wrapped(text);
  for (const std::string& line : left_out) context.say_wrapped("left out " + line);
  if (arguments.show == "ranking") return print_ranking(shown, context);
  if (arguments.show == "crossover") return print_crossovers(shown, context);
  if (arguments.show == "cost") {
    if (shown.costs.prices.any()) context.say("costs are in " + shown.costs.currency);
    return print_costs(shown, context);
  }
  print_verdicts(shown, context);
}

void add_question(CLI::App& command, AdviseArguments& arguments) {
  command.add_option("FILE", arguments.file,
                     "Scenario file with a layer table; default: " + std::string(kPlainScenario));
  command.add_option("--set", arguments.sets, "Override a field, /json/pointer=value (repeatable)")
      ->take_all()
      ->allow_extra_args(false);
  command
      .add_option("--trace", arguments.trace,
                  "Steps of data parallelism: a recording, or a folder of a profiler's traces")
      ->type_name("FILE");
  command.add_option("--model", arguments.model, "Layer table (resnet50, vgg16, ...)");
  command.add_option("--device", arguments.device, "Device profile (v100, a100, ...)");
  command.add_option("--precision", arguments.precision, "Of the passes: fp32, tf32, fp16");
  command.add_option("--batch", arguments.batch, "Samples a worker and step")
      ->check(CLI::Range(1, 1 << 20));
  command.add_option("--workers", arguments.workers, "16, or 8,16,24, or 8..128 (doubling)");
  add_network_option(command, arguments.network);
  command.add_option("--rate", arguments.rate, "Of the links (10Gbps)");
  command.add_option("--delay", arguments.delay, "One way of a link (10us)");
  command.add_option("--loss", arguments.loss, "Share of packets that a link loses")
      ->check(CLI::Range(0.0, 1.0));
}

void add_choices(CLI::App& command, AdviseArguments& arguments) {
  command
      .add_option("--method", arguments.methods,
                  "Only these: topk, topk:ratio=0.001, sign:error_feedback=true (repeatable)")
      ->take_all()
      ->allow_extra_args(false);
  command.add_option("--collective", arguments.collectives, "Only these (repeatable)")
      ->check(CLI::IsMember({"ring", "tree", "halving-doubling", "two-level", "direct",
                             "scatter-reduce", "parameter-server"}))
      ->take_all()
      ->allow_extra_args(false);
  command.add_option("--bucket", arguments.buckets, "Only these: 25MB (repeatable)")
      ->take_all()
      ->allow_extra_args(false);
  command
      .add_option("--show", arguments.show,
                  "verdict, the ranking, the rates above which methods no longer pay, or costs")
      ->check(CLI::IsMember({"verdict", "ranking", "crossover", "cost"}))
      ->capture_default_str();
  command.add_option("--fit", arguments.fit, "A fit that gradwire fit -o wrote")
      ->check(CLI::ExistingFile);
  command.add_flag("--closed-form", arguments.closed_form,
                   "Do not correct exchanges by simulations of them alone");
  command
      .add_option("--verify", arguments.verify,
                  "Simulate the best N candidates of each number of workers by flow")
      ->expected(0, 1)
      ->default_str("3")
      ->check(CLI::Range(1, 1000));
}

void add_prices(CLI::App& command, AdviseArguments& arguments) {
  add_price_options(command, arguments.prices);
  command
      .add_option("--target-accuracy", arguments.accuracy,
                  "Time and cost to this held-out accuracy, by steps of stored training runs")
      ->check(CLI::Range(0.0, 1.0));
  add_tolerance_option(command, arguments.accuracy_options);
  command.add_option("--filter", arguments.filter,
                     "Training runs that accuracy and steps are taken from (default: all stored)");
  command.add_option("--assume-steps", arguments.assume_steps, kAssumeStepsHelp)
      ->check(CLI::IsMember({"none", "same", "samples"}))
      ->capture_default_str();
}

int count_of(std::string_view text, const std::string& all) {
  int count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || end != text.data() + text.size() || count < 2 || count > kMostWorkers)
    throw Error(
        ErrorKind::kUsage, "read the workers", all,
        "\"" + std::string(text) + "\" is no number from 2 to " + std::to_string(kMostWorkers),
        "say 16, or 8,16,24, or 8..128");
  return count;
}

}  // namespace

std::vector<int> worker_counts(const std::string& text) {
  std::vector<int> counts;
  if (const std::size_t dots = text.find(".."); dots != std::string::npos) {
    const int last = count_of(std::string_view(text).substr(dots + 2), text);
    for (int n = count_of(std::string_view(text).substr(0, dots), text); n <= last; n *= 2)
      counts.push_back(n);
    if (counts.empty())
      throw Error(ErrorKind::kUsage, "read the workers", text, "the range is empty");
    return counts;
  }
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    counts.push_back(count_of(std::string_view(text).substr(begin, end - begin), text));
    begin = end + 1;
  }
  return counts;
}

void add_advise(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "advise", "Should I compress? Every method, collective and bucket size by the step's time");
  auto arguments = std::make_shared<AdviseArguments>();
  add_question(*command, *arguments);
  add_choices(*command, *arguments);
  add_prices(*command, *arguments);
  command->footer(
      "Times are predicted; codec times of GPU profiles are bounds by memory traffic, so the "
      "winner\n"
      "is named at 1, 10 and 100 times them. Accuracy comes from the training runs in the "
      "database;\n"
      "where there are none it is unknown, and what authors published is named with its source.\n"
      "Examples:\n  gradwire advise --model vgg16 --workers 8..128 --rate 25Gbps\n"
      "  gradwire advise --show crossover --workers 8..128\n"
      "  gradwire advise my.json --show ranking --verify 5\n"
      "  gradwire advise --trace traces --device a100 --rate 25Gbps --workers 8..64\n"
      "  gradwire advise --show cost --gpu-hour 2.5 --epoch-samples 1281167");
  command->callback([arguments, &context] { advise(*arguments, context); });
}

}  // namespace gradwire::cli
