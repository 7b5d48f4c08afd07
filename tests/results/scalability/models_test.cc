#include "results/scalability/models.h"

#include <catch2/catch.hpp>

#include "results/scalability/sensitivity.h"
#include "tests/results/scalability/scale_runs.h"

using namespace gradwire;
using namespace gradwire::results;

namespace {

ScaleSeries series_of(const std::vector<ScaleRun>& runs) {
  const ScaleStore store(runs);
  return scale_data(*store.store, store.ids).series.at(0);
}

const SensitivityRow& row_of(const std::vector<SensitivityRow>& rows, const std::string& input) {
  for (const SensitivityRow& row : rows)
    if (row.input == input) return row;
  FAIL("no row " + input);
  return rows.front();
}

}  // namespace

TEST_CASE("a third of the numbers of workers is held back, never all") {
  CHECK(held_back_of(1) == 0);
  CHECK(held_back_of(2) == 1);
  CHECK(held_back_of(3) == 1);
  CHECK(held_back_of(4) == 2);
  CHECK(held_back_of(6) == 2);
  CHECK(held_back_of(7) == 3);
}

TEST_CASE("runs as the model has them: no error at the points, none on what was held back") {
  const auto model =
      model_of(series_of({{.workers = 2}, {.workers = 4}, {.workers = 8}, {.workers = 16}}), {});
  REQUIRE(model);
  for (const double error : model->errors) CHECK(std::abs(error) < 0.005);
  CHECK(model->validation.fitted == std::vector<int>{2, 4});
  REQUIRE(model->validation.held.size() == 2);
  for (const HeldBack& held : model->validation.held) {
    CHECK(std::abs(held.error()) < 0.02);
    CHECK(held.inside());
  }
  // To 8 times the most, dashed from 16 on; one worker's 50 ms over the step.
  CHECK(model->curve.back().workers() == 128);
  CHECK(model->curve.back().prediction.extrapolated);
  CHECK(model->known[0].alone_s == Approx(0.05));
  CHECK(model->known[0].efficiency() ==
        Approx(0.05 / step_time(scale_step(2), usual_constants()).total_s).epsilon(0.01));
  CHECK_FALSE(model->open.empty());  // nothing was lost, so nothing shows what losses do
}

TEST_CASE("negative control: what the model cannot know shows as an error outside its band") {
  const double usual = step_time(scale_step(16), usual_constants()).total_s;
  const auto model = model_of(
      series_of(
          {{.workers = 2}, {.workers = 4}, {.workers = 8}, {.workers = 16, .seconds = 2 * usual}}),
      {});
  const HeldBack& last = model->validation.held.back();
  CHECK(last.workers == 16);
  CHECK(last.error() == Approx(-0.5).margin(0.02));  // half of what it took
  CHECK_FALSE(last.inside());
}

TEST_CASE("one number of workers: a curve by usual values, and nothing held back") {
  const auto model = model_of(series_of({{.workers = 4}}), {});
  REQUIRE(model);
  CHECK(model->validation.held.empty());
  CHECK(model->open.size() >= 6);
  CHECK_FALSE(model_of(series_of({{.workers = 4, .summary = false}}), {}));
}

TEST_CASE("the caller's network counts where it is given") {
  ModelOptions options;
  options.up_to = 64;
  options.step_at = [](const ScaleSeries&, const StepSummary& nearest, int workers) {
    StepSummary step = nearest;
    step.workers = workers;
    if (workers > 16) step.bandwidth /= 10;  // another tier
    return step;
  };
  const ScaleSeries series = series_of({{.workers = 8}, {.workers = 16}});
  const auto slow = model_of(series, options);
  options.step_at = nullptr;
  const auto same = model_of(series, options);
  CHECK(slow->curve.back().prediction.time.total_s >
        5 * same->curve.back().prediction.time.total_s);
}

TEST_CASE("sensitivity: what a step waits for moves it, what is hidden does not") {
  const StepFit fit = usual_fit();
  // 100 MB over 1 Gbps take over a second against 50 ms of compute: a fifth less of the link's rate
  // makes the exchange 1 / 0.8 as long.
  const StepSummary bound = scale_step(16, 100);
  const auto rows = sensitivity_of(fit, bound, 32);
  const auto& link = row_of(rows, "link rate");
  CHECK(link.less == Approx(-0.2).margin(0.01));
  CHECK(link.more == Approx(0.2).margin(0.01));
  const auto& bytes = row_of(rows, "bytes of a message");
  CHECK(bytes.less == Approx(0.25).margin(0.015));     // 1 / 0.8
  CHECK(bytes.more == Approx(-1.0 / 6).margin(0.01));  // 1 / 1.2
  CHECK(std::abs(row_of(rows, "compute time").more) < 0.01);
  // A fifth more samples in nearly the same time.
  CHECK(row_of(rows, "batch of a worker").more == Approx(0.2).margin(0.015));
  CHECK(row_of(rows, "packet loss").note == "from none to 0.100 %");

  // All of a worker's compute counts, its update too; a batch moves its passes alone.
  StepSummary updating = scale_step(2, 1e-4);
  updating.update_s = 0.05;
  const auto whole = sensitivity_of(fit, updating, 32);
  CHECK(row_of(whole, "compute time").value == "100 ms");
  CHECK(row_of(whole, "compute time").less == Approx(0.25).margin(0.01));  // 1 / 0.8
  // 1.2 times the samples in 1.1 times the time.
  CHECK(row_of(whole, "batch of a worker").more == Approx(1.2 / 1.1 - 1).margin(0.01));

  // Without bytes to speak of, compute decides, and a larger batch gains nothing.
  const auto idle = sensitivity_of(fit, scale_step(2, 1e-4), 32);
  CHECK(row_of(idle, "compute time").less == Approx(0.25).margin(0.01));
  CHECK(std::abs(row_of(idle, "link rate").more) < 0.001);
  CHECK(std::abs(row_of(idle, "batch of a worker").more) < 0.01);
  for (const SensitivityRow& row : idle) CHECK(row.input != "coding time of a message");
}
