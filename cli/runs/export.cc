#include "results/export/export.h"

#include <cstdio>

#include "base/file_descriptor.h"
#include "cli/output/run_table.h"
#include "results/export/chrome_trace.h"

namespace gradwire::cli {
namespace {

struct ExportArguments {
  std::string run;
  std::string what;  ///< empty: what the form is for
  std::string as;    ///< empty: as the global --format says
  std::string out;
};

[[noreturn]] void refuse_form(const std::string& what, const std::string& form,
                              const std::string& remedy) {
  throw Error(ErrorKind::kUsage, "export " + what, "as " + form, "it has no such form", remedy);
}

/// "csv", "json" or "chrome-trace". What a form cannot hold is refused.
std::string form_of(const ExportArguments& arguments, const Context& context) {
  if (arguments.as == "chrome-trace") {
    if (!arguments.what.empty() && arguments.what != "timeline")
      refuse_form(
          arguments.what, arguments.as,
          "a trace is a run's timeline, with its links: leave --what, or say --format csv or "
          "json");
    return arguments.as;
  }
  const std::string form = arguments.as.empty() ? context.format_name : arguments.as;
  if (form == "text") return "csv";
  if (form != "csv" && form != "json")
    refuse_form(arguments.what.empty() ? "steps" : arguments.what, form,
                "say csv, json or chrome-trace");
  return form;
}

std::string exported(const ExportArguments& arguments, const std::string& form,
                     const results::Store& store) {
  const auto format = form == "json" ? results::ExportFormat::kJson : results::ExportFormat::kCsv;
  if (arguments.run.empty()) return results::export_runs(store.runs(), format);
  const results::RunSummary run = find_run(store, arguments.run);
  if (form == "chrome-trace") return results::chrome_trace(store, run.id);
  if (arguments.what == "runs") return results::export_runs({&run, 1}, format);
  if (arguments.what == "metrics") return results::export_metrics(store, run.id, format);
  if (arguments.what == "links") return results::export_links(store, run.id, format);
  if (arguments.what == "timeline") return results::export_timeline(store, run.id, format);
  return results::export_steps(store, run.id, format);
}

void write(const ExportArguments& arguments, const Context& context) {
  const std::string form = form_of(arguments, context);
  if (arguments.what != "runs" && arguments.run.empty())
    throw Error(ErrorKind::kUsage, "export " + (arguments.what.empty() ? "steps" : arguments.what),
                "", "no run is named", "gradwire export RUN, or --what runs");
  const auto store = context.open_reader();
  const std::string text = exported(arguments, form, *store);
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
  command->add_option("RUN", arguments->run, "Run number or tag; of --what runs all, if none");
  command->add_option("--what", arguments->what, "What to write")
      ->check(CLI::IsMember({"steps", "metrics", "timeline", "links", "runs"}))
      ->default_str("steps");
  command
      ->add_option("--as,--format", arguments->as,
                   "Form; chrome-trace, of a timeline and its links, opens in Perfetto")
      ->check(CLI::IsMember({"csv", "json", "chrome-trace"}))
      ->default_str("csv");
  command->add_option("-o,--out", arguments->out, "File (default: standard output)")
      ->type_name("FILE");
  command->footer(
      "Examples:\n  gradwire export 3 > steps.csv\n  gradwire export 3 --format chrome-trace -o "
      "trace.json\n"
      "  gradwire export 3 --what links > links.csv");
  command->callback([arguments, &context] { write(*arguments, context); });
}

}  // namespace gradwire::cli
