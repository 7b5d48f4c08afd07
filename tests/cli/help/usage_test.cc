#include <sys/resource.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "base/file_descriptor.h"
#include "base/text_width.h"
#include "tests/cli/program.h"

using namespace gradwire;
using namespace gradwire::testing;
using Catch::Contains;
using Arguments = std::vector<std::string>;

namespace {

/// A scenario without training: milliseconds.
std::string plain_scenario(const TemporaryFolder& folder) {
  const std::string path = folder.file("plain.json");
  write_file(path, R"({"schema_version": 1, "name": "plain",
    "workload": {"profile": "alexnet", "steps": 2},
    "cluster": {"workers": 2, "device": "v100"},
    "network": {"link": {"bandwidth": "1Gbps"}}, "seeds": [1]})");
  return path;
}

/// Values and origins by pointer, as run --print-config tells them: "8 --set".
std::map<std::string, std::string> config(const Arguments& more, const std::string& variables) {
  const TemporaryFolder folder;
  Arguments arguments = {"run", plain_scenario(folder), "--print-config", "--format", "json"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const Result result = run_program(arguments, variables + " exec \"$@\"");
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  std::map<std::string, std::string> values;
  const auto document = nlohmann::json::parse(result.out);
  for (const auto& row : document.at("rows"))
    values[row.at("name")] =
        row.at("value").get<std::string>() + " " + row.at("origin").get<std::string>();
  return values;
}

}  // namespace

TEST_CASE("a mistaken name gets the nearest one", "[unit]") {
  const auto said = [](const Arguments& arguments) {
    const Result result = run_program(arguments);
    CHECK(result.exit_code == 2);
    CHECK(result.out.empty());
    return result.err;
  };
  CHECK_THAT(said({"lsit"}), Contains("there is no command \"lsit\"; did you mean \"list\"?"));
  CHECK_THAT(said({"codec", "inspct"}),
             Contains("did you mean \"inspect\"?") && Contains("gradwire codec --help"));
  CHECK_THAT(said({"run", "x.json", "--exector", "flow"}),
             Contains("there is no option \"--exector\"; did you mean \"--executor\"?") &&
                 Contains("gradwire run --help"));
  CHECK_THAT(said({"list", "--fromat=csv"}), Contains("did you mean \"--format\"?"));
  CHECK_THAT(said({"list", "--format", "jso"}), Contains("did you mean \"json\"?"));
  CHECK_THAT(said({"list", "7"}), Contains("gradwire list does not take \"7\""));
  CHECK_THAT(said({}), Contains("gradwire --help"));
  CHECK_THAT(said({"run"}), Contains("FILE") && Contains("gradwire run --help"));
  // Negative control: what is near to nothing gets no advice.
  CHECK_THAT(said({"zzzzzzzzzz"}), Contains("there is no command") && !Contains("did you mean"));
}

TEST_CASE("a number out of its range is told in figures that one would write", "[unit]") {
  const auto said = [](const Arguments& arguments) {
    const Result result = run_program(arguments);
    CHECK(result.exit_code == 2);
    return result.err;
  };
  CHECK_THAT(said({"bench", "cliffs", "--minutes", "-3"}),
             Contains("--minutes: -3 is not from 0.01 to 10000\n"));
  CHECK_THAT(said({"bench", "cliffs", "--minutes", "soon"}),
             Contains("--minutes: \"soon\" is no number\n"));
  const Arguments compare = {"compare", "--executors", "flow,model", "lan", "--most-error"};
  const auto with = [&](const char* value) {
    Arguments all = compare;
    all.push_back(value);
    return said(all);
  };
  CHECK_THAT(with("-1"), Contains("--most-error: -1 is negative\n"));
  CHECK_THAT(with("0"), Contains("--most-error: 0 is not above 0\n"));
}

