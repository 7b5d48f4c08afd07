#include <cstdio>
#include <string>
#include <vector>

#include "base/joined_texts.h"
#include "cli/help/option_text.h"

namespace gradwire::cli {
namespace {

std::vector<std::string> option_names(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  return names;
}

std::string option_words(const CLI::App& command) {
  std::vector<std::string> words = {"--help", "-h"};
  for (const CLI::Option* option : options_of(command))
    for (const std::string& name : option_names(*option)) words.push_back(name);
  return joined_texts(words, " ");
}

std::string command_words(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* child : commands_of(command)) names.push_back(child->get_name());
  return joined_texts(names, " ");
}

/// The cases of a bash script for a command and those below it; `path` is " codec list".
struct BashCases {
  std::string paths;   ///< which words are commands
  std::string words;   ///< what may follow a command
  std::string values;  ///< what may follow an option of a few values
};

void add_cases(const CLI::App& command, const std::string& path, const std::string& global_words,
               BashCases& cases) {
  const bool root = path.empty();
  cases.words += "    \"" + path + "\") words=\"" + command_words(command) + " " +
                 option_words(command) + (root ? "" : " " + global_words) + "\" ;;\n";
  for (const CLI::Option* option : options_of(command)) {
    const std::string choices = joined_texts(option_choices(*option), " ");
    if (choices.empty()) continue;
    for (const std::string& name : option_names(*option))
      cases.values += "    \"" + path + "\"" + (root ? "*" : "") + "\" " + name + "\") values=\"" +
                      choices + "\" ;;\n";
  }
  for (const CLI::App* child : commands_of(command)) {
    const std::string below = path + " " + child->get_name();
    cases.paths += (cases.paths.empty() ? "" : "|") + ("\"" + below + "\"");
    add_cases(*child, below, global_words, cases);
  }
}

std::string bash_script(const CLI::App& root) {
  BashCases cases;
  add_cases(root, "", option_words(root), cases);
  return "# bash completion for gradwire: source this file\n"
         "_gradwire() {\n"
         "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
         "  local path= words= values= i\n"
         "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
         "    case \"$path ${COMP_WORDS[i]}\" in\n"
         "      " +
         cases.paths +
         ") path=\"$path ${COMP_WORDS[i]}\" ;;\n"
         "    esac\n  done\n"
         "  case \"$path $previous\" in\n" +
         cases.values +
         "  esac\n"
         "  if [[ -n $values ]]; then COMPREPLY=($(compgen -W \"$values\" -- \"$current\")); "
         "return; "
         "fi\n"
         "  case \"$path\" in\n" +
         cases.words +
         "  esac\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
         "  [[ $current == -* || -z $path ]] || COMPREPLY+=($(compgen -f -- \"$current\"))\n"
         "}\ncomplete -o filenames -F _gradwire gradwire ./gradwire\n";
}

std::string zsh_script(const CLI::App& root) {
  return "#compdef gradwire\nautoload -U +X bashcompinit && bashcompinit\n" + bash_script(root);
}

/// For single quotes of fish.
std::string fish_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += (c == '\'' || c == '\\' ? "\\" : "") + std::string(1, c);
  return out + "'";
}

/// Whether the command typed so far is `path`, " codec list".
std::string fish_condition(const std::string& path) {
  return fish_quoted("__gradwire_at \"" + path + "\"");
}

void add_fish_lines(const CLI::App& command, const std::string& condition, std::string& text) {
  const std::string start = "complete -c gradwire" + condition;
  for (const CLI::Option* option : options_of(command)) {
    std::string names;
    for (const std::string& name : option->get_lnames()) names += " -l " + name;
    for (const std::string& name : option->get_snames()) names += " -s " + name;
    if (names.empty()) continue;
    const std::string choices = joined_texts(option_choices(*option), " ");
    if (!choices.empty()) names += " -x -a " + fish_quoted(choices);
    text += start + names + " -d " + fish_quoted(option->get_description()) + "\n";
  }
}

/// " codec list": the words of a command and those above it.
void add_fish_commands(const CLI::App& parent, const std::string& above, std::string& text) {
  for (const CLI::App* command : commands_of(parent)) {
    const std::string path = above + " " + command->get_name();
    text += "complete -c gradwire -n " + fish_condition(above) + " -f -a " + command->get_name() +
            " -d " + fish_quoted(command->get_description()) + "\n";
    add_fish_lines(*command, " -n " + fish_condition(path), text);
    add_fish_commands(*command, path, text);
  }
}

void add_paths(const CLI::App& parent, const std::string& above, std::string& text) {
  for (const CLI::App* command : commands_of(parent)) {
    const std::string path = above + " " + command->get_name();
    text += " " + fish_quoted(path);
    add_paths(*command, path, text);
  }
}

/// Some names are commands of two others (list, codec list): which one is typed is found as bash
/// does.
std::string fish_script(const CLI::App& root) {
  std::string paths;
  add_paths(root, "", paths);
  std::string text =
      "# fish completion for gradwire\n"
      "function __gradwire_at\n"
      "  set -l path ''\n"
      "  for word in (commandline -opc)[2..-1]\n"
      "    contains -- \"$path $word\"" +
      paths +
      "; and set path \"$path $word\"\n"
      "  end\n"
      "  test \"$path\" = \"$argv\"\n"
      "end\n"
      "complete -c gradwire -l help -s h -d 'Print this help message and exit'\n";
  add_fish_lines(root, "", text);
  add_fish_commands(root, "", text);
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
    const std::string text = *shell == "bash"  ? bash_script(app)
                             : *shell == "zsh" ? zsh_script(app)
                                               : fish_script(app);
    std::fputs(text.c_str(), stdout);
  });
}

}  // namespace gradwire::cli
