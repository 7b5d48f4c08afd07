#pragma once
#include "results/advice/candidate.h"
#include "results/prediction/step_model.h"

/// A step on `workers` workers of 1 GB/s without latency: compute of `compute` seconds, one bucket
/// behind it, messages of `megabytes`, encoded in `encode` seconds.
inline gradwire::results::Candidate candidate(const std::string& method, int workers,
                                              double megabytes, double encode = 0,
                                              double compute = 0.1) {
  using namespace gradwire::results;
  Candidate made;
  made.method = method;
  made.collective = "ring";
  made.bucket_bytes = 1e8;
  made.baseline = method == "none"   ? Baseline::kFp32
                  : method == "fp16" ? Baseline::kFp16
                                     : Baseline::kNone;
  made.step.workers = workers;
  made.step.forward_s = compute;
  made.step.bandwidth = 1e9;
  made.step.buckets = {{.encode_s = encode, .message_bytes = megabytes * 1e6}};
  return made;
}

/// Gathered round a ring instead of reduced.
inline gradwire::results::Candidate gathered(const std::string& method, int workers,
                                             double megabytes, double encode = 0) {
  auto made = candidate(method, workers, megabytes, encode);
  made.step.exchange = gradwire::results::ExchangeKind::kRingAllGather;
  return made;
}
