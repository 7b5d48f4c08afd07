#include "trainers/timing/op_recorder.h"

#include <ATen/SequenceNumber.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>

#include "base/error.h"
#include "trainers/timing/op_counts.h"

namespace gradwire::trainers {
namespace {

OpRecorder* active = nullptr;

void add_tensors(const c10::IValue& value, std::vector<at::Tensor>& tensors) {
  if (value.isTensor()) {
    if (value.toTensor().defined()) tensors.push_back(value.toTensor());
  } else if (value.isTensorList()) {
    for (const at::Tensor& tensor : value.toTensorVector())
      if (tensor.defined()) tensors.push_back(tensor);
  }
}

std::string plain_name(const char* name) {
  const std::string text = name;
  const std::size_t colons = text.rfind("::");
  return colons == std::string::npos ? text : text.substr(colons + 2);
}

}  // namespace

void Marks::clear() {
  times_.clear();
  events_.clear();
}

void Marks::mark() {
  if (device_.is_cpu()) {
    times_.push_back(std::chrono::steady_clock::now());
    return;
  }
  events_.emplace_back(device_.type(), c10::EventFlag::BACKEND_DEFAULT);
  events_.back().record(c10::impl::VirtualGuardImpl(device_.type()).getStream(device_));
}

std::vector<double> Marks::intervals() {
  std::vector<double> seconds;
  for (std::size_t i = 1; i < times_.size(); ++i)
    seconds.push_back(std::chrono::duration<double>(times_[i] - times_[i - 1]).count());
  if (!events_.empty()) events_.back().synchronize();
  for (std::size_t i = 1; i < events_.size(); ++i)
    seconds.push_back(1e-3 * events_[i - 1].elapsedTime(events_[i]));
  return seconds;
}

OpRecorder::OpRecorder(at::Device device, bool describe)
    : describe_(describe), forward_(device), backward_(device) {
  GRADWIRE_ASSERT(active == nullptr);
  active = this;
  handle_ = at::addGlobalCallback(
      at::RecordFunctionCallback(&OpRecorder::on_start, &OpRecorder::on_end)
          .needsInputs(describe)
          .needsOutputs(describe)
          .scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION}));
}

OpRecorder::~OpRecorder() {
  at::removeCallback(handle_);
  active = nullptr;
}

void OpRecorder::begin_forward() {
  ops_.clear();
  nodes_.clear();
  forward_.clear();
  backward_.clear();
  depth_ = 0;
  phase_ = Phase::kForward;
  forward_.mark();
}

void OpRecorder::begin_backward() {
  phase_ = Phase::kBackward;
  backward_.mark();
}

void OpRecorder::end() {
  phase_ = Phase::kIdle;
}

std::unique_ptr<at::ObserverContext> OpRecorder::on_start(const at::RecordFunction& function) {
  if (active && active->phase_ == Phase::kForward &&
      function.scope() == at::RecordScope::FUNCTION && active->depth_++ == 0)
    active->start_op(function);
  return nullptr;
}

void OpRecorder::on_end(const at::RecordFunction& function, at::ObserverContext*) {
  if (!active) return;
  const bool node = function.scope() == at::RecordScope::BACKWARD_FUNCTION;
  if (active->phase_ == Phase::kForward && !node) {
    if (--active->depth_ == 0) active->end_op(function);
  } else if (active->phase_ == Phase::kBackward && node) {
    active->nodes_.push_back(function.seqNr());
    active->backward_.mark();
  }
}

void OpRecorder::start_op(const at::RecordFunction& function) {
  RecordedOp& op = ops_.emplace_back();
  op.first_sequence = at::sequence_number::peek();
  if (!describe_) return;
  op.kind = plain_name(function.name());
  arguments_.clear();
  for (const c10::IValue& value : function.inputs()) add_tensors(value, arguments_);
  for (const at::Tensor& tensor : arguments_) {
    if (tensor.requires_grad() && tensor.is_leaf())
      op.leaves.push_back(tensor);
    else
      op.inputs += tensor.numel();
  }
}

void OpRecorder::end_op(const at::RecordFunction& function) {
  forward_.mark();
  RecordedOp& op = ops_.back();
  op.end_sequence = at::sequence_number::peek();
  if (!describe_) return;
  std::vector<at::Tensor> results;
  for (const c10::IValue& value : function.outputs()) add_tensors(value, results);
  for (const at::Tensor& tensor : results) op.outputs += tensor.numel();
  if (results.empty()) return;
  op.view = !op.kind.ends_with("_") &&
            std::any_of(arguments_.begin(), arguments_.end(), [&](const at::Tensor& tensor) {
              return tensor.has_storage() && results[0].is_alias_of(tensor);
            });
  op.flops = op_flops(op.kind, arguments_, results[0]);
}

}  // namespace gradwire::trainers
