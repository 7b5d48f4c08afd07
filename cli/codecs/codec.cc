#include "compressors/codec.h"

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/bench/bench.h"
#include "cli/codecs/codec_io.h"
#include "cli/context.h"
#include "cli/help/option_table.h"
#include "cli/output/json_text.h"
#include "cli/output/table.h"

namespace gradwire::cli {
namespace {

/// A row of the table with its options' types, ranges, choices and help.
nlohmann::ordered_json codec_json(const compressors::CodecInfo& codec) {
  nlohmann::ordered_json json = {
      {"name", codec.name},         {"family", compressors::name_of(codec.family)},
      {"summary", codec.summary},   {"policy", compressors::name_of(codec.policy)},
      {"unbiased", codec.unbiased}, {"options", defaults_text(codec.options)},
      {"source", codec.source}};
  json["option_table"] = table_json(codec.options);
  return json;
}

void print_json(bool lines) {
  std::string out;
  for (const compressors::CodecInfo& codec : compressors::codec_catalogue()) {
    nlohmann::ordered_json row = nlohmann::ordered_json::object();
    if (lines) row["type"] = "row";
    row.update(codec_json(codec));
    out += (lines || out.empty() ? "" : ",\n  ") + json_text(row) + (lines ? "\n" : "");
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
               defaults_text(codec.options), codec.source});
  table.print(context);
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

}  // namespace gradwire::cli
