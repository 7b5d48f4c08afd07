#include "trainers/channel/boundary_channel.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "base/hash.h"
#include "base/serial.h"
#include "trainers/channel/framing.h"
#include "trainers/channel/run_job.h"
#include "trainers/trainer_error.h"

namespace gradwire::trainers {
namespace {

/// Draws of a boundary's codecs: this and twice its number, one more on the way back.
constexpr std::uint32_t kBoundaryStream = kFirstReservedTensor + 0x60000000u;
constexpr const char *kActivations = "activations", *kGradients = "activation gradients";

std::vector<std::int64_t> with_samples(std::span<const std::int64_t> shape, std::size_t samples) {
  std::vector<std::int64_t> own(shape.begin(), shape.end());
  own.front() = static_cast<std::int64_t>(samples);
  return own;
}

std::span<float> floats(std::vector<std::byte>& state) {
  return {reinterpret_cast<float*>(state.data()), state.size() / 4};
}

void append(std::span<const float> values, std::vector<std::byte>& message) {
  const auto bytes = std::as_bytes(values);
  message.insert(message.end(), bytes.begin(), bytes.end());
}

/// A sample's buffer becomes `values`; `state` is memory to use.
void store(ClientStates& buffers, std::uint32_t sample, std::span<const float> values,
           std::vector<std::byte>& state) {
  const auto bytes = std::as_bytes(values);
  state.assign(bytes.begin(), bytes.end());
  state = buffers.replace(static_cast<int>(sample), std::move(state));
}

/// Places of those samples that a buffer is there of.
std::vector<std::uint32_t> known_of(const ClientStates& buffers,
                                    std::span<const std::uint32_t> samples) {
  std::vector<std::uint32_t> places;
  for (std::size_t i = 0; i < samples.size(); ++i)
    if (buffers.knows(static_cast<int>(samples[i])))
      places.push_back(static_cast<std::uint32_t>(i));
  return places;
}

double square_sum(std::span<const float> values) {
  double sum = 0;
  for (const float value : values) sum += static_cast<double>(value) * value;
  return sum;
}
double square_distance(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t e = 0; e < a.size(); ++e) {
    const double difference = static_cast<double>(a[e]) - b[e];
    sum += difference * difference;
  }
  return sum;
}

double share(double part, double whole) {
  return whole > 0 ? std::sqrt(part / whole) : 0;
}

}  // namespace

void BoundaryLoss::add(const BoundaryLoss& other) {
  activations += other.activations;
  left += other.left;
  changes += other.changes;
  lost += other.lost;
}
double BoundaryLoss::buffer_error() const {
  return share(left, activations);
}
double BoundaryLoss::quantiser_error() const {
  return share(lost, changes);
}

BoundaryChannel::BoundaryChannel(const methods::BoundaryPlan& plan, std::size_t boundary,
                                 std::uint64_t seed, const StateLimits& limits)
    : differences_(plan.differences), boundary_(boundary), seed_(seed), limits_(limits) {
  if (plan.forward) forward_ = compressors::make_codec(*plan.forward);
  if (plan.backward) backward_ = compressors::make_codec(*plan.backward);
  GRADWIRE_ASSERT(forward_ || !differences_);
  limits_.what = "buffers of samples";
}

void BoundaryChannel::refuse(const std::string& what, const std::string& reason) const {
  throw TrainerError(what, "boundary " + std::to_string(boundary_), reason);
}

void BoundaryChannel::need_buffers(std::size_t elements) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!sender_) {
    sender_ = std::make_unique<ClientStates>(4 * elements, limits_);
    receiver_ = std::make_unique<ClientStates>(4 * elements, limits_);
  }
  GRADWIRE_ASSERT(sender_->state_bytes() == 4 * elements);
}

void BoundaryChannel::encode(const compressors::Codec& codec, std::span<const std::int64_t> shape,
                             std::span<const float> values, const BoundaryMoment& moment, bool back,
                             std::vector<std::byte>& message) const {
  const std::size_t begin = message.size();
  compressors::EncodeJob job = run_job(
      {back ? kGradients : kActivations, shape, values},
      {seed_, static_cast<std::uint32_t>(moment.step), static_cast<std::uint32_t>(moment.sender),
       kBoundaryStream + 2 * static_cast<std::uint32_t>(boundary_) + (back ? 1 : 0)},
      moment.first_element);
  message.resize(begin + codec.max_encoded_size(job.tensor));
  job.payload = std::span(message).subspan(begin);
  const std::size_t written = codec.encode(job, thread_scratch(codec.scratch_size(job.tensor)));
  message.resize(begin + written);
}

