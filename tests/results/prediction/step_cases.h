#pragma once
#include "results/prediction/step_fit.h"

/// A ring of `workers` on 1 Gbps, 100 us one way, with one bucket of `bytes`.
inline gradwire::results::StepSummary ring_step(int workers, double bytes = 1e8) {
  gradwire::results::StepSummary step;
  step.workers = workers;
  step.bandwidth = 125e6;
  step.delay_s = 100e-6;
  step.buckets = {{.message_bytes = bytes}};
  return step;
}

/// Efficiency 1 of links that carry messages both ways, and latency 1: arithmetic by hand.
inline gradwire::results::StepConstants plain_constants() {
  auto constants = gradwire::results::usual_constants();
  constants[0] = 1 + gradwire::results::kAcknowledgements;
  constants[1] = 1;
  return constants;
}

/// A fit of those constants; its band is that of no fit.
inline gradwire::results::StepFit plain_fit() {
  gradwire::results::StepFit fit = gradwire::results::usual_fit();
  fit.constants = plain_constants();
  return fit;
}

/// 0.1 s of compute, then a ring of 8 over 100 MB.
inline gradwire::results::StepSummary training_step() {
  gradwire::results::StepSummary step = ring_step(8);
  step.forward_s = 0.1;
  return step;
}
