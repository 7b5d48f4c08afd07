#include "cli/help/reference.h"

#include "cli/help/option_text.h"

namespace gradwire::cli {
namespace {

constexpr const char* kHead = R"(# The command line

<!-- Written by `gradwire man --format markdown`; a test compares this page with it. -->

Each command's `--help` shows what follows here. Data go to standard output, everything else to
standard error.

## Tables

A table fits the page: the columns that the variable `COLUMNS` names, else the terminal's, else 80, so
that output to a file or a pipe is what an ordinary terminal shows. Where the page is too narrow, long
texts go on in further lines; then columns are left out, the least important first, and a line below
the table names them. `--wide` shows every column, and so does `--format markdown`, in lines that a
Markdown file can take. `--format json`, `jsonl` and `csv` always have every column and the full
precision; units are in the names (`step_time_s`).

`--format json` prints one document: `{"schema_version": 1, "rows": [...]}`, or, where something
fails, `{"schema_version": 1, "type": "error", "exit_code": 2, "message": "...", "suggestion": "..."}`
(`suggestion` only where a name is near to what was written).

## Where a value comes from

The later one wins: default, scenario file, environment, `--set`, option. `gradwire run FILE
--print-config` shows every value and its origin.

| in the environment | is |
|---|---|
| `GRADWIRE_DB=runs.db` | `--db runs.db`; the same for each option with a variable below |
| `GRADWIRE_SET_CLUSTER__WORKERS=8` | `--set /cluster/workers=8`, in every command that reads a scenario |

In `GRADWIRE_SET_...`, `__` stands between the keys of a field. A name without small letters is read in
small letters, as fields are written; any other name is taken as it is.

Colours follow `--color`; with `auto`, `NO_COLOR` turns them off, else `CLICOLOR_FORCE` turns them on,
else `CLICOLOR=0` turns them off, else a terminal has them. `prune` is the one command that asks before
it acts, only on a terminal and not with `--no-input`.

## Exit codes

| code | meaning |
|---:|---|
| 0 | done, all runs succeeded |
| 1 | a run or command failed |
| 2 | wrong usage |
| 3 | scenario invalid |
| 4 | finished, but some runs failed or diverged |
| 5 | a needed capability is missing (CUDA, ns-3, privilege) |
| 6 | results database unusable (locked, newer version, damaged) |
| 7 | a bar, a pass mark or a gate failed |
| 130, 143 | interrupted, terminated; what was done is kept |

## Global options

)";

/// A cell of a table: a bar and what looks like HTML are escaped.
std::string cell(const std::string& text) {
  std::string out;
  for (const char c : text)
    out += c == '|' ? "\\|" : c == '<' ? "&lt;" : c == '\n' ? " " : std::string(1, c);
  return out;
}

std::string option_rows(const CLI::App& command) {
  std::string text;
  for (const CLI::Option* option : options_of(command))
    text += "| `" + cell(option_title(*option)) + "` | " + cell(option_help(*option)) + " |\n";
  return text.empty() ? text : "| option | meaning |\n|---|---|\n" + text + "\n";
}

void add_command(const CLI::App& command, const std::string& parents, std::string& text) {
  const std::string name = parents + " " + command.get_name();
  text += "## " + name + "\n\n" + command.get_description() + ".\n\n" + option_rows(command);
  if (!command.get_footer().empty()) text += "```text\n" + command.get_footer() + "\n```\n\n";
  for (const CLI::App* child : commands_of(command)) add_command(*child, name, text);
}

}  // namespace

std::string reference_page(const CLI::App& app) {
  std::string text = kHead + option_rows(app);
  for (const CLI::App* command : commands_of(app)) add_command(*command, app.get_name(), text);
  text.pop_back();  // one line end at the end
  return text;
}

}  // namespace gradwire::cli
