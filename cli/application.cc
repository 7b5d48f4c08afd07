#include "cli/application.h"

#include "runner/provenance.h"

namespace gradwire::cli {
namespace {

constexpr const char* kExamples =
    "Examples:\n"
    "  gradwire run scenarios/quickstart.json        train, encode, simulate, store, report\n"
    "  gradwire plan scenarios/sweep.json            what a sweep would run, and for how long\n"
    "  gradwire run my.json --set /network/link/bandwidth=10Gbps --executor packet\n"
    "  gradwire list --filter 'method=topk and workers>=4'\n"
    "  gradwire report --filter 'scenario=quickstart' -o report.html\n\n"
    "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 scenario invalid, 4 some runs failed or were\n"
    "skipped, 5 a capability is missing, 6 database unusable, 7 a bar or gate failed, 130/143\n"
    "interrupted (what was done is kept).";

void add_global_options(CLI::App& app, Context& context) {
  app.add_option("--db", context.database, "Results database")
      ->capture_default_str()
      ->type_name("FILE");
  app.add_option("--format", context.format_name, "Output on stdout")
      ->check(CLI::IsMember({"text", "markdown", "json", "jsonl", "csv"}))
      ->capture_default_str();
  app.add_flag("--wide", context.wide, "All columns of tables, however wide");
  app.add_option("--color", context.color, "Colours")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->capture_default_str();
  app.add_option("--progress", context.progress, "Progress bar on stderr")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->capture_default_str();
  app.add_flag("-q,--quiet", context.quiet, "Only errors on stderr");
  app.add_flag("-v,--verbose", context.verbose, "More on stderr (repeatable)");
  app.add_flag("--no-input", context.no_input, "Never ask a question");
}

}  // namespace

void build_application(CLI::App& app, Context& context) {
  app.name("gradwire");
  app.description("Network-aware simulator and testbed for distributed and federated training.");
  app.footer(kExamples);
  app.set_version_flag(
      "--version", "gradwire " + runner::program_version() + "\nbuilt with: " + GRADWIRE_FEATURES);
  app.require_subcommand(1);
  app.fallthrough();
  add_global_options(app, context);
  add_run(app, context);
  add_validate(app, context);
  add_plan(app, context);
  add_emulate(app, context);
  add_list(app, context);
  add_show(app, context);
  add_compare(app, context);
  add_tag(app, context);
  add_prune(app, context);
  add_export(app, context);
  add_report(app, context);
  add_fit(app, context);
  add_predict(app, context);
  add_advise(app, context);
  add_profile(app, context);
  add_codec(app, context);
  add_methods(app, context);
  add_reproduce(app, context);
  add_bench(app, context);
  add_calibrate(app, context);
  add_schema(app, context);
  add_params(app, context);
  add_doctor(app, context);
  add_gui(app, context);
  add_completion(app, context);
  add_man(app, context);
}

}  // namespace gradwire::cli
