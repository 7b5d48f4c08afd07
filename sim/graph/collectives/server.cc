// A parameter server's push and pull: sizes are the ranks' messages.
#include <numeric>

#include "sim/graph/collective.h"

namespace gradwire::sim {
namespace {

/// Push: each rank sends its message to the server; pull: the server sends each rank its message.
/// A sender is done when its message has arrived.
class ServerGenerator final : public CollectiveGenerator {
 public:
  ServerGenerator(std::span<const Bytes> bytes, bool push)
      : push_(push),
        messages_(bytes.begin(), bytes.end()),
        ready_(messages_.size(), false),
        arrived_(messages_.size(), false) {}

  std::int64_t transfers_total() const override { return ranks(); }
  std::int64_t incoming(int rank) const override {
    if (rank < 0) return push_ ? ranks() : 0;
    return push_ ? 0 : 1;
  }

  void on_ready(int rank, std::vector<HopTransfer>& start) override {
    if (rank >= 0) {
      ready_[static_cast<std::size_t>(rank)] = true;
      if (push_) start.push_back(message(rank));
      return;
    }
    server_ready_ = true;
    for (int r = 0; !push_ && r < ranks(); ++r) start.push_back(message(r));
  }

  void on_delivered(const HopTransfer& hop, std::vector<HopTransfer>&) override {
    const int rank = push_ ? hop.source_rank : hop.destination_rank;
    arrived_[static_cast<std::size_t>(rank)] = true;
    ++arrivals_;
  }

  bool rank_done(int rank) const override {
    if (rank < 0) return server_ready_ && arrivals_ == ranks();
    return ready_[static_cast<std::size_t>(rank)] && arrived_[static_cast<std::size_t>(rank)];
  }

 private:
  int ranks() const { return static_cast<int>(messages_.size()); }
  HopTransfer message(int rank) const {
    HopTransfer transfer;
    transfer.source_rank = push_ ? rank : -1;
    transfer.destination_rank = push_ ? -1 : rank;
    transfer.block = rank;
    transfer.bytes = messages_[static_cast<std::size_t>(rank)];
    return transfer;
  }

  bool push_;
  std::vector<Bytes> messages_;
  std::vector<bool> ready_;
  std::vector<bool> arrived_;
  int arrivals_ = 0;
  bool server_ready_ = false;
};

template <bool kPush>
std::unique_ptr<CollectiveGenerator> server_generator(const CollectiveSpec&,
                                                      std::span<const Bytes> bytes) {
  return std::make_unique<ServerGenerator>(bytes, kPush);
}

Bytes all_messages(const CollectiveSpec&, std::span<const Bytes> bytes) {
  return std::accumulate(bytes.begin(), bytes.end(), Bytes(0));
}

std::vector<std::int32_t> the_server(const CollectiveSpec&, int rank) {
  if (rank < 0) return {};
  return {-1};
}

std::vector<std::int32_t> all_ranks(const CollectiveSpec& spec, int rank) {
  std::vector<std::int32_t> list(rank < 0 ? spec.members.size() : 0);
  std::iota(list.begin(), list.end(), 0);
  return list;
}

}  // namespace

namespace collectives {

constexpr CollectiveDescriptor push{.name = "push",
                                    .sizes = CollectiveDescriptor::Sizes::kByRank,
                                    .server = CollectiveDescriptor::Server::kReceives,
                                    .cost = CollectiveDescriptor::Cost::kServer,
                                    .generator = server_generator<true>,
                                    .payload = all_messages,
                                    .destinations = the_server};
constexpr CollectiveDescriptor pull{.name = "pull",
                                    .sizes = CollectiveDescriptor::Sizes::kByRank,
                                    .server = CollectiveDescriptor::Server::kSends,
                                    .cost = CollectiveDescriptor::Cost::kServer,
                                    .generator = server_generator<false>,
                                    .payload = all_messages,
                                    .destinations = all_ranks};

}  // namespace collectives
}  // namespace gradwire::sim
