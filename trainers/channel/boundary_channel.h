#pragma once
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "compressors/codec.h"
#include "trainers/channel/client_states.h"
#include "trainers/methods/method.h"

/// What two neighbouring stages of a pipeline send each other of a micro-batch.
namespace gradwire::trainers {

/// Where a message stands among all: what its draws are addressed by.
struct BoundaryMoment {
  std::int64_t step = 0;
  int sender = 0;                   ///< worker
  std::uint64_t first_element = 0;  ///< of the batch's values, with which this message begins
};

/// What sending activations left out, in sums of squares.
struct BoundaryLoss {
  double activations = 0, left = 0;  ///< |a|^2 and |a - m|^2, of samples that were encoded
  double changes = 0, lost = 0;      ///< |d|^2 and |d - Q(d)|^2 of what was encoded

  void add(const BoundaryLoss& other);
  /// |a - m| / |a| and |d - Q(d)| / |d|; 0 where nothing was encoded.
  double buffer_error() const;
  double quantiser_error() const;
};

/// Samples lie one after the other; `shape`: samples first. Without a codec messages are the values
/// as fp32. With buffers (methods::BoundaryPlan::differences), d = a - m of samples that are
/// known and Q its codec:
///
///   activations: the values of samples that are sent for the first time, as fp32, m <- a; then
///                Q(d) of all others as one tensor, m <- m + Q(d) at both ends
///
/// Both ends work out by themselves who is known, from buffers of their own. Different threads may
/// call it for samples that are not the same. All fp32 little-endian.
class BoundaryChannel {
 public:
  /// `boundary`: its number, for draws and messages. `limits`: of the buffers of one end.
  BoundaryChannel(const methods::BoundaryPlan& plan, std::size_t boundary, std::uint64_t seed,
                  const StateLimits& limits);

  bool encodes_activations() const { return forward_ != nullptr; }
  bool encodes_gradients() const { return backward_ != nullptr; }
  bool keeps_buffers() const { return differences_; }

  /// Fills `message`; gives how many samples it encodes, and adds to `loss`. Throws TrainerError
  /// for a sample that comes twice, CodecError for what cannot be encoded; buffers are as before
  /// then.
  std::size_t send(std::span<const std::uint32_t> samples, std::span<const std::int64_t> shape,
                   std::span<const float> values, const BoundaryMoment& moment,
                   std::vector<std::byte>& message, BoundaryLoss& loss);
  /// values = what the message says. Throws TrainerError where its length is another one, as where
  /// the two ends know different samples.
  void receive(std::span<const std::uint32_t> samples, std::span<const std::int64_t> shape,
               std::span<const std::byte> message, std::span<float> values);
  void send_gradients(std::span<const std::int64_t> shape, std::span<const float> values,
                      const BoundaryMoment& moment, std::vector<std::byte>& message) const;
  void receive_gradients(std::span<const std::int64_t> shape, std::span<const std::byte> message,
                         std::span<float> values) const;

  /// Of either end: all that it remembers, for comparisons.
  std::uint64_t sender_hash() const { return hash_of(sender_); }
  std::uint64_t receiver_hash() const { return hash_of(receiver_); }
  /// Of one end's buffers.
  std::int64_t buffer_bytes() const;

  void save(std::ostream& out) const;
  void load(std::istream& in);

 private:
  using Buffers = std::unique_ptr<ClientStates>;
  /// Makes the buffers, for samples of so many values, once.
  void need_buffers(std::size_t elements);
  std::uint64_t hash_of(const Buffers& buffers) const;
  std::vector<float> changes(std::span<const std::uint32_t> samples, std::span<const float> values,
                             std::span<const std::uint32_t> known,
                             std::vector<std::byte>& message) const;
  void take_in(std::span<const std::uint32_t> samples, std::span<const float> values,
               std::span<const std::uint32_t> known, std::span<const float> said,
               BoundaryLoss& loss);
  std::vector<float> said_by(std::span<const std::byte> message,
                             std::span<const std::int64_t> shape, std::size_t encoded,
                             std::size_t each) const;
  void require_different(std::span<const std::uint32_t> samples) const;
  void encode(const compressors::Codec& codec, std::span<const std::int64_t> shape,
              std::span<const float> values, const BoundaryMoment& moment, bool back,
              std::vector<std::byte>& message) const;
  void decode(const compressors::Codec& codec, std::span<const std::int64_t> shape,
              std::span<const std::byte> payload, std::span<float> values, const char* what) const;
  [[noreturn]] void refuse(const std::string& what, const std::string& reason) const;

  compressors::CodecPtr forward_, backward_;  ///< null: fp32
  bool differences_;
  std::size_t boundary_;
  std::uint64_t seed_;
  StateLimits limits_;
  std::mutex mutex_;           ///< of making them
  Buffers sender_, receiver_;  ///< none before a message, or without differences
};

}  // namespace gradwire::trainers
