#include "cli/output/run_table.h"

namespace gradwire::cli {

void add_list(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("list", "List the runs in the results database");
  auto filter = std::make_shared<std::string>();
  command->add_option("--filter", *filter,
                      "Expression over run fields, such as 'method=topk and workers>=4'");
  command->footer(
      "Examples:\n  gradwire list\n"
      "  gradwire list --filter 'final_accuracy>0.9 and traffic_ratio<0.1'");
  command->callback([filter, &context] {
    const auto store = context.open_reader();
    run_table(filtered_runs(*store, *filter), context).print(context, "run");
  });
}

}  // namespace gradwire::cli
