#include <QSignalSpy>
#include <catch2/catch.hpp>

#include "gui/whatif/what_if_panel.h"
#include "tests/gui/whatif/bases.h"

using namespace gradwire::gui;
using Catch::Contains;

TEST_CASE("what-if costs are workers times time, what all send, and their prices", "[unit]") {
  WhatIf what_if(training_base());
  const WhatIfAnswer answer = what_if.answer({{Knob::kGpuHour, "2.5"}});
  INFO(answer.problem.toStdString());
  REQUIRE(answer.with);
  REQUIRE(answer.cost);
  // Four workers gather 100 kB of each from each: 4 x 3 x 100 kB a step.
  CHECK(answer.cost->bytes == Approx(1000 * 12 * 1e5));
  CHECK(answer.cost->gpu_hours == Approx(1000 * 4 * answer.with->seconds() / 3600));
  CHECK(answer.cost->money == Approx(2.5 * answer.cost->gpu_hours));
  // Uncompressed, the 1 MB of each go round a ring twice, less the own share: 2 x 3 x 1 MB.
  REQUIRE(answer.dense_cost);
  CHECK(answer.dense_cost->bytes == Approx(1000 * 6 * 1e6));
  CHECK(answer.dense_cost->money == Approx(2.5 * 1000 * 4 * answer.dense->seconds() / 3600));
  CHECK_THAT(cost_text(answer).toStdString(), Contains("1000 steps: ") && Contains("1.20 GB") &&
                                                  Contains("USD") && Contains("6.00 GB"));
  // Without a price nothing is said of money.
  const WhatIfAnswer free = what_if.answer({});
  CHECK(free.cost->money == 0);
  CHECK_THAT(cost_text(free).toStdString(), !Contains("USD"));
}

TEST_CASE("the price is a field of the panel, and goes into the copied scenario", "[gui]") {
  WhatIfPanel panel;
  QSignalSpy answered(&panel, &WhatIfPanel::answered),
      copied(&panel, &WhatIfPanel::scenario_wanted);
  panel.set_base(training_base());
  REQUIRE(answered.wait(5000));
  CHECK(panel.field(Knob::kGpuHour)->text() == "0");
  CHECK(panel.cost().contains("GPU h"));
  CHECK_FALSE(panel.cost().contains("USD"));
  const double hours = panel.answer()->cost->gpu_hours;
  panel.field(Knob::kGpuHour)->setText("250");
  REQUIRE(answered.wait(5000));
  // Beyond the slider, and neither refused nor clamped.
  CHECK(panel.answer()->cost->money == Approx(250 * hours));
  CHECK(panel.cost().contains("USD"));
  panel.field(Knob::kGpuHour)->setText("-1");
  QCoreApplication::processEvents();
  CHECK(panel.problem().contains("GPU hour"));
  CHECK(panel.cost().isEmpty());
  panel.field(Knob::kGpuHour)->setText("2.5");
  REQUIRE(answered.wait(5000));
  panel.copy_to_scenario();
  REQUIRE(copied.size() == 1);
  const auto json = nlohmann::json::parse(copied[0][0].toString().toStdString());
  CHECK(json.at("prices").at("gpu_hour") == 2.5);
}
