#include "tests/cli/help/page.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <sstream>

#include "base/file_descriptor.h"
#include "base/text_width.h"
#include "tests/cli/program.h"
#include "tests/trainers/replays/recorded_text.h"

using namespace gradwire;
using namespace gradwire::testing;
using Catch::Contains;
using Arguments = std::vector<std::string>;

namespace {

constexpr std::size_t kPage = 80;
constexpr int kNoCapability = 5, kBarMissed = 7;

/// A command line that prints a table; `steady`: twice the same figures.
struct Case {
  std::string command;  ///< "codec list"
  Arguments rest = {};
  bool steady = true;
};

/// Commands that print no table of their own.
const std::map<std::string, std::string> kWithoutTable = {
    {"validate", "sentences, and problems on stderr"},
    {"tag", "nothing"},
    {"task", "sentences for a batch job's file"},
    {"export", "data for other programs"},
    {"report", "a file's path"},
    {"schema", "JSON"},
    {"completion", "a script"},
    {"man", "roff"},
    {"gui", "a window"},
    {"codec decode", "binary data"},
    {"bench training", "as bench codecs"},
    {"bench methods", "as bench codecs"},
    {"bench flow", "as bench codecs"},
    {"bench packet", "as bench codecs"},
    {"bench fidelity", "as bench codecs"},
    {"bench cliffs", "as bench codecs"},
    {"bench prediction", "as bench codecs"},
    {"bench predict", "as bench codecs"},
    {"bench advice", "as bench codecs"},
    {"bench report", "as bench codecs"},
    {"bench gui", "as bench codecs"},
    {"bench measured", "as bench codecs"},
    {"bench emulation", "as bench codecs"}};

/// Names below a heading of --help.
Arguments listed_commands(const Arguments& command) {
  Arguments help = command;
  help.push_back("--help");
  const Result result = run_program(help);
  REQUIRE(result.exit_code == 0);
  Arguments names;
  std::istringstream lines(
      result.out.substr(std::min(result.out.find("Subcommands:\n"), result.out.size())));
  for (std::string line; std::getline(lines, line) && (names.empty() || !line.empty());)
    if (line.size() > 2 && line[0] == ' ' && line[2] != ' ')
      names.push_back(line.substr(2, line.find(' ', 2) - 2));
  return names;
}

/// "list", "codec encode", ...: all that do something.
std::vector<std::string> all_commands(const Arguments& above = {}) {
  std::vector<std::string> all;
  for (const std::string& name : listed_commands(above)) {
    Arguments path = above;
    path.push_back(name);
    const std::vector<std::string> below = all_commands(path);
    std::string text;
    for (const std::string& word : path) text += (text.empty() ? "" : " ") + word;
    if (below.empty()) all.push_back(text);
    all.insert(all.end(), below.begin(), below.end());
  }
  return all;
}

/// A hyphen is a minus there.
std::string in_roff(std::string text) {
  for (std::size_t dash = 0; (dash = text.find('-', dash)) != std::string::npos; dash += 2)
    text.replace(dash, 1, "\\-");
  return text;
}

Arguments words_of(const std::string& command) {
  Arguments words;
  std::istringstream text(command);
  for (std::string word; text >> word;) words.push_back(word);
  return words;
}

/// A database and files with names and figures as long as they come.
class Prepared {
 public:
  Prepared() {
    write_file(file("long.json"), R"({"schema_version": 1,
      "name": "a-scenario-with-a-name-that-takes-more-than-half-of-a-line",
      "workload": {"profile": "alexnet", "steps": 3}, "cluster": {"device": "v100"},
      "method": {"name": "none"},
      "network": {"topology": "star", "link": {"bandwidth": "10Gbps", "delay": "10us"}},
      "seeds": [1, 2], "sweep": {"/cluster/workers": [2, 4],
        "/method": [{"name": "none"}, {"name": "topk", "ratio": 0.001}]},
      "expected": {"checks": [{"metric": "step_time_s", "min": 0}]}})");
    write_file(file("recorded.jsonl"), recorded());
    write_file(file("values.f32"), std::string(4 * 1000, '\1'));
    write_file(file("trained.json"), R"({"schema_version": 1, "name": "trained",
      "workload": {"model": "char-lstm", "data": {"set": "markov", "tokens": 640},
                   "batch_per_worker": 4, "steps": 2},
      "cluster": {"workers": 2, "device": "reference-cpu"},
      "method": {"name": "admm", "straight_through": true}})");
    run_program({"run", file("trained.json"), "--db", file("trained.db"), "--no-report", "-q",
                 "--models", file("models")});  // where this build trains
    REQUIRE(run_program({"run", file("long.json"), "--db", db(), "--no-report", "-q"}).exit_code ==
            0);
    REQUIRE(run_program({"run", file("long.json"), "--seed", "3", "--db", file("other.db"),
                         "--no-report", "-q"})
                .exit_code == 0);
    REQUIRE(run_program(
                {"codec", "encode", "topk", "-i", file("values.f32"), "-o", file("values.grwf")})
                .exit_code == 0);
  }
  /// Two ranks, three steps, on a machine whose rate is known.
  static std::string recorded() {
    RecordedText text(2);
    for (int step = 0; step < 3; ++step)
      for (int rank = 0; rank < 2; ++rank) {
        text.call(rank, 0.001, members("all-reduce", 100'000, ",\"o\":\"sum\""));
        text.step(rank);
      }
    std::string lines = text.text();
    return lines.insert(lines.find('}'), R"(,"flops_per_s":9.7e10)");
  }
  std::string file(const std::string& name) const { return folder_.file(name); }
  std::string db() const { return file("runs.db"); }

  std::vector<Case> cases() const {
    const std::string scenario = file("long.json");
    return {{"run", {scenario, "--resume", "--no-report"}},
            {"check", {scenario}},
            {"plan", {scenario}},
            {"emulate",
             {scenario, "--set", "/seeds=[1]", "--set", "/workload/steps=1", "--no-report"},
             false},
            {"torch", {"--network", "lan", "--replay", file("recorded.jsonl"), "--no-report"}},
            {"torch",
             {"--network", "lan", "--replay", file("recorded.jsonl"), "--no-report", "--compute",
              "profile=v100"}},
            {"evaluate", {file("trained.json"), file("models/run-1.grwm")}},
            {"list"},
            {"show", {"1"}},
            {"query", {"SELECT run, scenario, method, step_time_s, error FROM v_runs"}},
            {"compare", {"1", "3", "8"}},
            {"compare", {"--executors", "flow,model", scenario, "-o", file("executors")}},
            {"prune", {"--filter", "workers>1"}},
            {"fit", {}},
            {"fit", {"--residuals"}},
            {"predict", {scenario}},
            {"predict",
             {scenario, "--solve", "bandwidth", "--target", "efficiency>=0.5", "--unchecked"}},
            {"advise", {"--closed-form", "--workers", "4,8"}},
            {"advise", {"--closed-form", "--show", "ranking", "--workers", "4"}},
            {"advise", {"--closed-form", "--show", "crossover", "--workers", "4"}},
            {"advise", {"--closed-form", "--show", "cost", "--workers", "4", "--gpu-hour", "2.5"}},
            {"profile", {"mlp", "--counts"}, false},
            {"codec list"},
            {"codec encode", {"topk", "-i", file("values.f32"), "-o", file("again.grwf")}},
            {"codec inspect", {"-i", file("values.grwf")}},
            {"codec bench", {"fp16", "--sizes", "4KiB", "--quick", "--seconds", "1"}, false},
            {"methods"},
            {"methods", {"admm"}},
            {"reproduce terngrad-chart", {"-o", file("chart")}},
            {"reproduce streaming-diloco", {}},
            {"reproduce paddle-dgc", {}},
            {"reproduce byteps", {}},
            {"reproduce intellect-1", {}},
            {"bench codecs",
             {"--codecs", "fp16", "--sizes", "4KiB", "--quick", "--seconds", "1"},
             false},
            {"calibrate", {"--points", "3", "--time-limit", "5"}, false},
            {"calibrate",
             {"--from", source_path("tests/results/points/samples/all_reduce.txt"), "--gpu", "v100",
              "--between", "100Gbps"}},
            {"params"},
            {"doctor"},
            {"merge", {file("other.db")}, false}};
  }

 private:
  TemporaryFolder folder_;
};

/// The command's output, or what it lacks here.
Result output_of(const Case& one, const Prepared& prepared, const Arguments& more) {
  Arguments arguments = words_of(one.command);
  arguments.insert(arguments.end(), one.rest.begin(), one.rest.end());
  arguments.insert(arguments.end(), {"--db", prepared.db()});
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_program(arguments, "unset COLUMNS; exec \"$@\"");
}

/// Numbers stand below each other by their last digits.
void check_numbers_right(const Page& page) {
  for (const PageTable& table : page.tables)
    for (const auto& [title, cells] : table.cells) {
      CAPTURE(title);
      const bool number = !cells.empty() &&
                          cells.find_first_not_of("0123456789.") == std::string::npos &&
                          cells.find("..") == std::string::npos;  // a range
      if (number) CHECK(table.right.count(title) == 1);
    }
}

/// Lines of prose; a command that can be copied is one line, however long.
std::size_t widest_sentence(const std::string& text) {
  std::size_t widest = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (!line.starts_with("  gradwire ")) widest = std::max(widest, display_width(line));
  return widest;
}

/// Every column of the whole table is either there, cell by cell, or named as left out.
void check_nothing_lost(const Page& page, const Page& whole) {
  REQUIRE(page.tables.size() == whole.tables.size());
  std::multiset<std::string> missing;
  for (std::size_t t = 0; t < whole.tables.size(); ++t) {
    const PageTable& folded = page.tables[t];
    for (const std::string& title : whole.tables[t].titles) {
      CAPTURE(title);
      if (std::count(folded.titles.begin(), folded.titles.end(), title) == 0)
        missing.insert(title.substr(0, title.find('#')));
      else
        CHECK(folded.cells.at(title) == whole.tables[t].cells.at(title));
    }
  }
  CHECK(std::multiset<std::string>(page.left_out.begin(), page.left_out.end()) == missing);
}

}  // namespace

