#include "cli/reports/scalability_options.h"

#include <algorithm>

#include "base/exact_text.h"
#include "cli/environment.h"
#include "cli/reports/assume_steps.h"
#include "cli/runs/run.h"

namespace gradwire::cli {
namespace {

std::string quoted(const std::string& text) {
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || std::string("-_./=,:+").find(c) < 8;
  };
  if (!text.empty() && std::ranges::all_of(text, plain)) return text;
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

/// Adds options that need --scalability, which makes them a report's.
class OptionGroup {
 public:
  OptionGroup(CLI::App& command, CLI::Option* asked) : command_(command), asked_(asked) {}
  template <class Value>
  CLI::Option* add(const char* name, Value& value, const char* help) {
    return take(command_.add_option(name, value, help));
  }
  void add_flag(const char* name, bool& value, const char* help) {
    take(command_.add_flag(name, value, help));
  }
  CLI::Option* take(CLI::Option* option) { return option->needs(asked_)->group(kGroup); }

 private:
  static constexpr const char* kGroup = "Of a scalability report";
  CLI::App& command_;
  CLI::Option* asked_;
};

void add_run_options(OptionGroup& group, ScalabilityArguments& arguments) {
  group
      .add("--set", arguments.sets,
           "Override a field of the scenario, /json/pointer=value (repeatable)")
      ->take_all()
      ->allow_extra_args(false);
  group.add("--executor", arguments.executor, "What carries the bytes of the scenario's runs")
      ->check(CLI::IsMember(kExecutors));
  group
      .add("--workers", arguments.workers,
           "Numbers of workers to run it on (default: its sweep's, else 2,4,8,16)")
      ->delimiter(',')
      ->check(CLI::Range(2, 1 << 20))
      ->type_name("N,N,...");
}

void add_question_options(OptionGroup& group, ScalabilityArguments& arguments) {
  group
      .add("--at", arguments.at, "Workers that the answer is about (default: the most of any run)")
      ->check(CLI::Range(2, 1 << 20));
  group
      .add("--up-to", arguments.up_to,
           "Workers to extrapolate to (default: 8 times the most of any run)")
      ->check(CLI::Range(2, 1 << 20));
  group.add("--target", arguments.target, "Scaling efficiency that is asked for, 0..1")
      ->check(CLI::Range(0.01, 1.0))
      ->capture_default_str();
}

void add_accuracy_options(OptionGroup& group, ScalabilityArguments& arguments) {
  group
      .add("--target-accuracy", arguments.accuracy,
           "Time to this held-out accuracy (default: the scenario's, where its runs train)")
      ->check(CLI::Range(0.0, 1.0));
  group.add("--training-runs", arguments.training_runs,
            "Runs that steps to the accuracy are counted in, as a filter (default: the report's "
            "own)");
  group.add("--assume-steps", arguments.assume_steps, kAssumeStepsHelp)
      ->check(CLI::IsMember({"none", "same", "samples"}))
      ->capture_default_str();
}

std::string list_of(const std::vector<int>& numbers) {
  std::string list;
  for (const int n : numbers) list += (list.empty() ? "" : ",") + std::to_string(n);
  return list;
}

/// A command line that grows by options that are not at their usual values.
class CommandLine {
 public:
  explicit CommandLine(std::string text) : text_(std::move(text)) {}
  void add_word(const std::string& word) { text_ += " " + quoted(word); }
  void add(const char* name, const std::string& value, const std::string& usual = "") {
    if (value != usual) text_ += std::string(" ") + name + " " + quoted(value);
  }
  void add(const char* name, int value, int usual) {
    add(name, std::to_string(value), std::to_string(usual));
  }
  void add(const char* name, double value, double usual) {
    add(name, exact_text(value), exact_text(usual));
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace

void add_scalability_options(CLI::App& command, ScalabilityArguments& arguments) {
  CLI::Option* asked =
      command
          .add_option("--scalability", arguments.scenario,
                      "Report how far it scales, into a folder: of a scenario's runs over workers "
                      "(those that are not stored are run), or of the runs that pass")
          ->expected(0, 1)
          ->excludes("--recipe")
          ->type_name("[SCENARIO]");
  OptionGroup group(command, asked);
  add_run_options(group, arguments);
  add_question_options(group, arguments);
  // A report of runs states what a run costs; an epoch is the scalability report's.
  for (CLI::Option* price : add_price_options(command, arguments.prices))
    price->check_name("--epoch-samples") ? group.take(price) : price->excludes("--recipe");
  add_accuracy_options(group, arguments);
  group.add("-j,--jobs", arguments.jobs, "Runs at a time")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  group.add_flag("--no-run", arguments.no_run, "Take the stored runs only");
}

std::string command_of(const ScalabilityArguments& arguments, const Context& context) {
  const ScalabilityArguments usual;
  CommandLine command("gradwire report");
  for (const std::string& run : arguments.runs) command.add_word(run);
  command.add_word("--scalability");
  if (!arguments.scenario.empty()) command.add_word(arguments.scenario);
  command.add("--filter", arguments.filter);
  if (!arguments.scenario.empty())
    for (const auto& [pointer, text, origin] : overrides_of_environment())
      command.add("--set", pointer + "=" + text);
  for (const std::string& set : arguments.sets) command.add("--set", set);
  command.add("--executor", arguments.executor);
  command.add("--workers", list_of(arguments.workers));
  command.add("--at", arguments.at, usual.at);
  command.add("--up-to", arguments.up_to, usual.up_to);
  command.add("--target", arguments.target, usual.target);
  command.add("--target-accuracy", arguments.accuracy, usual.accuracy);
  command.add("--training-runs", arguments.training_runs);
  command.add("--assume-steps", arguments.assume_steps, usual.assume_steps);
  command.add("--tolerance", arguments.accuracy_options.tolerance_points,
              usual.accuracy_options.tolerance_points);
  for (const auto& [name, value] : price_texts(arguments.prices)) command.add(name.c_str(), value);
  if (arguments.no_run) command.add_word("--no-run");
  command.add("--db", context.database);
  command.add("-o", arguments.out);
  return command.text();
}

}  // namespace gradwire::cli