void BoundaryChannel::decode(const compressors::Codec& codec, std::span<const std::int64_t> shape,
                             std::span<const std::byte> payload, std::span<float> values,
                             const char* what) const {
  compressors::DecodeJob job;
  job.payload = payload;
  job.values = values;
  job.name = what;
  job.shape = shape;
  codec.decode(job, thread_scratch(codec.scratch_size(job.spec())));
}

/// Samples that are sent for the first time go into the message as they are; gives what of the
/// others has changed, places of whom are `known`.
std::vector<float> BoundaryChannel::changes(std::span<const std::uint32_t> samples,
                                            std::span<const float> values,
                                            std::span<const std::uint32_t> known,
                                            std::vector<std::byte>& message) const {
  const std::size_t each = values.size() / samples.size();
  std::vector<float> changes;
  changes.reserve(known.size() * each);
  std::vector<std::byte> state;
  for (std::size_t i = 0, k = 0; i < samples.size(); ++i) {
    const std::span<const float> own = values.subspan(i * each, each);
    if (k == known.size() || known[k] != i) {
      append(own, message);
      continue;
    }
    sender_->read(static_cast<int>(samples[i]), state);
    for (std::size_t e = 0; e < each; ++e) changes.push_back(own[e] - floats(state)[e]);
    ++k;
  }
  return changes;
}

/// The sender's buffers become what the receiver's will: `said` is what the message says of
/// changes.
void BoundaryChannel::take_in(std::span<const std::uint32_t> samples, std::span<const float> values,
                              std::span<const std::uint32_t> known, std::span<const float> said,
                              BoundaryLoss& loss) {
  const std::size_t each = values.size() / samples.size();
  std::vector<std::byte> state;
  for (std::size_t i = 0, k = 0; i < samples.size(); ++i) {
    const std::span<const float> own = values.subspan(i * each, each);
    if (k == known.size() || known[k] != i) {
      store(*sender_, samples[i], own, state);
      continue;
    }
    sender_->read(static_cast<int>(samples[i]), state);
    const std::span<float> buffer = floats(state);
    for (std::size_t e = 0; e < each; ++e) buffer[e] += said[k * each + e];
    loss.activations += square_sum(own);
    loss.left += square_distance(own, buffer);
    state = sender_->replace(static_cast<int>(samples[i]), std::move(state));
    ++k;
  }
}

void BoundaryChannel::require_different(std::span<const std::uint32_t> samples) const {
  std::vector<std::uint32_t> sorted(samples.begin(), samples.end());
  std::ranges::sort(sorted);
  if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end())
    refuse("send activations over", "sample " + std::to_string(*twice) +
                                        " comes twice in a micro-batch, and what is known of it "
                                        "can change once");
}

std::size_t BoundaryChannel::send(std::span<const std::uint32_t> samples,
                                  std::span<const std::int64_t> shape,
                                  std::span<const float> values, const BoundaryMoment& moment,
                                  std::vector<std::byte>& message, BoundaryLoss& loss) {
  message.clear();
  if (!forward_) {
    append(values, message);
    return 0;
  }
  const std::size_t each = values.size() / samples.size();
  std::vector<std::uint32_t> known;
  std::vector<float> own;
  std::span<const float> encoded = values;
  if (differences_) {
    require_different(samples);
    need_buffers(each);
    known = known_of(*sender_, samples);
    own = changes(samples, values, known, message);
    encoded = own;
  }
  std::vector<float> said(encoded.size());
  if (!encoded.empty()) {
    const std::vector<std::int64_t> part = with_samples(shape, encoded.size() / each);
    const std::size_t plain = message.size();
    encode(*forward_, part, encoded, moment, false, message);
    decode(*forward_, part, std::span(message).subspan(plain), said, kActivations);
  }
  const double lost = square_distance(encoded, said);
  loss.changes += square_sum(encoded);
  loss.lost += lost;
  if (differences_) {
    take_in(samples, values, known, said, loss);
  } else {
    loss.activations += square_sum(values);
    loss.left += lost;
  }
  return encoded.size() / each;
}

