#include "results/export/export.h"
#include "results/export/chrome_trace.h"

#include <cstdio>

#include "base/file_descriptor.h"
#include "cli/output/run_table.h"

namespace gradwire::cli {
namespace {

struct ExportArguments {
  std::string run;
  std::string what = "steps";
  std::string as = "csv";
  std::string out;
};

std::string exported(const ExportArguments& arguments, const results::Store& store) {
  if (arguments.what == "runs") {
    const auto runs = store.runs();
    return results::export_runs(
        runs, arguments.as == "json" ? results::ExportFormat::kJson : results::ExportFormat::kCsv);
  }
  const results::RunId run = find_run(store, arguments.run).id;
  if (arguments.as == "chrome-trace") return results::chrome_trace(store, run);
  const auto format =
      arguments.as == "json" ? results::ExportFormat::kJson : results::ExportFormat::kCsv;
  if (arguments.what == "metrics") return results::export_metrics(store, run, format);
  if (arguments.what == "links") return results::export_links(store, run, format);
  if (arguments.what == "timeline") return results::export_timeline(store, run, format);
  return results::export_steps(store, run, format);
}

void write(const ExportArguments& arguments, const Context& context) {
  if (arguments.what != "runs" && arguments.run.empty())
    throw Error(ErrorKind::kUsage, "export " + arguments.what, "", "no run is named",
                "gradwire export RUN, or --what runs");
  const auto store = context.open_reader();
  const std::string text = exported(arguments, *store);
  if (arguments.out.empty())
    std::fwrite(text.data(), 1, text.size(), stdout);
  else
    write_file(arguments.out, text);
}

}  // namespace

void add_export(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "export", "Write a run's steps, metrics, timeline or links for other programs");
  auto arguments = std::make_shared<ExportArguments>();
  command->add_option("RUN", arguments->run, "Run number or tag");
  command->add_option("--what", arguments->what, "What to write")
      ->check(CLI::IsMember({"steps", "metrics", "timeline", "links", "runs"}))
      ->capture_default_str();
  command->add_option("--as,--format", arguments->as, "Form; chrome-trace opens in Perfetto")
      ->check(CLI::IsMember({"csv", "json", "chrome-trace"}))
      ->capture_default_str();
  command->add_option("-o,--out", arguments->out, "File (default: standard output)")
      ->type_name("FILE");
  command->footer(
      "Examples:\n  gradwire export 3 > steps.csv\n  gradwire export 3 --format chrome-trace -o "
      "trace.json\n"
      "  gradwire export 3 --what links > links.csv");
  command->callback([arguments, &context] { write(*arguments, context); });
}

}  // namespace gradwire::cli
