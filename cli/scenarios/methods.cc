#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text_width.h"
#include "cli/context.h"
#include "cli/help/option_table.h"
#include "cli/output/json_text.h"
#include "cli/output/table.h"
#include "scenarios/methods.h"
#include "trainers/methods/by_settings.h"
#include "trainers/methods/catalogue.h"
#include "trainers/updates/catalogue.h"

/// `gradwire methods`: the published methods of the catalogue, those that are settings of a
/// schedule or an optimiser, then what any scenario can name.
namespace gradwire::cli {
namespace {

using methods::MethodRow;

nlohmann::ordered_json method_json(const MethodRow& row) {
  nlohmann::ordered_json json = {{"name", row.name},
                                 {"summary", row.summary},
                                 {"paper", row.paper},
                                 {"state", methods::name_of(row.state)},
                                 {"schedule", row.schedule},
                                 {"routes", row.routes},
                                 {"sends", row.sends},
                                 {"page", row.page},
                                 {"options", defaults_text(row.options)}};
  json["option_table"] = table_json(row.options);
  return json;
}

std::string exchange_of(compressors::AggregatePolicy policy) {
  switch (policy) {
    case compressors::AggregatePolicy::kSum:
      return "ring all-reduce, parameter server";
    case compressors::AggregatePolicy::kRequantize:
      return "scatter, requantise, gather; parameter server";
    case compressors::AggregatePolicy::kServer:
      return "parameter server";
    case compressors::AggregatePolicy::kGather:
      break;
  }
  return "ring all-gather, parameter server";
}

/// The rows of codecs that no published method has the name of.
std::vector<MethodRow> codec_rows() {
  std::vector<MethodRow> rows;
  for (const compressors::CodecInfo& codec : compressors::codec_catalogue()) {
    if (!scenarios::why_no_gradient_codec(codec).empty() || methods::find_method(codec.name))
      continue;
    const bool feeds_back = scenarios::feeds_back_by_default(codec.name, {});
    rows.push_back({.name = codec.name,
                    .summary = codec.summary,
                    .paper = codec.source,
                    .schedule = "synchronous",
                    .routes = exchange_of(codec.policy),
                    .sends = feeds_back ? "all tensors, with error feedback" : "all tensors",
                    .page = "codecs.md",
                    .options = codec.options});
  }
  rows.push_back({.name = "compressed",
                  .summary = "any codec with decorators",
                  .schedule = "synchronous",
                  .routes = "the codec's",
                  .sends = "rules by tensor; error feedback, momentum correction, clipping",
                  .page = "scenarios.md"});
  return rows;
}

/// Those that /method does not name, with their papers.
std::vector<MethodRow> setting_rows() {
  std::vector<MethodRow> rows = methods::methods_by_settings();
  for (MethodRow& row : rows)
    if (const trainers::UpdateInfo* update = trainers::find_update(row.name)) {
      row.paper = update->source;
      row.options = update->options;
    }
  return rows;
}

void list_methods(Context& context) {
  Table table({{.name = "name", .title = "method", .importance = Importance::kKey},
               {.name = "state", .importance = Importance::kHigh},
               {.name = "schedule", .importance = Importance::kLow},
               {.name = "summary", .importance = Importance::kHigh},
               {.name = "sends"},
               {.name = "routes", .title = "collectives"},
               {.name = "paper", .importance = Importance::kLow},
               {.name = "page", .importance = Importance::kLow}});
  for (const MethodRow& row : methods::method_catalogue())
    table.add({row.name, std::string(methods::name_of(row.state)), row.schedule, row.summary,
               row.sends, row.routes, row.paper, row.page});
  for (const MethodRow& row : setting_rows())
    table.add({row.name, std::string(methods::name_of(row.state)), row.schedule, row.summary,
               row.sends, row.routes, row.paper, row.page});
  for (const MethodRow& row : codec_rows())
    table.add({row.name, std::string("codec"), row.schedule, row.summary, row.sends, row.routes,
               row.paper, row.page});
  table.print(context);
}

/// "name:       text" on a page of `width` columns (0: as wide as it comes).
std::string named_line(const std::string& name, const std::string& text, std::size_t width) {
  constexpr std::size_t kIndent = 13, kLeast = 20;
  const std::size_t room = width == 0 ? text.size() : std::max(width, kIndent + kLeast) - kIndent;
  std::string lines = name + ":";
  for (const std::string& line : wrapped(text, room)) {
    const std::size_t from = lines.size() - (lines.rfind('\n') + 1);
    lines += std::string(kIndent - from, ' ') + line + "\n";
  }
  return lines;
}

/// One method with its options: what a scenario can say of it.
void show_method(const std::string& name, Context& context) {
  const MethodRow* row = methods::find_method(name);
  std::vector<MethodRow> others = codec_rows();
  for (MethodRow& setting : setting_rows()) others.push_back(std::move(setting));
  for (const MethodRow& other : others)
    if (other.name == name) row = &other;
  if (row == nullptr) {
    std::vector<std::string> names;
    for (const MethodRow& known : methods::method_catalogue()) names.push_back(known.name);
    for (const MethodRow& other : others) names.push_back(other.name);
    const std::string nearest = nearest_name(name, names);
    throw Error(ErrorKind::kUsage, "show method", name, "there is none of that name",
                nearest.empty() ? "gradwire methods lists them" : "did you mean " + nearest + "?");
  }
  if (context.format() == Format::kJson) {
    nlohmann::ordered_json json = {{"schema_version", 1}};
    json.update(method_json(*row));
    std::fputs((json_text(json, 1) + "\n").c_str(), stdout);
    return;
  }
  if (context.format() == Format::kText) {
    const auto line = [&](const char* name, const std::string& text) {
      return named_line(name, text, context.page_width());
    };
    const std::string paper = row->paper.empty() ? "" : line("paper", row->paper);
    const std::string head = row->name + ": " + row->summary + "\n" + paper +
                             line("sends", row->sends) + line("collectives", row->routes) +
                             line("page", "docs/" + row->page) + "\n";
    std::fputs(head.c_str(), stdout);
  }
  Table table({{.name = "option", .importance = Importance::kKey},
               {.name = "default", .importance = Importance::kHigh},
               {.name = "allowed"},
               {.name = "help", .importance = Importance::kHigh}});
  for (const OptionSpec& option : row->options)
    table.add({option.name, option.default_text, allowed_text(option), option.help});
  table.print(context);
}

}  // namespace

void add_methods(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("methods", "List the training methods that a scenario can name");
  auto name = std::make_shared<std::string>();
  command->add_option("method", *name, "Show one of them with its options");
  command->footer(
      "Methods of your own: GRADWIRE_METHODS=/path/to/module.so (docs/adding-a-method.md).\n"
      "Examples:\n  gradwire methods\n  gradwire methods dgc");
  command->callback(
      [name, &context] { name->empty() ? list_methods(context) : show_method(*name, context); });
}

}  // namespace gradwire::cli