/// What the part of a message that is encoded says of so many samples.
std::vector<float> BoundaryChannel::said_by(std::span<const std::byte> message,
                                            std::span<const std::int64_t> shape,
                                            std::size_t encoded, std::size_t each) const {
  const std::vector<std::int64_t> part = with_samples(shape, encoded);
  const std::size_t plain = 4 * each * (static_cast<std::size_t>(shape.front()) - encoded);
  const std::size_t most =
      encoded > 0 ? forward_->max_encoded_size({encoded * each, kActivations, part}) : 0;
  if (message.size() < plain || message.size() > plain + most)
    refuse("receive activations over",
           "a message has " + std::to_string(message.size()) + " bytes, and " +
               std::to_string(plain + most) +
               " are expected: its two ends do not know the same samples");
  std::vector<float> said(encoded * each);
  if (encoded > 0) decode(*forward_, part, message.subspan(plain), said, kActivations);
  return said;
}

void BoundaryChannel::receive(std::span<const std::uint32_t> samples,
                              std::span<const std::int64_t> shape,
                              std::span<const std::byte> message, std::span<float> values) {
  const std::size_t each = values.size() / samples.size();
  std::vector<std::uint32_t> known;
  if (differences_) {
    need_buffers(each);
    known = known_of(*receiver_, samples);
  }
  const std::size_t encoded = differences_ ? known.size() : forward_ ? samples.size() : 0;
  const std::vector<float> said = said_by(message, shape, encoded, each);
  if (!forward_) std::memcpy(values.data(), message.data(), message.size());
  if (!differences_) {
    std::ranges::copy(said, values.begin());
    return;
  }
  std::vector<std::byte> state;
  for (std::size_t i = 0, k = 0; i < samples.size(); ++i) {
    const std::span<float> own = values.subspan(i * each, each);
    if (k < known.size() && known[k] == i) {
      receiver_->read(static_cast<int>(samples[i]), state);
      for (std::size_t e = 0; e < each; ++e) own[e] = floats(state)[e] + said[k * each + e];
      ++k;
    } else {
      std::memcpy(own.data(), message.data(), 4 * each);
      message = message.subspan(4 * each);
    }
    store(*receiver_, samples[i], own, state);
  }
}

void BoundaryChannel::send_gradients(std::span<const std::int64_t> shape,
                                     std::span<const float> values, const BoundaryMoment& moment,
                                     std::vector<std::byte>& message) const {
  message.clear();
  if (backward_)
    encode(*backward_, shape, values, moment, true, message);
  else
    append(values, message);
}

void BoundaryChannel::receive_gradients(std::span<const std::int64_t> shape,
                                        std::span<const std::byte> message,
                                        std::span<float> values) const {
  if (backward_)
    decode(*backward_, shape, message, values, kGradients);
  else
    std::memcpy(values.data(), message.data(), message.size());
}

std::uint64_t BoundaryChannel::hash_of(const Buffers& buffers) const {
  Hasher hasher;
  std::vector<std::byte> state;
  for (const int sample : buffers ? buffers->heard() : std::vector<int>{}) {
    buffers->read(sample, state);
    hasher.add(static_cast<std::uint64_t>(sample));
    hasher.add_bytes(state);
  }
  return hasher.value();
}

std::int64_t BoundaryChannel::buffer_bytes() const {
  if (!sender_) return 0;
  return static_cast<std::int64_t>(sender_->heard().size() * sender_->state_bytes());
}

void BoundaryChannel::save(std::ostream& out) const {
  put<std::uint64_t>(out, sender_ ? sender_->state_bytes() : 0);
  if (!sender_) return;
  sender_->save(out);
  receiver_->save(out);
}

void BoundaryChannel::load(std::istream& in) {
  const auto bytes = get<std::uint64_t>(in);
  if (bytes > 0 && (!differences_ || bytes % 4 != 0))
    refuse_checkpoint("it has buffers of samples, and this method keeps none");
  if (bytes == 0) return;
  if (sender_ && sender_->state_bytes() != bytes)
    refuse_checkpoint("its buffers are of samples of another size");
  need_buffers(bytes / 4);
  sender_->load(in);
  receiver_->load(in);
}

}  // namespace gradwire::trainers
