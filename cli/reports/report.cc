#include "results/report/forms.h"

#include <cstdio>
#include <filesystem>

#include "base/file_descriptor.h"
#include "base/folder.h"
#include "cli/output/browser_pdf.h"
#include "cli/output/closing.h"
#include "cli/output/run_table.h"
#include "cli/reports/recipe.h"
#include "cli/reports/scalability.h"

namespace gradwire::cli {
namespace {

/// report.html becomes report.pdf beside it.
void print_page(const std::string& page, const Context& context) {
  const std::string pdf = std::filesystem::path(page).replace_extension(".pdf").string();
  write_pdf(page, pdf);
  context.say("printed: " + pdf);
}

using Form = std::string (*)(const results::Store&, std::span<const results::RunId>,
                             const results::ReportOptions&);

/// By the file's ending; without a file by --format. Null: the page.
Form form_of(const std::string& file, const Context& context) {
  const std::string ending = std::filesystem::path(file).extension().string();
  if (ending == ".md" || (file.empty() && context.markdown())) return results::report_markdown;
  if (ending == ".csv" || (file.empty() && context.format() == Format::kCsv))
    return results::report_csv;
  const bool json = context.format() == Format::kJson || context.format() == Format::kJsonl;
  return ending == ".json" || (file.empty() && json) ? results::report_json : nullptr;
}

/// Whether the report was asked for in another form than the page, and so written or printed.
bool write_other_form(const results::Store& store, std::span<const results::RunId> runs,
                      const ScalabilityArguments& arguments, const Context& context) {
  const Form form = form_of(arguments.out, context);
  if (!form || arguments.pdf) return false;
  const results::ReportOptions options =
      report_options(arguments.accuracy_options, arguments.prices);
  const std::string text = form(store, runs, options);
  if (arguments.out.empty()) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return true;
  }
  make_folder_of(arguments.out);
  write_file(arguments.out, text);
  context.say("report: " + arguments.out);
  return true;
}

void report_runs(const ScalabilityArguments& arguments, const Context& context) {
  if (std::filesystem::path(arguments.out).extension() == ".pdf")
    throw Error(ErrorKind::kUsage, "write", arguments.out, "a browser prints it from the page",
                "name the page, and add --pdf: -o report.html --pdf");
  const auto store = context.open_reader();
  std::vector<results::RunId> runs;
  for (const std::string& name : arguments.runs) runs.push_back(find_run(*store, name).id);
  if (arguments.runs.empty())
    for (const results::RunSummary& run : filtered_runs(*store, arguments.filter))
      if (results::has_ended(run.status)) runs.push_back(run.id);
  if (runs.empty())
    throw Error(ErrorKind::kFailure, "report on", context.database, "no finished run passes",
                "see gradwire list");
  if (!arguments.recipe.empty()) {
    const std::string page = report_recipe(arguments.recipe, runs, *store, arguments.out, context);
    if (arguments.pdf && !page.empty()) print_page(page, context);
    return;
  }
  if (write_other_form(*store, runs, arguments, context)) return;
  const std::string page = arguments.out.empty() ? "gradwire-report/report.html" : arguments.out;
  write_run_report(*store, runs, page, context,
                   report_options(arguments.accuracy_options, arguments.prices));
  if (arguments.pdf) print_page(page, context);
}

}  // namespace

void add_report(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("report", "Write a self-contained HTML report of stored runs");
  auto arguments = std::make_shared<ScalabilityArguments>();
  command->add_option("RUN", arguments->runs,
                      "Run numbers or tags (default: those that --filter passes)");
  command->add_option("--filter", arguments->filter, "Expression over run fields");
  command
      ->add_option("-o,--out", arguments->out,
                   "File to write (default: gradwire-report/report.html); the ending "
                   ".md, .csv or .json says another form; with --scalability a folder (default: "
                   "gradwire-report/scalability)")
      ->type_name("FILE");
  command->add_flag("--pdf", arguments->pdf,
                    "Print it, too, beside it, by a Chromium or Chrome of this machine");
  command
      ->add_option("--recipe", arguments->recipe,
                   "Answer one question instead: how much communication is hidden (overlap), which "
                   "links are full and whose flows (links), who is waited for (stragglers), up to "
                   "which rate compressing pays (break-even), who gets how much of the network "
                   "(fairness)")
      ->check(CLI::IsMember(recipe_names()));
  add_tolerance_option(*command, arguments->accuracy_options);
  add_scalability_options(*command, *arguments);
  command->footer(
      "Examples:\n  gradwire report --filter 'scenario=quickstart' -o quickstart.html\n"
      "  gradwire report --recipe links --filter 'scenario=sweep' -o links.csv\n"
      "  gradwire report --scalability scenarios/quickstart.json -o quickstart-report\n"
      "  gradwire report --scalability --filter 'method=none' --up-to 1024");
  command->callback([arguments, command, &context] {
    if (command->count("--scalability") == 0) return report_runs(*arguments, context);
    if (arguments->out.empty()) arguments->out = "gradwire-report/scalability";
    report_scalability(*arguments, context);
    if (arguments->pdf) print_page(arguments->out + "/report.html", context);
  });
}

}  // namespace gradwire::cli
