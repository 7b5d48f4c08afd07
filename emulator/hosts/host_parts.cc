#include "base/error.h"
#include "emulator/clock.h"
#include "emulator/hosts/host_run.h"
#include "sim/graph/interpreter.h"

/// The half of HostRunner that exchanges data: a host's part of a transfer or collective.
namespace gradwire::emulator {
namespace {

class HostWire final : public sim::Wire {
 public:
  HostWire(Exchange& exchange, GraphId graph, const PayloadIndex* payloads)
      : exchange_(exchange), graph_(graph), payloads_(payloads) {}
  void send(int to_host, OpIndex op, const sim::HopTransfer& hop,
            std::span<const std::byte> payload) override {
    exchange_.send(to_host, graph_, op, hop, payload,
                   payloads_ ? payloads_->find(op, hop) : std::nullopt);
    destinations_.insert(to_host);
  }
  sim::WireMessage receive(OpIndex op) override { return exchange_.receive(graph_, op); }
  const std::set<int>& destinations() const { return destinations_; }

 private:
  Exchange& exchange_;
  GraphId graph_;
  const PayloadIndex* payloads_;
  std::set<int> destinations_;
};

}  // namespace

/// Gives payloads of exactly the charged length: the method's own, or the pattern; the Exchange has
/// checked those that arrive. Adding a reduction's hop takes the time that the graph gives for it.
class HostRunner::MessageHandler final : public sim::DataHandler {
 public:
  MessageHandler(HostRunner& runner, RunPtr run) : runner_(runner), run_(std::move(run)) {}

  std::span<const std::byte> send(int, OpIndex op, const sim::HopTransfer& hop,
                                  sim::ChunkRange) override {
    ++transfers;
    payload += hop.bytes.count();
    wire += sim::wire_bytes(hop.bytes + Bytes(kMessageHeaderBytes), runner_.transport_).count();
    if (const auto row = run_->payloads ? run_->payloads->find(op, hop) : std::nullopt)
      return runner_.exchange_->payloads()->row(run_->id, *row).value().bytes;
    return runner_.exchange_->pattern().slice(pattern_offset(op, hop),
                                              static_cast<std::size_t>(hop.bytes.count()));
  }

  void receive(int, OpIndex op, const sim::HopTransfer& hop, sim::ChunkRange chunk,
               std::span<const std::byte> bytes) override {
    GRADWIRE_ASSERT(static_cast<std::int64_t>(bytes.size()) == hop.bytes.count());
    if (hop.reduce && run_->view->is_collective(op)) {
      const sim::CollectiveSpec& spec = run_->view->spec(op);
      const Seconds cost = spec.hop_fixed + spec.hop_per_element * static_cast<double>(chunk.count);
      if (cost > Seconds(0)) sleep_until(monotonic_now() + cost);
    }
    if (hop.destination_rank < 0) runner_.rank_arrived(run_, op, hop.source_rank);
  }

  std::int64_t transfers = 0;
  std::int64_t payload = 0;
  std::int64_t wire = 0;

 private:
  HostRunner& runner_;
  RunPtr run_;
};

void HostRunner::start_part(const RunPtr& run, OpIndex op) {
  if (run->cancelled || !run->part_open[op] || run->part_started[op]) return;
  const Role role = role_of(*run->view, op, host_);
  GRADWIRE_ASSERT(role != Role::kNone);
  if (role == Role::kReceiver && !arrived_.contains({run->id, op})) return;
  run->part_started[op] = true;
  arrived_.erase({run->id, op});
  pool_.start([this, run, op] {
    try {
      play_part(run, op);
    } catch (const Cancelled&) {
      // What it had received is discarded.
    } catch (const std::exception& error) {
      callbacks_.failed(error.what());
    }
  });
}

void HostRunner::play_part(const RunPtr& run, OpIndex op) {
  const Exchange::Foreground foreground(*exchange_);
  MessageHandler handler(*this, run);
  HostWire wire(*exchange_, run->id, run->payloads.get());
  sim::interpret_host(*run->view->graph, op, run->bytes, host_, handler, wire);
  const Seconds end = monotonic_now();
  exchange_->flush(run->id, op);
  std::int64_t retransmissions = 0;
  for (const int host : wire.destinations())
    retransmissions += exchange_->take_retransmissions(host);
  end_part(run, op, handler, end, retransmissions);
}

void HostRunner::end_part(const RunPtr& run, OpIndex op, const MessageHandler& handler, Seconds end,
                          std::int64_t retransmissions) {
  const std::lock_guard lock(mutex_);
  if (run->cancelled) return;
  const Role role = role_of(*run->view, op, host_);
  const std::uint32_t gate = gate_of(*run->view, op, host_);
  const std::uint32_t first_gate = run->view->index.gate_begin[op];
  Report report;
  report.graph = run->id;
  report.op = op;
  report.end = end;
  if (role != Role::kSender)
    report.source = gate == kNoGate ? 0 : static_cast<std::int32_t>(gate - first_gate);
  if (role != Role::kReceiver) {
    report.sent = true;
    report.start = run->part_ready[op];
    report.payload = handler.payload;
    report.transfers = handler.transfers;
    report.retransmissions = retransmissions;
    report.wire = handler.wire + retransmissions * transport_.wire_segment.count();
  }
  callbacks_.report(report);
  if (report.source >= 0)
    end_source(run, run->view->index.source_begin[op] + static_cast<std::uint32_t>(report.source),
               end, true);
}

void HostRunner::rank_arrived(const RunPtr& run, OpIndex op, int rank) {
  const std::lock_guard lock(mutex_);
  if (run->cancelled || !run->view->is_collective(op)) return;
  Report report;
  report.graph = run->id;
  report.op = op;
  report.source = rank;
  report.end = monotonic_now();
  callbacks_.report(report);
  end_source(run, run->view->index.source_begin[op] + static_cast<std::uint32_t>(rank), report.end,
             true);
}

}  // namespace gradwire::emulator
