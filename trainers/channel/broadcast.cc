#include "trainers/channel/broadcast.h"

#include "base/error.h"
#include "base/serial.h"

namespace gradwire::trainers {
namespace {

Bytes size_of(const std::vector<std::byte>& message) {
  return Bytes(static_cast<std::int64_t>(message.size()));
}

}  // namespace

Broadcast::Broadcast(TensorChannel channel, std::int64_t stored, int server)
    : channel_(std::move(channel)),
      stored_(stored),
      server_(server),
      state_(channel_.state_bytes()) {}

void Broadcast::send(std::int64_t step, std::span<const float> change, std::span<float> model) {
  std::vector<std::byte> message;
  channel_.encode(state_, server_, step, change, message);
  message.shrink_to_fit();
  apply(message, model);
  ++version_;
  messages_.push_back(std::move(message));
  if (static_cast<std::int64_t>(messages_.size()) > stored_) messages_.pop_front();
}

void Broadcast::apply(std::span<const std::byte> message, std::span<float> model) const {
  const auto payloads = channel_.payloads(message);
  for (std::size_t t = 0; t < payloads.size(); ++t) channel_.add(t, payloads[t], 1.0f, model);
}

Broadcast::Download Broadcast::download(std::optional<std::int64_t> version) const {
  const Download whole{channel_.plain_bytes(), 0};
  if (!version) return whole;
  const std::int64_t missed = version_ - *version;
  GRADWIRE_ASSERT(missed >= 0);
  if (missed > static_cast<std::int64_t>(messages_.size())) return whole;
  Bytes sum{0};
  for (std::int64_t i = 0; i < missed; ++i)
    sum += size_of(messages_[messages_.size() - 1 - static_cast<std::size_t>(i)]);
  return sum < whole.bytes ? Download{sum, missed} : whole;
}

std::vector<std::byte> Broadcast::latest(std::int64_t messages) const {
  std::vector<std::byte> bytes;
  for (std::size_t i = messages_.size() - static_cast<std::size_t>(messages); i < messages_.size();
       ++i)
    bytes.insert(bytes.end(), messages_[i].begin(), messages_[i].end());
  return bytes;
}

void Broadcast::catch_up(std::int64_t since, std::span<float> model) const {
  const auto missed = static_cast<std::size_t>(version_ - since);
  GRADWIRE_ASSERT(missed <= messages_.size());
  for (std::size_t i = messages_.size() - missed; i < messages_.size(); ++i)
    apply(messages_[i], model);
}

Bytes Broadcast::memory() const {
  Bytes sum(static_cast<std::int64_t>(state_.size()));
  for (const auto& message : messages_) sum += size_of(message);
  return sum;
}

void Broadcast::save(std::ostream& out) const {
  put(out, version_);
  put_span(out, std::span<const std::byte>(state_));
  put<std::uint64_t>(out, messages_.size());
  for (const auto& message : messages_) put_span(out, std::span<const std::byte>(message));
}

void Broadcast::load(std::istream& in) {
  version_ = get<std::int64_t>(in);
  auto state = get_vector<std::byte>(in);
  if (state.size() != state_.size()) refuse_checkpoint("its server remembers something else");
  state_ = std::move(state);
  messages_.clear();
  for (auto left = get<std::uint64_t>(in); left > 0; --left)
    messages_.push_back(get_vector<std::byte>(in));
}

}  // namespace gradwire::trainers
