#pragma once
#include <optional>
#include <string>

#include "results/prediction/exchange_shape.h"

namespace gradwire::results {

/// What a log or a table does not say about where it was measured.
struct LinkFacts {
  std::optional<double> bandwidth;  ///< line rate of a worker's link, B/s
  std::optional<double> delay_s;    ///< one way between two workers
  std::optional<double> loss;       ///< probability that a packet is lost
  std::optional<ExchangeKind> exchange;
};

}  // namespace gradwire::results