TEST_CASE("wrong usage is one JSON document under --format json", "[unit]") {
  for (const Arguments& arguments :
       {Arguments{"lsit", "--format", "json"}, Arguments{"--format=json", "lsit"}}) {
    const Result result = run_program(arguments);
    CHECK(result.exit_code == 2);
    const auto json = nlohmann::json::parse(result.out);
    CHECK(json.at("schema_version") == 1);
    CHECK(json.at("type") == "error");
    CHECK(json.at("exit_code") == 2);
    CHECK(json.at("suggestion") == "list");
    CHECK_THAT(json.at("message").get<std::string>(), Contains("there is no command"));
    CHECK_THAT(result.err, Contains("did you mean"));
  }
  const Result variable = run_program({"lsit"}, "GRADWIRE_FORMAT=json exec \"$@\"");
  CHECK(nlohmann::json::parse(variable.out).at("exit_code") == 2);
  CHECK_FALSE(nlohmann::json::parse(run_program({"list", "7", "--format", "json"}).out)
                  .contains("suggestion"));
}

TEST_CASE("--color and its variables say whether headings are in colour", "[unit]") {
  const auto colored = [](const std::string& variables, const Arguments& more) {
    Arguments arguments = {"params", "/cluster/workers"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Result result = run_program(
        arguments, "unset NO_COLOR CLICOLOR_FORCE CLICOLOR; " + variables + " exec \"$@\"");
    CHECK(result.exit_code == 0);
    return result.out.find("\033[1m") != std::string::npos;
  };
  CHECK_FALSE(colored("", {}));  // a file is no terminal
  CHECK(colored("", {"--color", "always"}));
  CHECK(colored("CLICOLOR_FORCE=1", {}));
  CHECK(colored("CLICOLOR=0 CLICOLOR_FORCE=1", {}));
  CHECK_FALSE(colored("CLICOLOR_FORCE=0", {}));
  CHECK_FALSE(colored("CLICOLOR=1", {}));
  CHECK_FALSE(colored("NO_COLOR=1 CLICOLOR_FORCE=1", {}));
  CHECK(colored("NO_COLOR= CLICOLOR_FORCE=1", {}));  // empty is not set
  CHECK(colored("NO_COLOR=1", {"--color=always"}));
  CHECK_FALSE(colored("CLICOLOR_FORCE=1", {"--color=never"}));
  CHECK(colored("GRADWIRE_COLOR=always", {}));
  CHECK_FALSE(colored("CLICOLOR_FORCE=1", {"--format", "markdown"}));
  // Errors, on stderr.
  CHECK_THAT(run_program({"list", "--db", "/none/x.db", "--color=always"}).err,
             Contains("\033[1;31mgradwire:\033[0m"));
  CHECK_THAT(run_program({"list", "--db", "/none/x.db"}).err, Catch::StartsWith("gradwire: "));
}

TEST_CASE("the environment is stronger than a scenario and weaker than --set and options",
          "[unit]") {
  const std::string workers = "/cluster/workers";
  CHECK(config({}, "").at(workers) == "2 scenario");
  CHECK(config({}, "GRADWIRE_SET_CLUSTER__WORKERS=8").at(workers) == "8 environment");
  CHECK(config({}, "GRADWIRE_SET_cluster__workers=8").at(workers) == "8 environment");
  CHECK(config({"--set", "/cluster/workers=16"}, "GRADWIRE_SET_CLUSTER__WORKERS=8").at(workers) ==
        "16 --set");
  const auto both =
      config({"--set", "/executor=model", "--executor", "flow"}, "GRADWIRE_SET_EXECUTOR=packet");
  CHECK(both.at("/executor") == "flow --executor");
  CHECK(config({}, "GRADWIRE_SET_EXECUTOR=packet").at("/executor") == "packet environment");
  CHECK(config({}, "GRADWIRE_SET_WORKLOAD__BATCH_PER_WORKER=5").at("/workload/batch_per_worker") ==
        "5 environment");
  CHECK(config({}, "").at("/network/link/delay").ends_with(" default"));

  const TemporaryFolder folder;
  const Arguments arguments = {"plan", plain_scenario(folder), "--db", folder.file("none.db")};
  const auto refused = [&](const std::string& variables, const std::string& why) {
    const Result result = run_program(arguments, variables + " exec \"$@\"");
    CHECK(result.exit_code == 3);
    CHECK_THAT(result.err, Contains(why));
  };
  refused("GRADWIRE_SET_CLUSTER__WORKER=8", "environment: /cluster/worker: there is no such field");
  refused("GRADWIRE_SET_CLUSTER__WORKER=8", "did you mean \"/cluster/workers\"?");
  refused("GRADWIRE_SET_CLUSTER__WORKERS=0", "environment: /cluster/workers: 0 is out of range");
  CHECK(run_program(arguments, "GRADWIRE_SET_=1 exec \"$@\"").exit_code == 2);
}

TEST_CASE("an option's variable stands for it, and is weaker", "[unit]") {
  const TemporaryFolder folder;
  const Result csv = run_program({"params", "/executor"}, "GRADWIRE_FORMAT=csv exec \"$@\"");
  CHECK_THAT(csv.out, Catch::StartsWith("name,type,"));
  const Result json =
      run_program({"params", "/executor", "--format", "json"}, "GRADWIRE_FORMAT=csv exec \"$@\"");
  CHECK(nlohmann::json::parse(json.out).contains("rows"));
  const Result wrong = run_program({"params", "/executor"}, "GRADWIRE_FORMAT=jso exec \"$@\"");
  CHECK(wrong.exit_code == 2);
  CHECK_THAT(wrong.err, Contains("--format") && Contains("did you mean \"json\"?"));
  const std::string path = folder.file("named.db");
  CHECK_THAT(run_program({"list"}, "GRADWIRE_DB=" + path + " exec \"$@\"").err, Contains(path));
}

#ifndef __SANITIZE_ADDRESS__
TEST_CASE("--help and list of 100 runs take 50 ms of a processor or less", "[unit]") {
  const TemporaryFolder folder;
  const std::string db = folder.file("runs.db");
  const std::string path = folder.file("many.json");
  write_file(path, R"({"schema_version": 1, "name": "many",
    "workload": {"collective": "ring-all-reduce", "bytes": "1MB"}, "seeds": {"count": 100}})");
  REQUIRE(run_program({"run", path, "--db", db, "--no-report", "-q"}).exit_code == 0);
  // Processor time, not time by the clock: other programs run beside the tests.
  const auto milliseconds = [](const Arguments& arguments) {
    const auto used = [] {
      rusage usage{};
      ::getrusage(RUSAGE_CHILDREN, &usage);
      const auto of = [](const timeval& time) { return 1e3 * time.tv_sec + 1e-3 * time.tv_usec; };
      return of(usage.ru_utime) + of(usage.ru_stime);
    };
    double least = 1e9;
    for (int i = 0; i < 5; ++i) {
      const double before = used();
      CHECK(run_program(arguments).exit_code == 0);
      least = std::min(least, used() - before);
    }
    return least;
  };
  CHECK(milliseconds({"--help"}) <= 50);
  CHECK(milliseconds({"list", "--db", db}) <= 50);
}
#endif

