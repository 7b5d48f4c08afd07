#pragma once
#include <cstdint>
#include <deque>
#include <iosfwd>
#include <optional>
#include <span>
#include <vector>

#include "trainers/channel/tensor_channel.h"

/// What a server sends clients that hold copies of its model: messages that say what it changes.
/// Server and clients add the same bytes in the same order, so that a client that took every
/// message, one that takes those it missed later, and the server hold bit-equal weights (the
/// server's residual keeps what messages leave out).
namespace gradwire::trainers {

class Broadcast {
 public:
  /// `stored`: so many of its latest messages the server keeps; `server`: its number, for draws.
  Broadcast(TensorChannel channel, std::int64_t stored, int server);

  /// model += what a new message says of `change` and of what earlier ones left out.
  void send(std::int64_t step, std::span<const float> change, std::span<float> model);

  /// Messages so far: the version of the server's model.
  std::int64_t version() const { return version_; }
  /// How a client that has the model of `version` (none: it has no model) gets that of now: the
  /// messages that it missed, one after the other, if they are all there and take fewer bytes than
  /// the model, else the model.
  struct Download {
    Bytes bytes{0};
    std::int64_t messages = 0;  ///< 0: the whole model, or nothing
  };
  Download download(std::optional<std::int64_t> version) const;
  /// The bytes of so many of the latest messages, one after the other.
  std::vector<std::byte> latest(std::int64_t messages) const;
  /// What a client does with those messages. Precondition: they are there.
  void catch_up(std::int64_t since, std::span<float> model) const;

  /// What the server has left out so far.
  std::span<const std::byte> residual() const { return state_; }
  /// In the server's memory.
  Bytes memory() const;

  void save(std::ostream& out) const;
  void load(std::istream& in);

 private:
  void apply(std::span<const std::byte> message, std::span<float> model) const;

  TensorChannel channel_;
  std::int64_t stored_;
  int server_;
  std::vector<std::byte> state_;
  std::deque<std::vector<std::byte>> messages_;  ///< the latest, in order
  std::int64_t version_ = 0;
};

}  // namespace gradwire::trainers
