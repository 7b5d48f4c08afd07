#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "compressors/codec.h"
#include "trainers/channel/state_store.h"
#include "trainers/layout.h"
#include "trainers/methods/method.h"

/// What one party sends another of a whole model at once, tensor by tensor, without anyone else:
/// a client's upload, a worker's gradient on its way to an asynchronous server.
namespace gradwire::trainers {

/// Immutable; any thread may call it.
///
/// Messages: for each tensor of the layout u32 length and the codec's payload; from a plain channel
/// the values as fp32 and nothing else. Little-endian.
class TensorChannel {
 public:
  /// Codecs by set of the layout, which must outlive the channel. Codecs that share scales among
  /// workers use each tensor's own.
  TensorChannel(std::span<const compressors::CodecPlan> plans, const Layout& layout,
                std::uint64_t seed);

  /// Sends values as they are.
  bool plain() const { return plain_; }
  /// What a plain channel would send.
  Bytes plain_bytes() const { return Bytes(4 * layout_.elements()); }

  /// message = what `party` sends of `values` (flat, layout order), with its states in `states`;
  /// `step` addresses the draws. Throws CodecError on NaN or Inf.
  void encode(StateStore& states, int party, std::int64_t step, std::span<const float> values,
              std::vector<std::byte>& message) const;
  /// The same with the party's states as one: of all tensors, one after the other, each from a
  /// multiple of 8 bytes on. `state` is of state_bytes(), aligned to 8.
  void encode(std::span<std::byte> state, int party, std::int64_t step,
              std::span<const float> values, std::vector<std::byte>& message) const;
  std::size_t state_bytes() const { return state_bytes_; }
  /// `message`, which was encoded with this state last, never arrived: error feedback has what it
  /// says to send again. Of tensors without feedback it is lost.
  void take_back(std::span<std::byte> state, std::span<const std::byte> message) const;

  /// By tensor. Throws TrainerError where the message ends early.
  std::vector<std::span<const std::byte>> payloads(std::span<const std::byte> message) const;
  /// sum += factor * what the payload of that tensor says; `sum` is of the whole layout.
  void add(std::size_t tensor, std::span<const std::byte> payload, float factor,
           std::span<float> sum) const;

 private:
  /// `state_of(tensor, bytes)`: where the codec keeps what it remembers of it.
  template <class StateOf>
  void encode_with(StateOf&& state_of, int party, std::int64_t step, std::span<const float> values,
                   std::vector<std::byte>& message) const;

  const Layout& layout_;
  std::uint64_t seed_;
  bool plain_ = true;
  std::vector<compressors::CodecPtr> codecs_;        ///< by set
  std::vector<bool> feeds_back_;                     ///< by tensor
  std::vector<const compressors::Codec*> codec_of_;  ///< by tensor
  std::vector<std::size_t> state_at_;                ///< by tensor
  std::size_t state_bytes_ = 0;
  std::size_t scratch_ = 0, longest_ = 0;  ///< of a tensor, of a message
};

/// The plans by set of what clients or workers send, and of what a server does; sets without a way
/// down go as fp32.
std::vector<compressors::CodecPlan> plans_up(const methods::Method& method, std::size_t phase);
std::vector<compressors::CodecPlan> plans_down(const methods::Method& method, std::size_t phase);

}  // namespace gradwire::trainers