TEST_CASE("every command's table takes 80 columns, and loses nothing silently", "[unit]") {
  const Prepared prepared;
  std::set<std::string> rendered;
  for (const Case& one : prepared.cases()) {
    rendered.insert(one.command);
    const Result narrow = output_of(one, prepared, {});
    INFO("gradwire " << one.command << ": " << narrow.err << "\n" << narrow.out);
    if (narrow.exit_code == kNoCapability) {
      WARN("skipped: " << one.command << ": " << narrow.err);
      continue;
    }
    CHECK((narrow.exit_code == 0 || narrow.exit_code == kBarMissed));
    const Page page = read_page(narrow.out);
    CHECK_FALSE(page.tables.empty());
    CHECK(page.widest_line <= kPage);
    check_numbers_right(page);
    if (one.command == "advise") CHECK(widest_sentence(narrow.err) <= kPage);
    if (!one.steady) continue;
    const Page whole = read_page(output_of(one, prepared, {"--wide"}).out);
    CHECK(whole.left_out.empty());
    check_nothing_lost(page, whole);
  }
  for (const std::string& command : all_commands()) {
    CAPTURE(command);
    CHECK(rendered.count(command) + kWithoutTable.count(command) == 1);
  }
}

TEST_CASE("the page is COLUMNS, else 80; --wide and Markdown have no width", "[unit]") {
  const auto widest = [](const Arguments& more, const std::string& variables) {
    Arguments arguments = {"codec", "list"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Result result = run_program(arguments, "unset COLUMNS; " + variables + " exec \"$@\"");
    return read_page(result.out);
  };
  CHECK(widest({}, "").widest_line == 80);
  CHECK(widest({}, "COLUMNS=120").widest_line == 120);
  CHECK(widest({}, "COLUMNS=60").widest_line <= 60);
  CHECK(widest({}, "COLUMNS=many").widest_line == 80);
  CHECK(widest({"--wide"}, "COLUMNS=60").widest_line > 200);
  CHECK(widest({}, "GRADWIRE_WIDE=1").widest_line > 200);
  CHECK(widest({"--format", "markdown"}, "").widest_line > 200);
  // Fewer columns of the page show fewer of the table.
  CHECK(widest({}, "COLUMNS=60").left_out.size() > widest({}, "COLUMNS=120").left_out.size());
  // JSON and CSV are as ever.
  const Result json = run_program({"codec", "list", "--format", "csv"});
  CHECK_THAT(json.out, Catch::StartsWith("name,family,summary,policy,unbiased,options,source\n"));
}

TEST_CASE(
    "help, manual page, completions and docs/commands.md list the same options, in 80 columns",
    "[unit]") {
  const std::string man = run_program({"man"}).out;
  const std::string bash = run_program({"completion", "bash"}).out;
  const std::string fish = run_program({"completion", "fish"}).out;
  const std::string page = run_program({"man", "--format", "markdown"}).out;
  std::vector<std::string> commands = all_commands();
  commands.insert(commands.end(), {"", "codec", "bench", "reproduce"});
  for (const std::string& command : commands) {
    CAPTURE(command);
    Arguments arguments = words_of(command);
    arguments.push_back("--help");
    const Result help = run_program(arguments, "unset COLUMNS; exec \"$@\"");
    CHECK(help.exit_code == 0);
    INFO(help.out);
    CHECK(read_page(help.out).widest_line <= kPage);
    if (!command.empty()) {
      CHECK_THAT(man, Contains(".SS " + in_roff(command) + "\n"));
      CHECK_THAT(page, Contains("\n## gradwire " + command + "\n"));
      CHECK_THAT(bash, Contains("\" " + command + "\") words="));
    }
    // Of the bash script, the words that may follow this command.
    const std::string start = "    \"" + (command.empty() ? "" : " " + command) + "\") words=\"";
    const std::size_t at = bash.find(start);
    REQUIRE(at != std::string::npos);
    const std::string words =
        " " +
        bash.substr(at + start.size(), bash.find('"', at + start.size()) - at - start.size()) + " ";
    std::istringstream lines(help.out);
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("  -")) continue;  // an option's line
      for (std::size_t dashes = line.find("--"); dashes != std::string::npos && dashes < 26;
           dashes = line.find("--", dashes + 2)) {
        const std::string option = line.substr(dashes, line.find_first_of(" ,", dashes) - dashes);
        CAPTURE(option);
        CHECK_THAT(words, Contains(" " + option + " "));
        if (option == "--help" || option == "--version") continue;
        CHECK_THAT(man, Contains(in_roff(option)));
        CHECK_THAT(page, Contains(option));
        CHECK_THAT(fish, Contains(" -l " + option.substr(2) + " "));
      }
    }
  }
}

