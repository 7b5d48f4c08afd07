#include <catch2/catch.hpp>
#include <string>

#include "base/error.h"
#include "sim/transport/calibration.h"

using namespace gradwire;
using namespace gradwire::sim;

namespace {

bool same(const TcpConstants& a, const TcpConstants& b) {
  for (const ConstantField& field : constant_fields()) {
    if (field.flag != nullptr ? a.*field.flag != b.*field.flag : a.*field.number != b.*field.number)
      return false;
  }
  return true;
}

std::string with(const std::string& constants) {
  return R"({"schema_version": 1, "name": "mine", "reference": "r", "date": "d", "how": "h",
             "constants": {)" +
         constants + "}}";
}

}  // namespace

TEST_CASE("The shipped packet calibration is what flow does without one") {
  const Calibration packet = shipped_calibration("packet");
  CHECK(same(packet.constants, TcpConstants{}));
  CHECK(packet.reference.find("ns-3") != std::string::npos);
  CHECK_FALSE(same(shipped_calibration("linux").constants, TcpConstants{}));
}

TEST_CASE("A calibration is the same after writing and reading") {
  for (const std::string_view name : shipped_calibrations()) {
    const Calibration shipped = shipped_calibration(name);
    const Calibration again = parse_calibration(calibration_json(shipped), "test");
    CHECK(same(again.constants, shipped.constants));
    CHECK(again.name == shipped.name);
    CHECK(again.date == shipped.date);
    CHECK(again.versions == shipped.versions);
    CHECK(calibration_json(again) == calibration_json(shipped));
  }
}

TEST_CASE("A fit's grid and errors are kept with its constants") {
  Calibration mine = shipped_calibration("packet");
  mine.grid = {{"points", 120}, {"measured", 70}};
  mine.error = {{"median", 0.004}};
  const Calibration again = parse_calibration(calibration_json(mine), "test");
  CHECK(again.grid == mine.grid);
  CHECK(again.error == mine.error);
}

TEST_CASE("Constants that a calibration leaves out are ns-3's") {
  const Calibration mine = parse_calibration(with(R"("quick_acks": 5)"), "test");
  CHECK(mine.constants.quick_acks == 5);
  CHECK(mine.constants.train_share == TcpConstants{}.train_share);
}

TEST_CASE("What is no calibration is refused, by its key") {
  const auto reason = [](const std::string& text) {
    try {
      parse_calibration(text, "mine.json");
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  CHECK(reason("[").find("mine.json") != std::string::npos);
  CHECK(reason("[]").find("no JSON object") != std::string::npos);
  CHECK(reason(with(R"("quick_ack": 5)")).find("/constants/quick_ack") != std::string::npos);
  CHECK(reason(with(R"("quick_acks": 0)")).find("within") != std::string::npos);
  CHECK(reason(with(R"("quick_acks": "5")")).find("no") != std::string::npos);
  CHECK(reason(with(R"("idle_restart": 1)")).find("true or false") != std::string::npos);
  CHECK(reason(R"({"schema_version": 1, "name": "m", "reference": "r", "date": "d", "how": "h",
                   "grid": {"points": "many"}, "constants": {}})")
            .find("/grid/points is not a number") != std::string::npos);
  CHECK(reason(R"({"schema_version": 2})").find("/schema_version") != std::string::npos);
  CHECK_THROWS_AS(shipped_calibration("lunix"), Error);
  CHECK_THROWS_AS(find_calibration("no/such/file.json"), Error);
}
