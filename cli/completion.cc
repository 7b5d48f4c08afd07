#include <cstdio>
#include <string>
#include <vector>

#include "cli/context.h"

namespace gradwire::cli {
namespace {

std::vector<std::string> option_names(const CLI::App* app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app->get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::vector<std::string> command_names(const CLI::App* app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app->get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  return names;
}

/// Words after a subcommand: its own subcommands and options, then the global options.
std::string words_of(const CLI::App* command, const CLI::App* root) {
  return joined(command_names(command)) + " " + joined(option_names(command)) + " " +
         joined(option_names(root));
}

std::string bash_script(const CLI::App* root) {
  std::string cases;
  for (const CLI::App* command : root->get_subcommands([](const CLI::App*) { return true; }))
    cases += "    " + command->get_name() + ") words=\"" + words_of(command, root) + "\" ;;\n";
  return "# bash completion for gradwire: source this file\n"
         "_gradwire() {\n"
         "  local current=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} words\n"
         "  if [[ $COMP_CWORD -eq 1 ]]; then\n"
         "    words=\"" +
         joined(command_names(root)) + " " + joined(option_names(root)) +
         "\"\n"
         "  else case $command in\n" +
         cases +
         "    *) words= ;;\n  esac; fi\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
         "  [[ $current == -* || $COMP_CWORD -eq 1 ]] || COMPREPLY+=($(compgen -f -- "
         "\"$current\"))\n"
         "}\ncomplete -o filenames -F _gradwire gradwire ./gradwire\n";
}

std::string zsh_script(const CLI::App* root) {
  return "#compdef gradwire\nautoload -U +X bashcompinit && bashcompinit\n" + bash_script(root);
}

std::string fish_script(const CLI::App* root) {
  std::string text = "# fish completion for gradwire\n";
  for (const CLI::App* command : root->get_subcommands([](const CLI::App*) { return true; })) {
    text += "complete -c gradwire -n __fish_use_subcommand -a " + command->get_name() + " -d '" +
            command->get_description() + "'\n";
    for (const CLI::Option* option : command->get_options())
      for (const std::string& name : option->get_lnames())
        text += "complete -c gradwire -n '__fish_seen_subcommand_from " + command->get_name() +
                "' -l " + name + " -d '" + option->get_description() + "'\n";
  }
  return text;
}

}  // namespace

void add_completion(CLI::App& app, Context&) {
  CLI::App* command = app.add_subcommand("completion", "Print a shell completion script");
  auto shell = std::make_shared<std::string>("bash");
  command->add_option("SHELL", *shell, "bash, zsh or fish")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}))
      ->required();
  command->footer("Example:\n  source <(gradwire completion bash)");
  command->callback([&app, shell] {
    const std::string text = *shell == "bash"  ? bash_script(&app)
                             : *shell == "zsh" ? zsh_script(&app)
                                               : fish_script(&app);
    std::fputs(text.c_str(), stdout);
  });
}

}  // namespace gradwire::cli
