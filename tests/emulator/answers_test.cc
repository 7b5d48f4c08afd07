#include "emulator/hub/answers.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>

#include "base/temporary_file.h"
#include "emulator/emulator.h"
#include "emulator/hub/frame.h"
#include "emulator/lab/lab.h"
#include "emulator_fixture.h"

namespace gradwire::emulator {
namespace {

using Catch::Contains;
using nlohmann::json;

json report() {
  return {{"kind", "report"},     {"graph", 7},  {"op", 2},   {"start", 1.5},
          {"sent", {8, 9, 1, 0}}, {"source", 1}, {"end", 2.5}};
}

json without(json message, const char* field) {
  message.erase(field);
  return message;
}

json with(json message, const char* field, json value) {
  message[field] = std::move(value);
  return message;
}

/// A hub that says these bytes and then waits: what a broken one might do.
std::string lying_hub(const json& message) {
  std::string script = "#!/bin/sh\nprintf '";
  for (const std::byte byte : encode_frame(kExecutor, message)) {
    char octal[5];
    std::snprintf(octal, sizeof octal, "\\%03o", static_cast<unsigned>(byte));
    script += octal;
  }
  return script + "'\nexec sleep 60\n";
}

std::string failure_with(const json& message) {
  const TemporaryFile hub(lying_hub(message), ".sh");
  ::chmod(hub.path().c_str(), 0700);
  EmulatorOptions options = quick_options();
  options.program = hub.path();
  try {
    make_emulator(sim::Cluster::star(2, link_of(1e6)), options);
  } catch (const Error& error) {
    return error.what();
  }
  return "it did not fail";
}

}  // namespace

TEST_CASE("a worker's report is read whole", "[unit]") {
  const OperationReport read = operation_report_from_json(report());
  CHECK(read.graph == 7);
  CHECK(read.op == 2);
  CHECK(read.sent == std::array<std::int64_t, 4>{8, 9, 1, 0});
  CHECK(read.source == 1);
  CHECK(read.end == 2.5);
  // Of a host that has sent nothing and ended nothing.
  const json other = with(without(without(report(), "sent"), "end"), "source", -1);
  CHECK(operation_report_from_json(other).sent == std::array<std::int64_t, 4>{});
}

TEST_CASE("reports and counters that make no sense are errors", "[unit]") {
  for (const json& bad :
       {without(report(), "graph"), without(report(), "end"), with(report(), "op", "two"),
        with(report(), "sent", {1, 2}), with(report(), "sent", {1, 2, -3, 4}),
        with(report(), "start", std::numeric_limits<double>::quiet_NaN()), json(3)})
    CHECK_THROWS_AS(operation_report_from_json(bad), Error);
  const json counters = {{"host", 1}, {"connections", {{0, 1000, 2}}}};
  CHECK(host_counters_from_json(counters, 2).connections.at(0).bytes == 1000);
  CHECK_THROWS_AS(host_counters_from_json(counters, 1), Error);  // no host 1 among 1
  CHECK_THROWS_AS(host_counters_from_json(with(counters, "connections", {{5, 1, 1}}), 2), Error);
}

TEST_CASE("a message without a kind, or with an error of none, is an error", "[unit]") {
  CHECK(kind_of({{"kind", "pong"}}) == "pong");
  CHECK_THROWS_AS(kind_of({{"kin", "pong"}}), Error);
  CHECK_THROWS_AS(kind_of(json::array()), Error);
  CHECK_THROWS_WITH(kind_of({{"kind", "error"}, {"error_kind", 99}, {"message", "no"}}),
                    Contains("an error of kind 99"));
  CHECK_THROWS_AS(lab_result_from_json({{"transfers", {{1}}}}), Error);
  Frame torn{kExecutor, {std::byte{0xa1}, std::byte{0x64}}};
  CHECK_THROWS_AS(torn.message(), Error);
}

TEST_CASE("a hub that lies ends in an error, and is ended", "[unit]") {
  CHECK_THAT(failure_with({{"kind", "ready"}}), Contains("makes no sense"));
  CHECK_THAT(failure_with({{"say", "ready"}}), Contains("makes no sense"));
  // Of an operation of no graph: it is passed over, and what was asked for never comes.
  CHECK_THAT(failure_with({{"kind", "report"}, {"graph", 1}}), Contains("makes no sense"));
}

}  // namespace gradwire::emulator
