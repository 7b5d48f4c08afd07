#include "runner/prediction/recorded_table.h"

#include <catch2/catch.hpp>
#include <cstdlib>

#include "base/error.h"
#include "base/file_descriptor.h"
#include "base/temporary_file.h"
#include "scenarios/profiles/profile_json.h"

using namespace gradwire;
using Catch::Contains;

namespace {

bridge::Recording recorded(const std::string& lines) {
  const std::string head =
      R"({"e":"recording","version":1,"world":2,"torch":"2.11.0","clock":"CPU time"})"
      "\n"
      R"({"e":"group","r":0,"g":"0","ranks":[0,1]})"
      "\n"
      R"({"e":"group","r":1,"g":"0","ranks":[0,1]})"
      "\n";
  return bridge::parse_recording(head + lines, "a.jsonl");
}

std::string call(int rank, int number, double seconds, std::int64_t elements,
                 const std::string& kind = "all-reduce") {
  return R"({"e":"call","r":)" + std::to_string(rank) + R"(,"s":)" + std::to_string(seconds) +
         R"(,"c":)" + std::to_string(number) + R"(,"g":"0","k":")" + kind + R"(","n":)" +
         std::to_string(elements) + R"(,"w":4,"t":"float32","o":"sum"})" + "\n";
}

std::string step(int rank, double seconds) {
  return R"({"e":"step","r":)" + std::to_string(rank) + R"(,"s":)" + std::to_string(seconds) +
         "}\n";
}

/// A first step with a call more, then two of 1,000 and 500 elements: 0.5 s before the first
/// all-reduce, 0.1 s before the second, 0.05 s of update; rank 1 takes 0.2 s longer.
std::string usual_steps() {
  std::string lines;
  for (const int rank : {0, 1}) {
    int number = 0;
    const auto add = [&](double seconds, std::int64_t elements) {
      lines += call(rank, ++number, seconds, elements);
    };
    add(3, 7);
    add(3, 1000);
    add(3, 500);
    lines += step(rank, 3);
    for (int i = 0; i < 2; ++i) {
      add(0.5 + 0.2 * rank, 1000);
      add(0.1, 500);
      lines += step(rank, 0.05);
    }
  }
  return lines;
}

}  // namespace

TEST_CASE("a trace's usual step is a layer table", "[unit]") {
  const auto table = runner::recorded_table(recorded(usual_steps()), "a.jsonl");
  REQUIRE(table.layers.size() == 2);
  // Means of both ranks: 0.6 s before the first all-reduce, 0.1 s before the second: a third of 0.7
  // s is the forward pass.
  CHECK(table.layers[0].elements == 500);  // the last that is reduced is nearest to the input
  CHECK(table.layers[0].backward_per_sample.value() == Approx(0.1));
  CHECK(table.layers[1].elements == 1000);
  CHECK(table.layers[1].backward_per_sample.value() == Approx(0.6 - 0.7 / 3));
  CHECK(table.layers[0].forward_per_sample.value() == Approx(0.7 / 6));
  CHECK(table.update->value() == Approx(0.05));
  // It is a table like any other.
  const TemporaryFolder folder;
  const std::string path = folder.file("a.json");
  write_file(path, scenarios::profile_text(table));
  CHECK(scenarios::load_workload_profile(path, "").elements() == 1500);
}

TEST_CASE("traces of other parallelism, or without steps, give no layer table", "[unit]") {
  const auto refused = [](const std::string& lines) {
    try {
      runner::recorded_table(recorded(lines), "a.jsonl");
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK_THAT(refused(call(0, 1, 1, 10)), Contains("where a step ends"));
  CHECK_THAT(refused(step(0, 1) + step(1, 1)), Contains("reduce nothing"));
  CHECK_THAT(refused(call(0, 1, 1, 10, "all-gather") + step(0, 1)),
             Contains("all-gather") && Contains("torch --network NET --replay a.jsonl"));
}

TEST_CASE("a profiler's traces give a layer table of the model's parameters", "[unit]") {
  const char* source = std::getenv("GRADWIRE_SOURCE_DIR");
  const std::string folder = std::string(source ? source : ".") + "/tests/bridge/kineto/ddp";
  const auto table = runner::recorded_table(bridge::read_recording(folder), folder);
  double seconds = table.update->value();
  for (const auto& layer : table.layers)
    seconds += (layer.forward_per_sample + layer.backward_per_sample).value();
  // Steps of 224.8 / 3 ms of which some is spent on waiting for the other rank.
  CHECK(seconds < 0.0749);
  CHECK(seconds > 0.02);
  CHECK(table.elements() > 1000);
}