TEST_CASE("prune asks on a terminal only, and never with --no-input", "[unit]") {
  const TemporaryFolder folder;
  const std::string db = folder.file("runs.db");
  REQUIRE(run_program({"run", plain_scenario(folder), "--db", db, "--no-report", "-q"}).exit_code ==
          0);
  const auto left = [&] {
    return nlohmann::json::parse(run_program({"list", "--db", db, "--format", "json"}).out)
        .at("rows")
        .size();
  };
  const Arguments prune = {"prune", "--filter", "workers=2", "--db", db};
  REQUIRE(left() == 1);
  CHECK_THAT(run_program(prune).err, Contains("1 run would be removed; add --yes"));
  // script(1) gives the program a terminal.
  const auto on_terminal = [&](const std::string& answer, const std::string& option) {
    return run_program(prune, "export COMMAND=\"'$1' prune --filter workers=2 --db '" + db + "' " +
                                  option + "\"; printf '" + answer +
                                  "\\n' | script -qec \"$COMMAND\" /dev/null");
  };
  if (run_program({}, "command -v script >/dev/null").exit_code == 0) {
    CHECK_THAT(on_terminal("n", "").out, Contains("remove 1 run? [y/N]"));
    CHECK(left() == 1);
    CHECK_THAT(on_terminal("y", "--no-input").out, Contains("add --yes") && !Contains("[y/N]"));
    CHECK(left() == 1);
    CHECK_THAT(on_terminal("y", "").out, Contains("1 run removed"));
    CHECK(left() == 0);
  } else {
    WARN("skipped: the questions (no script(1) to give the program a terminal)");
  }
  CHECK(run_program({"prune", "--filter", "workers=2", "--db", db, "--yes"}).exit_code == 0);
  CHECK(left() == 0);
}
