#include "cli/application.h"

#include <cctype>

#include "cli/help/help.h"
#include "runner/record/provenance.h"

namespace gradwire::cli {
namespace {

constexpr const char* kExamples =
    "Examples:\n"
    "  gradwire run scenarios/quickstart.json    train, simulate, store, report\n"
    "  gradwire plan scenarios/sweep.json        what a sweep would run, and how long\n"
    "  gradwire run my.json --set /network/link/bandwidth=10Gbps --executor packet\n"
    "  gradwire list --filter 'method=topk and workers>=4'\n"
    "  gradwire report --filter 'scenario=quickstart' -o report.html\n\n"
    "Options are stronger than the environment: GRADWIRE_FORMAT=json is --format json, and\n"
    "GRADWIRE_SET_CLUSTER__WORKERS=8 is --set /cluster/workers=8 in every command that reads\n"
    "scenarios. Files and defaults are weaker; run --print-config says where each value is "
    "from.\n\n"
    "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 scenario invalid, 4 some runs failed or\n"
    "diverged, 5 a capability is missing, 6 database unusable, 7 a bar or gate failed, 130/143\n"
    "interrupted (what was done is kept).";

/// The variable that stands for a global option: GRADWIRE_NO_INPUT for --no-input.
void read_environment(CLI::Option* option) {
  std::string name = "GRADWIRE_" + option->get_lnames().front();
  for (char& c : name) c = c == '-' ? '_' : static_cast<char>(std::toupper(c));
  option->envname(name);
}

void add_global_options(CLI::App& app, Context& context) {
  const auto when = CLI::IsMember({"auto", "always", "never"});
  const std::vector<CLI::Option*> options = {
      app.add_option("--db", context.database, "Results database")
          ->capture_default_str()
          ->type_name("FILE"),
      app.add_option("--format", context.format_name, "Output on stdout")
          ->check(CLI::IsMember({"text", "markdown", "json", "jsonl", "csv"}))
          ->capture_default_str(),
      app.add_flag("--wide", context.wide, "All columns of tables, however wide"),
      app.add_option("--color", context.color, "Colours of headings, warnings and errors")
          ->check(when)
          ->capture_default_str(),
      app.add_option("--progress", context.progress, "Progress bar on stderr")
          ->check(when)
          ->capture_default_str(),
      app.add_flag("-q,--quiet", context.quiet, "Only errors on stderr"),
      app.add_flag("-v,--verbose", context.verbose, "More on stderr (repeatable)"),
      app.add_flag("--no-input", context.no_input, "Never ask a question")};
  for (CLI::Option* option : options) read_environment(option);
}

/// Names of files and folders, in all commands.
void refuse_empty_names(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    const std::string type = option->get_type_name();
    for (const char* named : {"FILE", "FOLDER", "DIR", "STEM"})
      if (type.find(named) != std::string::npos) {
        option->check(refuse_empty);
        break;
      }
  }
  for (CLI::App* command : app.get_subcommands({})) refuse_empty_names(*command);
}

}  // namespace

std::string refuse_empty(const std::string& value) {
  const bool blank = value.find_first_not_of(" \t\n") == std::string::npos;
  return blank ? "its value is empty: is a shell variable unset?" : "";
}

void build_application(CLI::App& app, Context& context) {
  app.name("gradwire");
  app.description("Network-aware simulator and testbed for distributed and federated training.");
  app.set_version_flag(
      "--version", "gradwire " + runner::program_version() + "\nbuilt with: " + GRADWIRE_FEATURES);
  app.formatter(help_formatter(context));
  app.require_subcommand(1);
  app.fallthrough();
  add_global_options(app, context);
  add_run(app, context);
  add_check(app, context);
  add_validate(app, context);
  add_plan(app, context);
  add_emulate(app, context);
  add_torch(app, context);
  add_evaluate(app, context);
  add_list(app, context);
  add_show(app, context);
  add_compare(app, context);
  add_tag(app, context);
  add_prune(app, context);
  add_merge(app, context);
  add_export(app, context);
  add_report(app, context);
  add_query(app, context);
  add_fit(app, context);
  add_predict(app, context);
  add_advise(app, context);
  add_profile(app, context);
  add_codec(app, context);
  add_methods(app, context);
  add_reproduce(app, context);
  add_bench(app, context);
  add_calibrate(app, context);
  add_task(app, context);
  add_schema(app, context);
  add_params(app, context);
  add_doctor(app, context);
  add_gui(app, context);
  add_completion(app, context);
  add_man(app, context);
  refuse_empty_names(app);
  app.footer(kExamples);  // last: a command takes over what stands when it is added
}

}  // namespace gradwire::cli
