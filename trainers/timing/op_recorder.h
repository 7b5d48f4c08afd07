#pragma once
#include <ATen/record_function.h>
#include <c10/core/Event.h>
#include "trainers/passes/aten.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

/// Watches the operations that one thread asks LibTorch for. Includes LibTorch.
namespace gradwire::trainers {

/// Points in time: of the host's clock on a CPU, events in the current stream on a device.
class Marks {
 public:
  explicit Marks(at::Device device) : device_(device) {}
  void clear();
  void mark();
  /// Seconds from each mark to the next; waits for the device.
  std::vector<double> intervals();

 private:
  at::Device device_;
  std::vector<std::chrono::steady_clock::time_point> times_;
  std::vector<c10::Event> events_;
};

/// One operation of a forward pass, not those inside of it.
struct RecordedOp {
  std::string kind;                ///< "conv2d"
  std::vector<at::Tensor> leaves;  ///< trainable parameters among its arguments
  bool view = false;               ///< its result shares memory with an argument
  double flops = 0;
  std::int64_t inputs = 0;           ///< elements of other arguments
  std::int64_t outputs = 0;          ///< elements of results
  std::uint64_t first_sequence = 0;  ///< autograd nodes that it made:
  std::uint64_t end_sequence = 0;    ///< [first_sequence, end_sequence)
};

/// At most one at a time in a process.
class OpRecorder {
 public:
  /// `describe`: notes what each operation takes and gives; costs time, so not while measuring.
  OpRecorder(at::Device device, bool describe);
  ~OpRecorder();
  OpRecorder(const OpRecorder&) = delete;
  OpRecorder& operator=(const OpRecorder&) = delete;

  void begin_forward();
  void begin_backward();
  void end();

  const std::vector<RecordedOp>& ops() const { return ops_; }
  /// Seconds of each operation, and of each autograd node with its sequence number (-1: none).
  std::vector<double> forward_times() { return forward_.intervals(); }
  std::vector<double> backward_times() { return backward_.intervals(); }
  const std::vector<std::int64_t>& nodes() const { return nodes_; }

 private:
  enum class Phase { kIdle, kForward, kBackward };
  static std::unique_ptr<at::ObserverContext> on_start(const at::RecordFunction& function);
  static void on_end(const at::RecordFunction& function, at::ObserverContext* context);
  void start_op(const at::RecordFunction& function);
  void end_op(const at::RecordFunction& function);

  bool describe_;
  Phase phase_ = Phase::kIdle;
  int depth_ = 0;  ///< operations inside operations
  Marks forward_, backward_;
  std::vector<RecordedOp> ops_;
  std::vector<at::Tensor> arguments_;  ///< of the operation that runs
  std::vector<std::int64_t> nodes_;
  at::CallbackHandle handle_;
};

}  // namespace gradwire::trainers