TEST_CASE("docs/commands.md is what the program prints", "[golden]") {
  // Written anew with GRADWIRE_UPDATE_GOLDEN=1.
  const std::string path = source_path("docs/commands.md");
  const std::string page = run_program({"man", "--format", "markdown"}).out;
  if (std::getenv("GRADWIRE_UPDATE_GOLDEN")) write_file(path, page);
  CHECK(read_file(path) == page);
}

TEST_CASE("bash completes commands below commands, and an option's choices", "[unit]") {
  const TemporaryFolder folder;
  const std::string script = folder.file("completion");
  write_file(script, run_program({"completion", "bash"}).out);
  const auto completed = [&](const std::string& words) {
    const Result result = run_program({},
                                      "bash -c 'source \"$1\"; shift; COMP_WORDS=(\"$@\"); "
                                      "COMP_CWORD=$(($# - 1)); _gradwire; echo "
                                      "\"${COMPREPLY[@]}\"' - " +
                                          script + " gradwire " + words);
    return " " + result.out;
  };
  CHECK_THAT(completed("codec \"\""), Contains(" list ") && Contains(" inspect "));
  CHECK_THAT(completed("codec inspect --n"), Contains(" --n") && !Contains("--executor"));
  CHECK_THAT(completed("--db x.db lis"), Contains(" list"));
  CHECK_THAT(completed("run --executor \"\""), Contains("model flow packet emulator"));
  CHECK_THAT(completed("list --format j"), Contains("json jsonl"));
}
