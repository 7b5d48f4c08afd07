// What a report says that a run costs, by prices of the command line and of the scenario.
#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include <regex>

#include "base/file_descriptor.h"
#include "tests/cli/program.h"

using namespace gradwire;
using namespace gradwire::testing;
using Catch::Contains;
using nlohmann::json;

namespace {

/// One method, one condition: the first screen's one line is about the one run.
std::string scenario(const std::string& prices) {
  return R"({"schema_version": 1, "name": "priced",
    "workload": {"profile": "alexnet", "batch_per_worker": 32, "steps": 40},
    "cluster": {"workers": 4, "device": "reference-cpu"}, "method": {"name": "fp16"},
    "network": {"topology": "star", "link": {"bandwidth": "100Mbps", "delay": "50us"}},
    "executor": "flow")" +
         (prices.empty() ? "" : ", \"prices\": " + prices) + "}";
}

class Priced {
 public:
  explicit Priced(const std::string& prices = "") {
    write_file(folder_.file("priced.json"), scenario(prices));
    call({"run", folder_.file("priced.json"), "-q"});
    run_ = json::parse(call({"list", "--format", "json"}).out).at("rows").at(0);
  }
  Result call(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--db", folder_.file("runs.db")});
    const Result result = run_program(arguments);
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    return result;
  }
  /// "a run 12.3 worker-s, 1.2 GB, EUR 0.123"
  std::string cost(std::vector<std::string> options) const {
    options.insert(options.begin(), {"report", "--format", "json"});
    const json answers = json::parse(call(std::move(options)).out).at("answers");
    REQUIRE(answers.size() == 1);
    return answers[0].at("cost");
  }
  /// The figure behind the currency, which ends the cell.
  double money(const std::vector<std::string>& options, const std::string& currency = "USD") const {
    const std::string words = cost(options);
    std::smatch found;
    INFO(words);
    REQUIRE(std::regex_search(words, found, std::regex(currency + " ([0-9.e+-]+)$")));
    return std::stod(found[1]);
  }
  double hours() const { return 4 * run_.at("simulated_s").get<double>() / 3600; }
  double gigabytes() const { return run_.at("wire_bytes").get<double>() / 1e9; }
  std::string file(const char* name) const { return folder_.file(name); }

 private:
  TemporaryFolder folder_;
  json run_;
};

/// Three digits are shown.
Approx to_digits(double value) {
  return Approx(value).epsilon(0.0051);
}

}  // namespace

TEST_CASE("a report's costs are worker hours, ports and bytes by the prices of its options") {
  const Priced run;
  CHECK_THAT(run.cost({}), !Contains("USD"));
  CHECK(run.hours() > 0.01);
  CHECK(run.gigabytes() > 1);
  CHECK(run.money({"--gpu-hour", "2.5"}) == to_digits(2.5 * run.hours()));
  CHECK(run.money({"--port-hour", "0.5"}) == to_digits(0.5 * run.hours()));
  CHECK(run.money({"--port-hour", "0.5", "--ports-per-worker", "3"}) ==
        to_digits(3 * 0.5 * run.hours()));
  CHECK(run.money({"--gigabyte", "0.02"}) == to_digits(0.02 * run.gigabytes()));
  const std::vector<std::string> all = {"--gpu-hour",         "2.5", "--port-hour", "0.5",
                                        "--ports-per-worker", "3",   "--gigabyte",  "0.02",
                                        "--currency",         "EUR"};
  const double sum = run.hours() * (2.5 + 3 * 0.5) + 0.02 * run.gigabytes();
  CHECK(run.money(all, "EUR") == to_digits(sum));
  // The digits that are compared tell the ports of one worker from those of three.
  CHECK_FALSE(run.money(all, "EUR") == to_digits(sum - run.hours()));
  // The same figure in the forms that people read.
  const std::string words = run.cost(all);
  for (const char* name : {"report.html", "report.md"}) {
    std::vector<std::string> arguments = {"report", "-o", run.file(name)};
    arguments.insert(arguments.end(), all.begin(), all.end());
    run.call(arguments);
    CHECK_THAT(read_file(run.file(name)), Contains(words.substr(words.find("EUR"))));
  }
}

TEST_CASE("options of a report go before the prices of its scenarios, each by itself") {
  const Priced run(R"({"gpu_hour": 1, "gigabyte": 0.02, "currency": "EUR"})");
  const double bytes = 0.02 * run.gigabytes();
  CHECK(run.money({}, "EUR") == to_digits(run.hours() + bytes));
  CHECK(run.money({"--gpu-hour", "4"}, "EUR") == to_digits(4 * run.hours() + bytes));
  CHECK(run.money({"--gigabyte", "0"}, "EUR") == to_digits(run.hours()));
  CHECK(run.money({"--currency", "CHF"}, "CHF") == to_digits(run.hours() + bytes));
}

TEST_CASE("a price below zero is refused") {
  for (const char* option : {"--gpu-hour", "--port-hour", "--gigabyte", "--ports-per-worker"}) {
    for (const char* price : {"-1", "nan", "inf", "1x", ""}) {
      CAPTURE(price);
      const Result result = run_program({"report", option, price});
      CHECK(result.exit_code == 2);
      CHECK_THAT(result.err, Contains(option));
    }
  }
}

TEST_CASE(
    "a currency that moves a cursor is written out, and a report in no form that there is "
    "refused") {
  const Priced priced;
  const std::string text =
      priced.call({"report", "--format", "markdown", "--gpu-hour", "2", "--currency", "\x1B[31m"})
          .out;
  CHECK_THAT(text, Contains("\\x1B[31m"));
  CHECK_THAT(text, !Contains("\x1B"));
  const Result pdf = run_program({"report", "-o", "report.pdf", "--db", "none.db"});
  CHECK(pdf.exit_code == 2);
  CHECK_THAT(pdf.err, Contains("--pdf"));
}
