#pragma once
#include <memory>
#include <span>
#include <vector>

#include "trainers/channel/boundary_channel.h"
#include "trainers/passes/replica.h"
#include "trainers/schedules/pipeline/pipeline_graph.h"

namespace gradwire::trainers {

using BoundaryChannels = std::vector<std::unique_ptr<BoundaryChannel>>;  ///< [boundary]

/// The boundaries of one replica in a step: what its stages send each other, micro-batch by
/// micro-batch, and what became of it. Used by one thread at a time.
class ReplicaBoundaries final : public StageBoundaries {
 public:
  /// `keeps`: messages have their content.
  ReplicaBoundaries(const BoundaryChannels& channels, const StageCut& cut, int replica, bool keeps)
      : channels_(channels), cut_(cut), replica_(replica), keeps_(keeps) {}

  void begin_step(std::int64_t step);
  /// `first`: the number of its first sample in the batch. `samples` stay valid meanwhile.
  void begin(std::size_t micro_batch, std::span<const std::uint32_t> samples, std::size_t first);
  void activations(std::size_t boundary, std::span<const std::int64_t> shape,
                   std::span<float> values) override;
  void gradients(std::size_t boundary, std::span<const std::int64_t> shape,
                 std::span<float> values) override;

  /// Of the step so far.
  std::span<const BoundaryMessage> messages() const { return sent_; }
  const BoundaryLoss& loss() const { return loss_; }
  /// What all messages would take as fp32.
  Bytes plain_bytes() const { return plain_; }

 private:
  BoundaryMoment moment(std::size_t sender, std::size_t each) const;
  /// Throws Diverged unless all are finite.
  void check(std::span<const float> values, std::size_t stage, const char* what) const;
  template <class Send>
  void sending(std::size_t stage, const char* what, const Send& send) const;
  void add(std::size_t boundary, bool back, std::size_t values, double encoded);

  const BoundaryChannels& channels_;
  const StageCut& cut_;
  int replica_;
  bool keeps_;
  std::int64_t step_ = 0;
  std::size_t micro_batch_ = 0, first_ = 0;
  std::span<const std::uint32_t> samples_;
  std::vector<std::byte> message_;
  std::vector<BoundaryMessage> sent_;
  BoundaryLoss loss_;
  Bytes plain_{0};
};

}  // namespace gradwire::trainers
