#include "compressors/codec.h"

#include "cli/codec_io.h"
#include "cli/context.h"
#include "cli/table.h"

namespace gradwire::cli {
namespace {

void list_codecs(const Context& context) {
  Table table({{"name", "codec"},
               {"family"},
               {"summary"},
               {"policy", "aggregation"},
               {"unbiased"},
               {"options"},
               {"source"}});
  for (const compressors::CodecInfo& codec : compressors::codec_catalogue()) {
    std::string options;
    for (const OptionSpec& option : codec.options)
      options += (options.empty() ? "" : ", ") + option.name + "=" + option.default_text;
    table.add({codec.name, std::string(compressors::name_of(codec.family)), codec.summary,
               std::string(compressors::name_of(codec.policy)), codec.unbiased, options,
               codec.source});
  }
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
}

void add_methods(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("methods", "List the training methods a scenario can name");
  command->callback([&context] {
    Table table(
        {{"name", "method"}, {"exchange"}, {"error_feedback", "error feedback"}, {"summary"}});
    for (const compressors::CodecInfo& codec : compressors::codec_catalogue()) {
      const bool sums = codec.policy == compressors::AggregatePolicy::kSum;
      table.add({codec.name,
                 std::string(sums ? "ring all-reduce, parameter server"
                                  : "ring all-gather, parameter server"),
                 std::string(codec.name == "topk" ? "on (error_feedback: false turns it off)"
                                                  : "optional"),
                 "synchronous data parallelism, gradients as " + codec.summary});
    }
    table.print(context);
  });
}

}  // namespace gradwire::cli
