#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

/// What a method's own work costs beside the passes of a model, and beside the same work written
/// with LibTorch's operations. No LibTorch headers here: the benchmarks' module exports it.
namespace gradwire::trainers {

struct MethodBenchSettings {
  std::uint64_t seed = 1;
  int workers = 8;
  int batch_per_worker = 32;
  int pairs = 5;  ///< steps of each: ours and the twin's take turns in going first
  std::vector<std::string> methods = {};  ///< only these; empty: all
};

/// One method at kMethodBenchElements parameters, on one thread. Own work: a step of the trainer
/// whose passes take no time (gradients are drawn before): encode, move, add, decode, update. The
/// twin: the same arithmetic in at:: operations, with codes of a byte and indices of 8 bytes that
/// go nowhere.
struct MethodBenchResult {
  std::string method;
  double own_s = 0;   ///< a step's own work, all workers, median
  double pass_s = 0;  ///< forward and backward passes of all workers, of an mlp of that size
  double torch_s = 0;
  double ratio = 0;  ///< torch / own, median over pairs
  double bar = 0;    ///< least ratio; 0: none is asked for
  double share() const { return own_s / (own_s + pass_s); }
};

/// 784 x 2,800, 2,800 x 2,800 and 2,800 x 10 weights, and biases.
inline constexpr std::int64_t kMethodBenchElements = 10'068'810;

/// Names that settings may choose from, in the order of the results.
std::vector<std::string> benchmarked_methods();

/// Throws Error, also for a method that there is not.
std::vector<MethodBenchResult> bench_methods(const MethodBenchSettings& settings);

/// The symbol: the same, with the results written to the second argument.
using MethodsBench = void (*)(const MethodBenchSettings& settings,
                              std::vector<MethodBenchResult>& results);
inline constexpr const char* kMethodsBenchSymbol = "gradwire_bench_methods";

/// The work of a step of one method, in LibTorch's operations.
class MethodTwin {
 public:
  virtual ~MethodTwin() = default;
  virtual void step() = 0;
};

}  // namespace gradwire::trainers
