#include "results/prediction/model_choice.h"

#include <catch2/catch.hpp>

#include "tests/results/prediction/step_cases.h"

using namespace gradwire::results;

TEST_CASE("Forms have names, both ways") {
  for (const std::string_view name : kStepForms) {
    StepForm form{};
    REQUIRE(step_form(name, form));
    CHECK(name_of(form) == name);
  }
  StepForm form = StepForm::kFitted;
  CHECK_FALSE(step_form("terngrad", form));
  CHECK(form == StepForm::kFitted);
}

TEST_CASE("A form predicts by its own equation, and its efficiency is of its own time") {
  // 16 workers, 10 MB at 1 Gbps = 80 ms a message at efficiency 1; forward and backward 100 ms.
  StepSummary step = ring_step(16, 1e7);
  step.delay_s = 0;
  step.forward_s = 0.04;
  step.buckets[0].backward_s = 0.06;
  StepFit fit = usual_fit();
  fit.constants = plain_constants();
  fit.constants[0] = 1;
  const auto seconds = [&](StepForm form) { return predict_by(form, fit, step).seconds; };
  CHECK(seconds(StepForm::kTerngradTree) == Approx(0.1 + 4 * 0.08));     // log2 16 messages
  CHECK(seconds(StepForm::kTerngradPlateau) == Approx(0.1 + 2 * 0.08));  // two at most
  // A ring moves 2 x 15/16 of the message, 2.9 % slower for acknowledgements.
  const double ring = 0.1 + 2 * 15 / 16.0 * 0.08 * (1 + kAcknowledgements);
  CHECK(seconds(StepForm::kOverlap) == Approx(ring));
  CHECK(seconds(StepForm::kFitted) == seconds(StepForm::kOverlap));  // one equation
  CHECK(*efficiency_by(StepForm::kTerngradTree, fit, step) == Approx(0.1 / 0.42));
  CHECK(*efficiency_by(StepForm::kOverlap, fit, step) == Approx(0.1 / ring));
  CHECK_FALSE(predict_by(StepForm::kTerngradTree, fit, step).whole);
  CHECK(predict_by(StepForm::kOverlap, fit, step).whole->high_s > ring);
}

TEST_CASE("What computes nothing has no efficiency") {
  CHECK_FALSE(efficiency_by(StepForm::kOverlap, usual_fit(), ring_step(4)));
}
