#pragma once
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "bridge/call.h"

/// A trace of PyTorch's profiler (Kineto's Chrome JSON, `export_chrome_trace`) of one rank, as far
/// as it says what the rank computed and called. Times are in microseconds of the trace's clock.
namespace gradwire::bridge::kineto {

inline constexpr double kNever = std::numeric_limits<double>::infinity();

struct Span {
  double begin = 0, end = 0;
};

/// An operation of a host's thread.
struct Operation : Span {
  bool views = false;  ///< it makes a view of a tensor, no more
};

/// An operation that ran on the device.
struct Kernel {
  Span span = {};
  double launched = 0;  ///< when the host asked for it; its begin where that is not known
};

/// What one collective was, and when.
struct TracedCall {
  Call call = {};     ///< without number and place
  double called = 0;  ///< when the host called it
  double returned = 0;
  /// When its data had arrived; infinite where the trace does not say.
  double arrived = 0;
  bool waits = false;       ///< the caller waited for it at once
  std::int64_t thread = 0;  ///< that called it
};

/// Where the host uses the result of a collective: DistributedDataParallel makes views of a bucket,
/// and copies its gradients back.
struct Use {
  double at = 0;  ///< begin of the first of the views that are made for it
  std::int64_t elements = 0;
  std::int64_t thread = 0;
};

struct Trace {
  int rank = 0, world = 1;
  std::string backend;                             ///< "gloo", "nccl"; may be empty
  std::map<std::string, std::vector<int>> groups;  ///< by name
  bool names_groups = true;                        ///< else there is one, "": the world
  std::vector<Span> steps;                         ///< ProfilerStep, in order
  std::vector<Span> optimiser_steps;               ///< outermost ones, in order
  std::vector<TracedCall> calls;                   ///< in order of calling
  std::vector<Use> uses;                           ///< in order
  /// Host operations of each thread, in order of their begin; those within others, too.
  std::unordered_map<std::int64_t, std::vector<Operation>> operations;
  /// Of the device but collectives', in order of launching; empty in a trace of a CPU.
  std::vector<Kernel> kernels;
};

[[noreturn]] void refuse_trace(const std::string& path, const std::string& why,
                               const std::string& hint = "");

/// Throws Error(kFailure) naming `path`: no trace, no rank in it, a collective whose size it does
/// not tell (recorded without shapes) or in which of several groups it is, one that cannot be
/// replayed.
Trace parse_trace(std::string_view text, const std::string& path);

/// What parse_trace begins with: rank and world alone, from the text's "distributedInfo".
struct TracedRank {
  int rank = 0, world = 1;
};
TracedRank parse_rank(std::string_view text, const std::string& path);

}  // namespace gradwire::bridge::kineto
