#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "results/points/log_points.h"
#include "results/prediction/least_squares.h"
#include "sim/transport/nccl.h"

/// Constants of NCCL's form (sim/transport/nccl.h) from logs of nccl-tests.
///
/// The start of a call, the factor of the tuner's latencies, that of the bus bandwidth and that of
/// the latencies between nodes are fitted by robust least squares to the logarithms of the times
/// out of place, with priors: 25 us to a factor of e^0.5, 1 to e^0.3, 1 to e^0.05, 1 to e.
namespace gradwire::results {

/// Logarithms of a (s), l, and the factors of B and of net.
std::vector<Unknown> nccl_unknowns();

struct NcclFitRequest {
  std::string gpu;                       ///< a name of sim::nccl_gpus()
  std::optional<BitsPerSecond> between;  ///< of one node's adapters together
};

struct NcclFit {
  struct Row {
    std::string test;
    int ranks = 0, nodes = 1;
    double bytes = 0, seconds = 0, fitted = 0;  ///< s
    std::string_view algorithm, protocol;       ///< as NCCL's estimate chooses them
  };
  sim::NcclSettings settings;
  std::vector<Row> rows;
  bool decided[4] = {};  ///< by the rows rather than by the prior; in the order of nccl_unknowns()
  double median_error = 0, worst_error = 0;  ///< |fitted / seconds - 1|
  std::vector<std::string> warnings;         ///< what the logs leave open, or have and is not used
};

/// Throws Error: a log that is none of nccl-tests, a GPU whose links are not known, several nodes
/// whose network is not stated, times of 0.
NcclFit fit_nccl(std::span<const LogFile> logs, const NcclFitRequest& request);

}  // namespace gradwire::results
