#include <filesystem>

#include "base/error.h"
#include "cli/output/table.h"

namespace gradwire::cli {
namespace {

/// Before a target is made for what cannot be merged.
void require_files(const std::vector<std::string>& sources) {
  std::error_code ignored;
  for (const std::string& source : sources)
    if (!std::filesystem::exists(source, ignored))
      throw results::StoreError("merge", source, "there is no such file",
                                "check its name; nothing has been merged");
}

std::string runs_in_words(std::int64_t count) {
  return std::to_string(count) + (count == 1 ? " run" : " runs");
}

/// What is left to do, or to know, about a source.
void say_what_stays(const std::string& source, const results::MergeCounts& counts,
                    const Context& context) {
  if (counts.running > 0)
    context.say(source + ": " + runs_in_words(counts.running) +
                " still running, left out; merge it again when they have ended");
  if (counts.partial > 0)
    context.say(source + ": " + runs_in_words(counts.partial) +
                " partial; their checkpoints stay beside it, and run --resume --db " + source +
                " goes on from them");
}

Table merged_table() {
  return Table({{"name", "database", Column::Style::kPlain, Importance::kKey},
                {.name = "added", .importance = Importance::kKey},
                {.name = "replaced"},
                {"present", "there already"},
                {"running", "still running, left out", Column::Style::kPlain, Importance::kLow}});
}

void merge(const std::vector<std::string>& sources, const Context& context) {
  require_files(sources);
  std::error_code unknown;
  const bool is_new = !std::filesystem::exists(context.database, unknown);
  std::unique_ptr<results::Store> target = context.open_writer();
  Table table = merged_table();
  std::string merged;
  for (const std::string& source : sources) {
    results::MergeCounts counts;
    try {
      counts = target->merge(source).counts;
    } catch (const results::StoreError&) {
      if (!merged.empty()) context.say("merged before that, and kept: " + merged);
      target.reset();
      if (is_new && merged.empty()) std::filesystem::remove(context.database, unknown);
      throw;
    }
    merged += (merged.empty() ? "" : ", ") + source;
    table.add({source, counts.added, counts.replaced, counts.present, counts.running});
    say_what_stays(source, counts, context);
  }
  table.print(context);
}

}  // namespace

void add_merge(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("merge", "Put the runs of other results databases into one");
  auto sources = std::make_shared<std::vector<std::string>>();
  command->add_option("DATABASE", *sources, "Databases to read; they stay as they are")
      ->required()
      ->type_name("");
  command->footer(
      "The runs go into the database that --db names, each once: merging again adds nothing, and "
      "replaces\nruns that were unfinished and have come further since. Runs that are still "
      "running "
      "are left out.\n"
      "Example:\n  gradwire merge node1.db node2.db --db all.db");
  command->callback([sources, &context] { merge(*sources, context); });
}

}  // namespace gradwire::cli
