#include <catch2/catch.hpp>

#include <filesystem>

#include "base/file_descriptor.h"
#include "base/temporary_file.h"
#include "sim/transport/calibration.h"
#include "tests/scenarios/support.h"

using namespace gradwire;
using namespace gradwire::scenarios;

namespace {

std::string calibration_text(double quick_acks) {
  sim::Calibration mine = sim::shipped_calibration("linux");
  mine.constants.quick_acks = quick_acks;
  return sim::calibration_json(mine);
}

/// A folder with a scenario's place and a calibration.
class LabFolder {
 public:
  LabFolder() {
    std::filesystem::create_directories(folder_.file("labs"));
    write("labs/mine.json", calibration_text(5));
  }
  void write(const std::string& name, const std::string& text) const {
    write_file(folder_.file(name), text);
  }
  std::string scenario() const { return folder_.file("t.json"); }
  static std::string text(const std::string& calibration) {
    return scenario_with(R"(, "network": {"transport": {"calibration": ")" + calibration + "\"}}");
  }
  Scenario read(const std::string& calibration) const {
    return read_scenario_text(text(calibration), scenario()).runs.at(0);
  }
  std::string problems(const std::string& calibration) const {
    return problems_of(text(calibration), scenario());
  }

 private:
  TemporaryFolder folder_;
};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a calibration is one that ships, or a file beside the scenario", "[unit]") {
  const LabFolder folder;
  CHECK(folder.read("packet").network.transport.constants == sim::TcpConstants{});
  CHECK(folder.read("linux").network.transport.constants.quick_acks == 16);
  const Scenario mine = folder.read("labs/mine.json");
  CHECK(mine.network.transport.constants.quick_acks == 5);
  CHECK(mine.network.transport.constants.kernel_recovery);
}

TEST_CASE("the resolved scenario holds the calibration's hash, and another file is refused",
          "[unit]") {
  const LabFolder folder;
  const Scenario first = folder.read("labs/mine.json");
  REQUIRE(first.json["network"]["transport"].contains("calibration_hash"));
  CHECK(read_scenario_text(first.json.dump(), folder.scenario()).runs.at(0).hash == first.hash);
  folder.write("labs/mine.json", calibration_text(6));
  CHECK(has(problems_of(first.json.dump(), folder.scenario()), "whose hash was noted"));
  CHECK(folder.read("labs/mine.json").hash != first.hash);
  CHECK_FALSE(folder.read("linux").json["network"]["transport"].contains("calibration_hash"));
}

TEST_CASE("a calibration that is none says what was tried", "[unit]") {
  const LabFolder folder;
  CHECK(has(folder.problems("lunix"), "did you mean \"linux\"?"));
  const std::string missing = folder.problems("labs/other.json");
  CHECK(has(missing, "/network/transport/calibration"));
  CHECK(has(missing, "labs/other.json"));
  CHECK(has(missing, "No such file"));
  folder.write("bad.json", R"({"schema_version": 1, "name": "n", "reference": "r", "date": "d",
                               "how": "h", "constants": {"quick_ack": 1}})");
  CHECK(has(folder.problems("bad.json"), "/constants/quick_ack"));
  CHECK(has(problems_of(scenario_with(R"(, "network": {"transport": {"calibration": "linux",
                                         "calibration_hash": "0123"}})"),
                        folder.scenario()),
            "names no file"));
}
