#include "compressors/codec.h"

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/bench.h"
#include "cli/codec_io.h"
#include "cli/context.h"
#include "cli/table.h"
#include "scenarios/methods.h"

namespace gradwire::cli {
namespace {

/// "bits=4, bucket=1024": the options with their defaults.
std::string options_text(const OptionTable& options) {
  std::string text;
  for (const OptionSpec& option : options)
    text += (text.empty() ? "" : ", ") + option.name + "=" + option.default_text;
  return text;
}

nlohmann::ordered_json bound(double value) {
  if (value == std::floor(value) && std::abs(value) <= 9007199254740992.0)
    return static_cast<std::int64_t>(value);
  return value;
}

nlohmann::ordered_json option_json(const OptionSpec& option) {
  nlohmann::ordered_json json = {{"name", option.name},
                                 {"type", name_of(option.type)},
                                 {"default", option.default_text},
                                 {"help", option.help}};
  if (!option.choices.empty()) json["choices"] = option.choices;
  if (std::isfinite(option.min)) json["min"] = bound(option.min);
  if (option.min_exclusive) json["min_exclusive"] = true;
  if (std::isfinite(option.max)) json["max"] = bound(option.max);
  if (option.max_exclusive) json["max_exclusive"] = true;
  return json;
}

/// A row of the table with its options' types, ranges, choices and help.
nlohmann::ordered_json codec_json(const compressors::CodecInfo& codec) {
  nlohmann::ordered_json json = {
      {"name", codec.name},         {"family", compressors::name_of(codec.family)},
      {"summary", codec.summary},   {"policy", compressors::name_of(codec.policy)},
      {"unbiased", codec.unbiased}, {"options", options_text(codec.options)},
      {"source", codec.source}};
  json["option_table"] = nlohmann::ordered_json::array();
  for (const OptionSpec& option : codec.options)
    json["option_table"].push_back(option_json(option));
  return json;
}

void print_json(bool lines) {
  std::string out;
  for (const compressors::CodecInfo& codec : compressors::codec_catalogue()) {
    nlohmann::ordered_json row = nlohmann::ordered_json::object();
    if (lines) row["type"] = "row";
    row.update(codec_json(codec));
    out += (lines || out.empty() ? "" : ",\n  ") + row.dump() + (lines ? "\n" : "");
  }
  if (!lines) out = "{\"schema_version\": 1, \"rows\": [\n  " + out + "\n]}\n";
  std::fputs(out.c_str(), stdout);
}

void list_codecs(const Context& context) {
  const Format format = context.format();
  if (format == Format::kJson || format == Format::kJsonl)
    return print_json(format != Format::kJson);
  Table table({{"name", "codec"},
               {"family"},
               {.name = "summary", .importance = Importance::kHigh},
               {"policy", "aggregation"},
               {.name = "unbiased", .importance = Importance::kLow},
               {.name = "options", .importance = Importance::kHigh},
               {.name = "source", .importance = Importance::kLow}});
  for (const compressors::CodecInfo& codec : compressors::codec_catalogue())
    table.add({codec.name, std::string(compressors::name_of(codec.family)), codec.summary,
               std::string(compressors::name_of(codec.policy)), codec.unbiased,
               options_text(codec.options), codec.source});
  table.print(context);
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

}  // namespace

void add_codec(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("codec", "Codecs: floats to packed bytes and back");
  command->require_subcommand(1);
  command->add_subcommand("list", "List all codecs and their options")->callback([&context] {
    list_codecs(context);
  });
  add_codec_encode(*command, context);
  add_codec_decode(*command, context);
  add_codec_inspect(*command, context);
  add_codec_bench(*command, context);
}

void add_methods(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("methods", "List the training methods a scenario can name");
  command->callback([&context] {
    Table table(
        {{"name", "method"}, {"exchange"}, {"error_feedback", "error feedback"}, {"summary"}});
    for (const compressors::CodecInfo& codec : compressors::codec_catalogue()) {
      if (!scenarios::why_no_gradient_codec(codec).empty()) continue;
      const bool feeds_back = scenarios::feeds_back_by_default(codec.name, {});
      table.add({codec.name, exchange_of(codec.policy),
                 std::string(feeds_back ? "on (error_feedback: false turns it off)" : "optional"),
                 "synchronous data parallelism, gradients as " + codec.summary});
    }
    table.add({std::string("compressed"), std::string("the codec's"), std::string("as it says"),
               std::string("any of these with decorators: error feedback, momentum correction, "
                           "clipping, rules by layer")});
    table.print(context);
  });
}

}  // namespace gradwire::cli
