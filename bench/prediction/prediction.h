#pragma once
#include <cstdint>
#include <vector>

#include "bench/rows/row.h"

namespace gradwire::bench {

struct PredictionOptions {
  std::uint64_t seed = 1;
  int clean_cases = 36;
  int lossy_cases = 15;
  int mobile_cases = 9;
  int packet_cases = 9;
  int unequal_cases = 20;                          ///< half of them on links that lose packets
  std::vector<int> held_out = {16, 32, 64, 1024};  ///< workers
  bool list = false;                               ///< say every held-out point
};

/// `gradwire bench prediction`: the fitted performance model against flow, and on few
/// workers against packet. Each drawn case is
/// simulated on 2, 4 and 8 workers, the model fitted to that, and its predictions for more workers
/// held against simulations that it has not seen. Where links differ, each case has a number of
/// workers of its own, and a case that the closed forms refuse counts as one without a band. Errors
/// are shares of the simulated time; the coverage is the share of held-out points inside the 90 %
/// band; its upper bar ("excess") is judged over lossy and mobile points, since clean and packet
/// ones lie inside for certain.
std::vector<BenchRow> bench_prediction(const PredictionOptions& options, const Say& say);

}  // namespace gradwire::bench
