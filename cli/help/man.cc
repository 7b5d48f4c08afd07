#include <cstdio>
#include <string>

#include "cli/help/option_text.h"
#include "cli/help/reference.h"
#include "runner/record/provenance.h"

namespace gradwire::cli {
namespace {

/// roff: a leading dot or quote is a request, a backslash an escape, a hyphen a minus.
std::string escaped(const std::string& text) {
  std::string out;
  bool line_start = true;
  for (const char c : text) {
    if (line_start && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
    line_start = c == '\n';
  }
  return out;
}

std::string options_text(const CLI::App& app) {
  std::string text;
  for (const CLI::Option* option : options_of(app))
    text +=
        ".TP\n.B " + escaped(option_title(*option)) + "\n" + escaped(option_help(*option)) + "\n";
  return text;
}

std::string command_text(const CLI::App& command, const std::string& prefix) {
  const std::string name = prefix + command.get_name();
  std::string text = ".SS " + escaped(name) + "\n" + escaped(command.get_description()) + "\n" +
                     options_text(command);
  if (!command.get_footer().empty())
    text += ".PP\n.nf\n" + escaped(command.get_footer()) + "\n.fi\n";
  for (const CLI::App* child : commands_of(command)) text += command_text(*child, name + " ");
  return text;
}

std::string manual_page(const CLI::App& app) {
  std::string text = ".TH GRADWIRE 1 \"\" \"gradwire " + escaped(runner::program_version()) +
                     "\"\n.SH NAME\ngradwire \\- " + escaped(app.get_description()) +
                     "\n.SH SYNOPSIS\n.B gradwire\n[OPTIONS] COMMAND [ARGS]\n.SH OPTIONS\n" +
                     options_text(app) + ".SH COMMANDS\n";
  for (const CLI::App* child : commands_of(app)) text += command_text(*child, "");
  return text + ".SH EXAMPLES, ENVIRONMENT AND EXIT CODES\n.nf\n" + escaped(app.get_footer()) +
         "\n.fi\n";
}

}  // namespace

void add_man(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "man", "Print the manual page (roff, for man -l -), or docs/commands.md (--format markdown)");
  command->callback([&app, &context] {
    const std::string text = context.markdown() ? reference_page(app) : manual_page(app);
    std::fputs(text.c_str(), stdout);
  });
}

}  // namespace gradwire::cli
