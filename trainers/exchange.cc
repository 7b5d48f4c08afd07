#include "trainers/exchange.h"

#include <algorithm>

#include "trainers/trainer_error.h"

namespace gradwire::trainers {
namespace {

/// Passes everything on and adds up what crosses.
class CountingHandler final : public sim::DataHandler {
 public:
  explicit CountingHandler(sim::DataHandler& inner) : inner_(inner) {}
  std::span<const std::byte> send(int host, sim::OpIndex op, const sim::HopTransfer& hop,
                                  sim::ChunkRange chunk) override {
    return inner_.send(host, op, hop, chunk);
  }
  void receive(int host, sim::OpIndex op, const sim::HopTransfer& hop, sim::ChunkRange chunk,
               std::span<const std::byte> payload) override {
    crossed_ += Bytes(static_cast<std::int64_t>(payload.size()));
    inner_.receive(host, op, hop, chunk, payload);
  }
  Bytes crossed() const { return crossed_; }

 private:
  sim::DataHandler& inner_;
  Bytes crossed_{0};
};

}  // namespace

std::span<const Bytes> StepTraffic::set_sizes(sim::OpIndex op, std::span<const Bytes> sizes) {
  const sim::GraphTemplate& graph = *plan_.graph();
  const std::size_t first = graph.bytes_begin[op];
  GRADWIRE_ASSERT(sizes.size() == graph.bytes_begin[op + 1] - first);
  std::copy(sizes.begin(), sizes.end(), bytes_.begin() + static_cast<std::ptrdiff_t>(first));
  return bytes_;
}

void StepTraffic::move(std::size_t bucket, std::size_t stage, std::span<const Bytes> sizes,
                       sim::DataHandler& handler) {
  const sim::OpIndex op = plan_.collective(bucket, stage);
  CountingHandler counting(handler);
  sim::interpret(*plan_.graph(), op, set_sizes(op, sizes), counting);
  payload_ += counting.crossed();
}

void StepTraffic::charge(std::size_t bucket, std::size_t stage, std::span<const Bytes> sizes,
                         Bytes payload) {
  set_sizes(plan_.collective(bucket, stage), sizes);
  payload_ += payload;
}

Bytes dense_bytes(const ExchangeSettings& settings, const Layout& layout) {
  const std::int64_t times = settings.server ? settings.workers : settings.workers - 1;
  return Bytes(2 * times * layout.elements() * 4);
}

std::unique_ptr<Exchange> make_exchange(const ExchangeSettings& settings, const Layout& layout,
                                        StateStore& states) {
  const compressors::Codec& codec = *settings.codec;
  if (codec.name() == "none" && !settings.dense_through_terms) {
    return make_dense_exchange(settings, layout);
  }
  switch (codec.policy()) {
    case compressors::AggregatePolicy::kSum:
      return make_sum_exchange(settings, layout);
    case compressors::AggregatePolicy::kGather:
      return make_gather_exchange(settings, layout, states);
    default:
      throw TrainerError("exchange gradients with", codec.name(),
                         std::string("messages that are combined by ") +
                             std::string(compressors::name_of(codec.policy())) +
                             " need an exchange that synchronous training does not have");
  }
}

}  // namespace gradwire::trainers
