#pragma once
#include <atomic>
#include <catch2/catch.hpp>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

#include "sim/graph/interpreter.h"
#include "tests/sim/graphs.h"

/// Hosts that hold real data, and wires between threads.
namespace gradwire::sim::testing {

/// Reductions of int32 vectors: host h starts with value (h + 1) * (e + 1) at element e. A partial
/// sum of j contributors travels at the spec's width, low bits first.
class SumHandler : public DataHandler {
 public:
  SumHandler(const CollectiveSpec& spec, bool adds = true) : spec_(spec), adds_(adds) {
    for (std::size_t r = 0; r < spec.members.size(); ++r) {
      std::vector<std::uint32_t>& mine = values[spec.members[r]];
      mine.resize(static_cast<std::size_t>(spec.elements));
      for (std::size_t e = 0; e < mine.size(); ++e) {
        mine[e] = static_cast<std::uint32_t>((r + 1) * (e % 97 + 1));
      }
      sent[spec.members[r]] = 0;
      buffers_[spec.members[r]];
    }
  }

  std::span<const std::byte> send(int host, OpIndex, const HopTransfer& hop,
                                  ChunkRange chunk) override {
    const int width = width_of(spec_, hop.contributors);
    std::vector<std::byte>& out = buffers_.at(host);
    out.assign(static_cast<std::size_t>((chunk.count * width + 7) / 8), std::byte{0});
    for (std::int64_t e = 0; e < chunk.count; ++e) {
      const std::uint32_t value = values.at(host)[static_cast<std::size_t>(chunk.first + e)];
      for (int b = 0; b < width; ++b) {
        const std::int64_t bit = e * width + b;
        if (value >> b & 1) out[static_cast<std::size_t>(bit / 8)] |= std::byte(1 << bit % 8);
      }
    }
    sent.at(host) += static_cast<std::int64_t>(out.size());
    return out;
  }

  void receive(int host, OpIndex, const HopTransfer& hop, ChunkRange chunk,
               std::span<const std::byte> payload) override {
    const int width = width_of(spec_, hop.contributors);
    for (std::int64_t e = 0; e < chunk.count; ++e) {
      std::uint32_t value = 0;
      for (int b = 0; b < width; ++b) {
        const std::int64_t bit = e * width + b;
        const auto byte = std::to_integer<unsigned>(payload[static_cast<std::size_t>(bit / 8)]);
        value |= (byte >> bit % 8 & 1u) << b;
      }
      std::uint32_t& mine = values.at(host)[static_cast<std::size_t>(chunk.first + e)];
      mine = hop.reduce && adds_ ? mine + value : value;
    }
  }

  /// Sum over ranks: (1 + 2 + ... + N) (e mod 97 + 1).
  std::uint32_t expected(std::size_t e) const {
    const auto n = static_cast<std::uint32_t>(spec_.members.size());
    return n * (n + 1) / 2 * static_cast<std::uint32_t>(e % 97 + 1);
  }
  bool all_summed() const {
    for (const auto& [host, mine] : values) {
      for (std::size_t e = 0; e < mine.size(); ++e) {
        if (mine[e] != expected(e)) return false;
      }
    }
    return true;
  }

  std::map<int, std::vector<std::uint32_t>> values;  // by host
  std::map<int, std::int64_t> sent;                  // bytes, by host

 private:
  CollectiveSpec spec_;
  bool adds_;
  std::map<int, std::vector<std::byte>> buffers_;
};

/// Gathers, pushes and pulls: whole messages of any length.
class MessageHandler : public DataHandler {
 public:
  ~MessageHandler() override { CHECK(wrong == 0); }
  std::span<const std::byte> send(int host, OpIndex, const HopTransfer& hop, ChunkRange) override {
    return held.at(host).at(hop.block);
  }
  void receive(int host, OpIndex, const HopTransfer& hop, ChunkRange chunk,
               std::span<const std::byte> payload) override {
    wrong += hop.reduce || chunk.count != 0;  // hosts are threads: checked at the end
    held.at(host)[hop.block].assign(payload.begin(), payload.end());
  }
  std::atomic<int> wrong = 0;
  std::map<int, std::map<int, std::vector<std::byte>>> held;  // host -> owner rank -> message
};

inline std::vector<std::byte> message_of(int rank, std::int64_t size) {
  return std::vector<std::byte>(static_cast<std::size_t>(size), std::byte(rank + 1));
}

inline GraphPtr graph_of(const CollectiveSpec& spec) {
  GraphBuilder builder;
  builder.add_collective(spec, "collective");
  return builder.finish();
}

/// One mailbox a host; messages of later operations wait in it.
class MemoryWires {
 public:
  explicit MemoryWires(int hosts) : boxes_(static_cast<std::size_t>(hosts)) {}

  class End : public Wire {
   public:
    End(MemoryWires& wires, int host) : wires_(wires), host_(host) {}
    void send(int to, OpIndex op, const HopTransfer& hop,
              std::span<const std::byte> payload) override {
      const std::lock_guard lock(wires_.mutex_);
      wires_.boxes_[static_cast<std::size_t>(to)].push_back(
          {op, hop, {payload.begin(), payload.end()}});
      wires_.arrived_.notify_all();
    }
    WireMessage receive(OpIndex op) override {
      std::unique_lock lock(wires_.mutex_);
      auto& box = wires_.boxes_[static_cast<std::size_t>(host_)];
      for (;;) {
        for (std::size_t i = 0; i < box.size(); ++i) {
          if (box[i].op != op) continue;
          WireMessage message = std::move(box[i]);
          box.erase(box.begin() + static_cast<std::ptrdiff_t>(i));
          return message;
        }
        wires_.arrived_.wait(lock);
      }
    }

   private:
    MemoryWires& wires_;
    int host_;
  };

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::vector<std::vector<WireMessage>> boxes_;
};

/// Each host plays its part of operations 0 .. count - 1 in a thread of its own.
inline void play_hosts(const GraphTemplate& graph, std::span<const Bytes> bytes, int hosts,
                       DataHandler& handler) {
  MemoryWires wires(hosts);
  std::vector<std::thread> threads;
  for (int host = 0; host < hosts; ++host) {
    threads.emplace_back([&, host] {
      MemoryWires::End end(wires, host);
      for (OpIndex op = 0; op < graph.size(); ++op) {
        interpret_host(graph, op, bytes, host, handler, end);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace gradwire::sim::testing
