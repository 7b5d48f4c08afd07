#include "sim/flow/tcp/output.h"

#include <utility>

namespace gradwire::sim {

TcpOutput::TcpOutput(std::shared_ptr<const StreamPath> path, const TransportSettings& transport)
    : path_(std::move(path)),
      offered_(static_cast<std::int64_t>(transport.constants.first_offer)),
      congestion_(transport) {
  round_trip_.start(path_->first_round_trip(), *path_);
}

inline void TcpOutput::emit(double now, std::int64_t number) {
  if (timer_ == kNever) timer_ = now + round_trip_.timeout();
  const auto wire = static_cast<std::int32_t>(board_.at(number).bytes + path_->header);
  carrier_->carry(now, number, wire, path_->stamp(now));
}

std::int64_t TcpOutput::send_new(double now) {
  const std::int64_t bytes = std::min(path_->segment, unsent());
  board_.push(bytes);
  sent_ += bytes;
  messages_.charge(static_cast<double>(bytes) + path_->header, false, sent_);
  emit(now, board_.end() - 1);
  return board_.end() - 1;
}

std::int64_t TcpOutput::send_again(double now, std::int64_t number, std::int64_t most) {
  const std::int64_t full = std::min(most, path_->segment);
  if (board_.at(number).bytes < full && number + 1 < board_.end()) {
    if (!joined_) joined_ = std::make_unique<JoinedCopies>();
    joined_->join(board_, number, full);
  }
  board_.send_again(number);
  ++copies_;
  messages_.charge(board_.at(number).bytes + path_->header, true, sent_);
  emit(now, number);
  return number;
}

}  // namespace gradwire::sim
