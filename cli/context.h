#pragma once
#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "results/store/store.h"

/// What every subcommand shares: global options, the exit code, the streams' rules (data on stdout,
/// everything else on stderr).
namespace gradwire::cli {

enum class Format { kText, kJson, kJsonl, kCsv };

struct Context {
  std::string database = "gradwire.db";
  std::string format_name = "text";
  std::string color = "auto";
  std::string progress = "auto";
  bool quiet = false;
  int verbose = 0;
  bool no_input = false;
  bool wide = false;
  int exit_code = 0;

  Format format() const;
  /// Text for Markdown files: whole tables, no colours.
  bool markdown() const { return format_name == "markdown"; }
  /// NO_COLOR beats CLICOLOR_FORCE beats CLICOLOR beats the terminal test; --color beats all.
  bool use_color(int fd) const;
  /// `text` in bold, line by line, where colour goes to `fd`; else as it is.
  std::string emphasised(const std::string& text, int fd) const;
  /// "gradwire:" before an error on stderr.
  std::string error_prefix() const;
  /// Whether a person may be asked: not with --no-input, nor where stdin or stderr is no terminal.
  bool may_ask() const;
  /// Asks on stderr; true for "y" or "yes".
  bool agrees(const std::string& question) const;
  /// Columns that a table on stdout may take: COLUMNS, else the terminal's, else 80, so that what
  /// goes to a file or a pipe reads as on an ordinary terminal. 0 = any number: with --wide and
  /// with --format markdown.
  std::size_t page_width() const;
  bool use_progress_bar() const;
  std::unique_ptr<results::Store> open_reader() const;
  std::unique_ptr<results::Store> open_writer() const;
  /// Where runs that write to the database keep their checkpoints.
  std::string checkpoint_folder() const { return database + ".checkpoints"; }
  /// Where they keep what does not fit into memory: the database's folder.
  std::string states_folder() const;
  /// A message for the user on stderr, unless --quiet.
  void say(const std::string& message) const;
  /// The same for sentences, broken to the width that tables on stdout take.
  void say_wrapped(const std::string& sentences) const;
};

// One function a subcommand, in the file of its name.
void add_run(CLI::App& app, Context& context);
void add_emulate(CLI::App& app, Context& context);
void add_evaluate(CLI::App& app, Context& context);
void add_validate(CLI::App& app, Context& context);
void add_plan(CLI::App& app, Context& context);
void add_list(CLI::App& app, Context& context);
void add_show(CLI::App& app, Context& context);
void add_compare(CLI::App& app, Context& context);
void add_tag(CLI::App& app, Context& context);
void add_task(CLI::App& app, Context& context);
void add_torch(CLI::App& app, Context& context);
void add_prune(CLI::App& app, Context& context);
void add_merge(CLI::App& app, Context& context);
void add_export(CLI::App& app, Context& context);
void add_report(CLI::App& app, Context& context);
void add_query(CLI::App& app, Context& context);
void add_fit(CLI::App& app, Context& context);
void add_predict(CLI::App& app, Context& context);
void add_advise(CLI::App& app, Context& context);
void add_profile(CLI::App& app, Context& context);
void add_codec(CLI::App& app, Context& context);
void add_methods(CLI::App& app, Context& context);
void add_bench(CLI::App& app, Context& context);
void add_calibrate(CLI::App& app, Context& context);
void add_reproduce(CLI::App& app, Context& context);
void add_check(CLI::App& app, Context& context);
void add_schema(CLI::App& app, Context& context);
void add_params(CLI::App& app, Context& context);
void add_doctor(CLI::App& app, Context& context);
void add_gui(CLI::App& app, Context& context);
void add_completion(CLI::App& app, Context& context);
void add_man(CLI::App& app, Context& context);

}  // namespace gradwire::cli
