#include "tests/trainers/schedules/rounds_fixture.h"
#include "trainers/methods/catalogue.h"

namespace gradwire::trainers {
namespace {

using namespace rounds;

scenarios::Scenario dhqc(std::map<std::string, std::string> options = {}) {
  scenarios::Scenario scenario = in_rounds(6, 5, 3);
  scenario.method.name = "dhqc";
  scenario.method.options = std::move(options);
  return scenario;
}

}  // namespace

TEST_CASE("dhqc quantises matrices, vectors go whole, and the model comes down", "[dhqc]") {
  const methods::MethodRow* row = methods::find_method("dhqc");
  REQUIRE(row != nullptr);
  const auto method = row->make({.options = OptionValues(row->options, {})});
  const std::int64_t matrix[] = {4, 4}, vector[] = {4};
  const std::size_t set = method->set_of({"fc1.weight", matrix});
  CHECK(method->plan(set, 0).up.codec.name == "hquant");
  CHECK_FALSE(method->plan(set, 0).up.error_feedback);
  CHECK_FALSE(method->plan(set, 0).down);
  CHECK(method->plan(method->set_of({"fc1.bias", vector}), 0).up.codec.name == "none");
  // 640 weights, gamma 0.1, depth 2: 64 entries; 12 + 8 * 4 + a bitmap of 80 B + 64 * 3 bits = 24
  // B; 10 biases whole; two lengths.
  const Outcome outcome = run(dhqc());
  for (const scenarios::StepReport& each : outcome.rows) {
    CHECK(figure(each, "upload_bytes") == 6 * (12 + 32 + 80 + 24 + 40 + 8));
    CHECK(figure(each, "download_bytes") == 6 * 2600);
  }
  CHECK(run(dhqc(), 2).hash == outcome.hash);
}

TEST_CASE("all entries in a deep tree are nearly what clients changed", "[dhqc]") {
  // Each leaf of depth 7 is a 128th of the entries of a sign, by means of means: as close to
  // federated averaging as its leaves are wide.
  const std::vector<float> plain = run(in_rounds(6, 5, 3)).weights;
  const auto apart = [&](const char* depth) {
    const std::vector<float> own = run(dhqc({{"ratio", "1"}, {"depth", depth}})).weights;
    double sum = 0, norm = 0;
    for (std::size_t e = 0; e < own.size(); ++e) {
      sum += std::pow(double{own[e]} - double{plain[e]}, 2);
      norm += std::pow(double{plain[e]}, 2);
    }
    return std::sqrt(sum / norm);
  };
  const double deep = apart("7"), flat = apart("0");
  CHECK(deep < 0.01);
  CHECK(flat > 10 * deep);  // negative control
}

TEST_CASE("dhqc with fewer clients in later rounds", "[dhqc]") {
  scenarios::Scenario scenario = dhqc();
  scenario.schedule.sample_decay = 0.3;
  scenario.schedule.sample_least = 2;
  const Outcome outcome = run(scenario);
  // 6, 4.4, 3.3, 2.4, 1.8, rounded up.
  const int expected[] = {6, 5, 4, 3, 2};
  for (std::size_t round = 0; round < 5; ++round)
    CHECK(figure(outcome.rows[round], "clients_sampled") == expected[round]);
}

}  // namespace gradwire::trainers
