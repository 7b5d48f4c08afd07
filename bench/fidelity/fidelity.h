#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/rows/row.h"
#include "sim/session/detail.h"

namespace gradwire::bench {

struct FidelityOptions {
  std::uint64_t seed = 1;
  int cases = 10;  ///< a regime
  std::string reference = "packet";
  std::vector<int> numbers = {};          ///< of each regime's cases only these, from 1; empty: all
  std::vector<std::string> regimes = {};  ///< empty: all without BBR or, with `bbr`, all with it
  bool bbr = false;                       ///< not beside names
  std::string traces = {};                ///< folder of Mahimahi traces, for `mobile`
  std::optional<sim::Detail> detail = {};  ///< of flow; empty: its own choice
  double case_limit_s = 180;               ///< of wall time, for kernel TCP of one case
  std::string calibration = "linux";       ///< of flow, against kernel TCP: its name or file
  /// Of wall time, after which no run of the reference begins; none: 1620 s of ns-3, 240 s of
  /// kernel TCP.
  std::optional<double> total_limit_s = {};
};

/// Names of the regimes.
std::vector<std::string> fidelity_regimes();

/// `gradwire bench fidelity`: the flow executor against a reference, by regime, on cases drawn from
/// the seed. Errors are shares of the reference's time; random ones compare means and quantiles of
/// samples large enough that the reference's standard error is 3 % or less, or as large as the
/// limit of time allows (a row of each regime says which): bench/fidelity/spending.h.
std::vector<BenchRow> bench_fidelity(const FidelityOptions& options, const Say& say);

}  // namespace gradwire::bench
