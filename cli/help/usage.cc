#include "cli/help/usage.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <regex>
#include <string_view>
#include <vector>

#include "base/options.h"
#include "cli/application.h"

namespace gradwire::cli {
namespace {

using Names = std::vector<std::string>;

std::string in_quotes(const std::string& text) {
  return "\"" + text + "\"";
}

/// The command that the line got to: "gradwire codec list".
const CLI::App& reached(const CLI::App& app) {
  const CLI::App* at = &app;
  while (!at->get_subcommands().empty()) at = at->get_subcommands().back();
  return *at;
}

std::string full_name(const CLI::App& app) {
  const CLI::App* parent = app.get_parent();
  return (parent ? full_name(*parent) + " " : "") + app.get_name();
}

Names command_names(const CLI::App& app) {
  Names names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  return names;
}

/// Of the command and of those above it.
Names option_names(const CLI::App& app) {
  Names names;
  for (const CLI::App* at = &app; at; at = at->get_parent())
    for (const CLI::Option* option : at->get_options())
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

UsageProblem unknown(const std::string& what, const std::string& name, const CLI::App& command,
                     const Names& candidates) {
  UsageProblem problem;
  problem.suggestion = nearest_name(name, candidates);
  problem.message = "there is no " + what + " " + in_quotes(name);
  if (!problem.suggestion.empty())
    problem.message += "; did you mean " + in_quotes(problem.suggestion) + "?";
  problem.message += " (" + full_name(command) + " --help lists all)";
  return problem;
}

/// What the line has too much: where a command is missing, the first word; else an option, because
/// a word beside it may be its value.
UsageProblem about_extra(const Names& extras, const CLI::App& command) {
  const auto is_option = [](const std::string& word) { return word.starts_with("-"); };
  const Names commands = command_names(command);
  const auto option = commands.empty() ? std::ranges::find_if(extras, is_option) : extras.begin();
  if (option != extras.end() && is_option(*option)) {
    const std::string name = option->substr(0, option->find('='));
    return unknown("option", name, command, option_names(command));
  }
  if (!commands.empty()) return unknown("command", extras.front(), command, commands);
  return {full_name(command) + " does not take " + in_quotes(extras.front()) + " (see " +
              full_name(command) + " --help)",
          ""};
}

std::string compact(double bound) {
  char text[32];
  std::snprintf(text, sizeof text, "%.10g", bound);
  return text;
}

/// "--minutes: Value 0 not in range 0.010000 to 10000.000000" with bounds as one writes them; a
/// bound without end, which the library writes with 309 digits, is none.
std::string with_short_range(const std::string& message) {
  static const std::regex range("^(.*: )Value (.*) not in range ([-0-9.]+) to ([-0-9.]+)$");
  std::smatch found;
  if (!std::regex_match(message, found, range)) return message;
  const std::string value = found[2];
  char* end = nullptr;
  const double number = std::strtod(value.c_str(), &end);
  if (value.empty() || *end != '\0') return found[1].str() + in_quotes(value) + " is no number";
  const double least = std::stod(found[3]), most = std::stod(found[4]);
  if (most > 1e300)
    return found[1].str() + value + (number < 0 ? " is negative" : " is not above 0");
  return found[1].str() + value + " is not from " + compact(least) + " to " + compact(most);
}

/// "--format: xml not in {text,json}": the value and the choices.
UsageProblem about_value(const std::string& message) {
  constexpr std::string_view kNotIn = " not in {";
  const auto end = message.rfind(kNotIn), colon = message.find(": ");
  if (end == std::string::npos || colon == std::string::npos || colon > end)
    return {with_short_range(message), ""};
  const std::string value = message.substr(colon + 2, end - colon - 2);
  Names choices;
  std::string list = message.substr(end + kNotIn.size());
  list.erase(std::min(list.find('}'), list.size()));
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t comma = std::min(list.find(',', at), list.size());
    choices.push_back(list.substr(at, comma - at));
    at = comma + 1;
  }
  UsageProblem problem{message, nearest_name(value, choices)};
  if (!problem.suggestion.empty())
    problem.message += "; did you mean " + in_quotes(problem.suggestion) + "?";
  return problem;
}

}  // namespace

UsageProblem usage_problem(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& command = reached(app);
  const Names extras = app.remaining(true);
  const bool no_command = !command_names(command).empty();
  if (!extras.empty() && (no_command || dynamic_cast<const CLI::ExtrasError*>(&error)))
    return about_extra(extras, command);
  if (dynamic_cast<const CLI::RequiredError*>(&error))
    return {full_name(command) + ": " + error.what() + " (see " + full_name(command) + " --help)",
            ""};
  return about_value(error.what());
}

void refuse_empty_assignments(int argc, const char* const* argv) {
  for (int i = 1; i < argc && std::string_view(argv[i]) != "--"; ++i) {
    const std::string_view word = argv[i];
    if (word.starts_with("--") && word.find('=') == word.size() - 1)
      throw CLI::ValidationError(std::string(word.substr(0, word.size() - 1)), refuse_empty(""));
  }
}

std::string format_of(int argc, const char* const* argv) {
  constexpr std::string_view kOption = "--format";
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == kOption && i + 1 < argc) return argv[i + 1];
    if (word.starts_with(kOption) && word.substr(kOption.size()).starts_with("="))
      return std::string(word.substr(kOption.size() + 1));
  }
  const char* variable = std::getenv("GRADWIRE_FORMAT");
  return variable ? variable : "text";
}

}  // namespace gradwire::cli
