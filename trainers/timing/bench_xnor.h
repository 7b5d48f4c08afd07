#pragma once
#include <cstdint>

/// The exact product of matrices of +-1 beside LibTorch's product of the same matrices as fp32, on
/// one thread. No LibTorch headers here: the benchmarks' module exports it.
namespace gradwire::trainers {

struct XnorBenchSettings {
  std::uint64_t seed = 1;
  std::int64_t side = 2048;  ///< of the three square matrices
  int pairs = 15;            ///< ours and LibTorch's take turns in going first
};

struct XnorBenchResult {
  double own_s = 0;         ///< the product of packed matrices, median
  double pack_s = 0;        ///< both matrices from fp32 to bits, median
  double torch_s = 0;       ///< median
  double ratio = 0;         ///< torch / own, median over pairs
  double packed_ratio = 0;  ///< torch / (own + pack), of medians
  std::int64_t differ = 0;  ///< elements in which the two products differ
};

XnorBenchResult bench_xnor(const XnorBenchSettings& settings);

/// The symbol: the same, with the result written to the second argument.
using XnorBench = void (*)(const XnorBenchSettings& settings, XnorBenchResult& result);
inline constexpr const char* kXnorBenchSymbol = "gradwire_bench_xnor";

}  // namespace gradwire::trainers
