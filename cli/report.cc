#include "results/report.h"

#include "cli/closing.h"
#include "cli/run_table.h"

namespace gradwire::cli {

void add_report(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("report", "Write a self-contained HTML report of stored runs");
  struct Arguments {
    std::vector<std::string> runs;
    std::string filter;
    std::string out = "gradwire-report/report.html";
  };
  auto arguments = std::make_shared<Arguments>();
  command->add_option("RUN", arguments->runs,
                      "Run numbers or tags (default: those that --filter passes)");
  command->add_option("--filter", arguments->filter, "Expression over run fields");
  command->add_option("-o,--out", arguments->out, "File to write")
      ->type_name("FILE")
      ->capture_default_str();
  command->footer("Example:\n  gradwire report --filter 'scenario=quickstart' -o quickstart.html");
  command->callback([arguments, &context] {
    const auto store = context.open_reader();
    std::vector<results::RunId> runs;
    for (const std::string& name : arguments->runs) runs.push_back(find_run(*store, name).id);
    if (arguments->runs.empty())
      for (const results::RunSummary& run : filtered_runs(*store, arguments->filter))
        if (run.status == results::RunStatus::kFinished) runs.push_back(run.id);
    if (runs.empty())
      throw Error(ErrorKind::kFailure, "report on", context.database, "no finished run passes",
                  "see gradwire list");
    write_run_report(*store, runs, arguments->out, context);
  });
}

}  // namespace gradwire::cli
