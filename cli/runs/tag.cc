#include <algorithm>

#include "cli/application.h"
#include "cli/output/run_table.h"
#include "runner/checkpoints/checkpoint.h"

namespace gradwire::cli {
namespace {

/// Those that no unfinished run of the database can go on from.
void remove_idle_checkpoints(const results::Store& store, const Context& context) {
  const std::vector<results::RunSummary> runs = store.runs();
  const int removed = runner::remove_checkpoints(
      context.checkpoint_folder(), [&](const std::string& hash, std::uint64_t seed) {
        return std::ranges::any_of(runs, [&](const results::RunSummary& run) {
          return run.header.scenario_hash == hash && run.header.seed == seed &&
                 !results::has_ended(run.status);
        });
      });
  if (removed > 0)
    context.say("checkpoints of unfinished runs removed: " + std::to_string(removed));
}

}  // namespace

void add_tag(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("tag", "Name runs, so that they can be found and kept");
  struct Arguments {
    std::string tag;
    std::vector<std::string> runs;
    bool remove = false;
  };
  auto arguments = std::make_shared<Arguments>();
  command->add_option("TAG", arguments->tag, "The name")->required()->check(refuse_empty);
  command->add_option("RUN", arguments->runs, "Run numbers or tags")->required();
  command->add_flag("--remove", arguments->remove, "Take the tag off");
  command->footer("Example:\n  gradwire tag baseline 12");
  command->callback([arguments, &context] {
    const auto store = context.open_writer();
    for (const std::string& name : arguments->runs)
      store->tag(find_run(*store, name).id, arguments->tag, !arguments->remove);
  });
}

void add_prune(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("prune", "Remove runs from the database (tagged runs stay)");
  struct Arguments {
    std::string filter;
    bool yes = false;
  };
  auto arguments = std::make_shared<Arguments>();
  command
      ->add_option("--filter", arguments->filter,
                   "Which runs, such as 'status=partial'; 'id>0' is all of them")
      ->required()
      ->check(refuse_empty);
  command->add_flag("--yes", arguments->yes,
                    "Remove them without asking (where nobody can be asked, they are only listed)");
  command->footer("Example:\n  gradwire prune --filter 'status=failed' --yes");
  command->callback([arguments, &context] {
    const auto store = context.open_writer();
    std::vector<results::RunSummary> doomed;
    for (results::RunSummary& run : filtered_runs(*store, arguments->filter))
      if (run.tags.empty()) doomed.push_back(std::move(run));
    run_table(doomed, context).print(context, "run");
    if (doomed.empty()) return context.say("no run without a tag passes");
    const std::string count =
        std::to_string(doomed.size()) + (doomed.size() == 1 ? " run" : " runs");
    if (!arguments->yes && !context.may_ask())
      return context.say(count + " would be removed; add --yes to do it");
    if (!arguments->yes && !context.agrees("remove " + count + "?"))
      return context.say("nothing is removed");
    for (const results::RunSummary& run : doomed) store->remove_run(run.id);
    context.say(count + " removed");
    remove_idle_checkpoints(*store, context);
  });
}

}  // namespace gradwire::cli
