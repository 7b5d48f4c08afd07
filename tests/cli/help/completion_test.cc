#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <sstream>

#include "base/file_descriptor.h"
#include "tests/cli/program.h"

using namespace gradwire;
using namespace gradwire::testing;
using Words = std::vector<std::string>;

namespace {

/// Each command, " codec list" ("" is the program), with the options that its --help lists.
using Commands = std::map<std::string, std::set<std::string>>;

Words words_of(const std::string& text) {
  std::istringstream in(text);
  Words words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

/// "-h" and "--help" of "  -h, --help   Print ...": its words up to the first that names no option.
void add_options(const std::string& line, std::set<std::string>& options) {
  for (std::string word : words_of(line)) {
    const bool goes_on = word.ends_with(",");
    if (goes_on) word.pop_back();
    if (!word.starts_with("-")) return;
    options.insert(word);
    if (!goes_on) return;
  }
}

void walk(const std::string& path, Commands& commands) {
  Words arguments = words_of(path);
  arguments.push_back("--help");
  std::istringstream help(run_program(arguments).out);
  std::set<std::string>& options = commands[path];
  Words below;
  bool names = false;
  for (std::string line; std::getline(help, line);) {
    if (line.starts_with("  -")) add_options(line, options);
    if (line.empty()) names = false;
    if (names && line.starts_with("  ") && line[2] != ' ') below.push_back(words_of(line)[0]);
    if (line == "Subcommands:") names = true;
  }
  for (const std::string& name : below) walk(path + " " + name, commands);
}

const Commands& commands() {
  static const Commands all = [] {
    Commands found;
    walk("", found);
    return found;
  }();
  return all;
}

/// What bash offers after each command for a word that begins with a hyphen, by its completion
/// function itself.
Commands completed_by_bash(const std::string& script) {
  const TemporaryFolder folder;
  write_file(folder.file("completion"), script);
  std::string paths;
  for (const auto& [path, options] : commands()) paths += path + "\n";
  write_file(folder.file("paths"), paths);
  write_file(folder.file("ask"), R"(source "$1"
while IFS= read -r path; do
  COMP_WORDS=(gradwire $path -); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMPREPLY=()
  _gradwire
  echo "$path|${COMPREPLY[*]}"
done < "$2")");
  const Result result = run_program({}, "exec bash " + folder.file("ask") + " " +
                                            folder.file("completion") + " " + folder.file("paths"));
  CHECK(result.err.empty());
  Commands completed;
  std::istringstream lines(result.out);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t bar = line.find('|');
    for (const std::string& word : words_of(line.substr(bar + 1)))
      completed[line.substr(0, bar)].insert(word);
  }
  return completed;
}

/// Options of the lines `complete -c gradwire -n '__gradwire_at "PATH"' -l name -s n`.
Commands completed_by_fish(const std::string& script) {
  Commands completed;
  const std::string start = "complete -c gradwire", condition = " -n '__gradwire_at \"";
  std::istringstream lines(script);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(start)) continue;
    std::string rest = line.substr(start.size()), path;
    if (rest.starts_with(condition)) {
      const std::size_t end = rest.find('"', condition.size());
      path = rest.substr(condition.size(), end - condition.size());
      rest = rest.substr(end + 2);
    }
    const Words words = words_of(rest.substr(0, rest.find(" -d ")));
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
      if (words[i] == "-l") completed[path].insert("--" + words[i + 1]);
      if (words[i] == "-s") completed[path].insert("-" + words[i + 1]);
    }
  }
  return completed;
}

/// Options that the manual page names in bold below a command's heading.
Commands in_manual(const std::string& roff) {
  Commands named;
  std::string path;
  std::istringstream lines(roff);
  for (std::string line; std::getline(lines, line);) {
    std::string plain;
    for (const char c : line)
      if (c != '\\') plain += c;
    if (plain.starts_with(".SS ")) path = " " + plain.substr(4);
    if (plain.starts_with(".SH ")) path.clear();
    if (plain.starts_with(".B -")) add_options(plain.substr(3), named[path]);
  }
  return named;
}

/// "codec list --x" for each option that is missing. The program's own may stand at the program
/// alone.
Words missing(const Commands& wanted, const Commands& found) {
  Words lines;
  const auto has = [&](const std::string& path, const std::string& option) {
    const auto at = found.find(path);
    return at != found.end() && at->second.count(option) == 1;
  };
  for (const auto& [path, options] : wanted)
    for (const std::string& option : options) {
      const bool everywhere = option == "--help" || option == "-h";
      if (!has(path, option) && !(everywhere && has("", option)))
        lines.push_back(path + " " + option);
    }
  return lines;
}

/// Those of which the manual page speaks; every command's --help is not described again.
Commands without_help() {
  Commands wanted = commands();
  for (auto& [path, options] : wanted) {
    options.erase("--help");
    options.erase("-h");
  }
  return wanted;
}

/// The script without one word.
std::string without(std::string text, const std::string& word) {
  const std::size_t at = text.find(word);
  REQUIRE(at != std::string::npos);
  return text.erase(at, word.size());
}

}  // namespace

TEST_CASE("the walk finds commands below commands, with their options", "[unit]") {
  // Whatever else there is: two levels, and options of both.
  REQUIRE(commands().count(" codec encode") == 1);
  REQUIRE(commands().count(" bench codecs") == 1);
  CHECK(commands().at(" codec encode").count("--help") == 1);
  CHECK(commands().at(" run").count("--executor") == 1);
  CHECK(commands().at("").count("--db") == 1);
  CHECK(commands().size() > 40);
}

TEST_CASE("bash, zsh and fish complete every option of every command", "[unit]") {
  const std::string bash = run_program({"completion", "bash"}).out;
  CHECK(missing(commands(), completed_by_bash(bash)) == Words{});
  // zsh takes bash's function.
  CHECK_THAT(run_program({"completion", "zsh"}).out,
             Catch::StartsWith("#compdef gradwire\n") && Catch::EndsWith(bash));
  const std::string fish = run_program({"completion", "fish"}).out;
  CHECK(missing(commands(), completed_by_fish(fish)) == Words{});

  // Negative control: a script that lacks one option of a nested command is found out, by name.
  const std::size_t words = bash.find("\" codec inspect\") words=");
  REQUIRE(words != std::string::npos);
  const std::string less = bash.substr(0, words) + without(bash.substr(words), " --mask");
  CHECK(missing(commands(), completed_by_bash(less)) == Words{" codec inspect --mask"});
  const std::size_t line = fish.find("'__gradwire_at \" codec inspect\"' -l mask");
  REQUIRE(line != std::string::npos);
  const std::string less_fish = fish.substr(0, line) + without(fish.substr(line), " -l mask");
  CHECK(missing(commands(), completed_by_fish(less_fish)) == Words{" codec inspect --mask"});
}

TEST_CASE("the manual page names every option below its command", "[unit]") {
  const std::string roff = run_program({"man"}).out;
  CHECK(missing(without_help(), in_manual(roff)) == Words{});
  // Negative control: options of the page below another command's heading do not count.
  const std::size_t heading = roff.find(".SS codec inspect\n");
  REQUIRE(heading != std::string::npos);
  const std::string moved = roff.substr(0, heading) + roff.substr(heading + 18);
  const Words lost = missing(without_help(), in_manual(moved));
  CHECK(std::count(lost.begin(), lost.end(), " codec inspect --mask") == 1);
}
