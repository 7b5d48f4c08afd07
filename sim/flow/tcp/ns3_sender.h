#pragma once
#include <cstdint>
#include <memory>

#include "sim/flow/tcp/output.h"
#include "sim/flow/tcp/paced_sender.h"
#include "sim/flow/tcp/receiver.h"

namespace gradwire::sim {

/// When a sender sends by the rules of ns-3 3.44, which follow RFC 6675 (losses that selective
/// acknowledgements tell) and RFC 6937 (proportional rate reduction); stream.h has them in words.
/// With BBR the window and the pace are that one's (paced_sender.h).
class Ns3Sender {
 public:
  explicit Ns3Sender(const TcpOutput& out) { start(out); }
  /// The connection's first round trip is known. Before anything is written.
  void start(const TcpOutput& out);
  void set_phases(const StreamNumbers& draws) {
    if (paced_) paced_->set_draws(draws);
  }

  /// A message has been written; `more`: another one comes at the same instant.
  void on_write(TcpOutput& out, double now, bool more);
  void on_ack(TcpOutput& out, double now, const Acknowledgement& ack, std::uint64_t number,
              TcpReceiver::OutOfOrderQueue& arrived);
  /// s: when a segment that is paced may go out; infinite: none waits for that.
  double pace() const { return paced_ ? paced_->timer() : TcpOutput::kNever; }
  /// The first timer goes off, unless an acknowledgement that comes at `ack` is before it: false.
  bool run_timer(TcpOutput& out, double ack);
  /// No loss is known.
  bool is_open() const { return state_ == State::kOpen && duplicates_ == 0; }

 private:
  enum class State : std::uint8_t { kOpen, kDisorder, kRecovery, kLoss };
  /// What an acknowledgement tells.
  struct Told {
    double now = 0;  ///< s
    std::int64_t old = 0;
    std::int64_t upto = 0;       ///< segments
    std::int64_t delivered = 0;  ///< bytes that nothing had told before
    bool duplicate = false;      ///< some beyond a gap
    /// In recovery: a copy of one before `upto` came.
    bool resent_arrived = false;
    std::int64_t beyond = 0;  ///< segments_beyond_loss()
  };

  void send(TcpOutput& out, double now);
  void send_paced(TcpOutput& out, double now);
  bool send_next(TcpOutput& out, double now, std::int64_t space);
  void send_new(TcpOutput& out, double now) { note_sent(out, now, out.send_new(now)); }
  void send_again(TcpOutput& out, double now, std::int64_t number, std::int64_t most);
  void note_sent(TcpOutput& out, double now, std::int64_t number);
  void measure(TcpOutput& out, double now, const Acknowledgement& ack, std::int64_t upto);
  std::int64_t segments_beyond_loss(const TcpOutput& out, std::int64_t upto) const;
  void process(TcpOutput& out, const Told& told);
  void on_duplicate(TcpOutput& out, const Told& told);
  void on_partial(TcpOutput& out, const Told& told, std::int64_t segments);
  void on_whole(TcpOutput& out, const Told& told, std::int64_t segments, std::int64_t duplicates);
  void enter_recovery(TcpOutput& out, const Told& told);
  void reduce_rate(TcpOutput& out, const Told& told, bool duplicate);
  void restart_timer(TcpOutput& out, double now);
  void time_out(TcpOutput& out, double now);

  State state_ = State::kOpen;
  bool first_partial_ = true;
  int duplicates_ = 0;
  std::int64_t recover_ = 0;    ///< segment: all before it was sent when the last loss was seen
  std::int64_t remainder_ = 0;  ///< acknowledged bytes that make no whole segment yet
  std::int64_t reduced_flight_ = 0;     ///< bytes, proportional rate reduction's RecoverFS
  std::int64_t reduced_delivered_ = 0;  ///< prr_delivered
  std::int64_t reduced_out_ = 0;        ///< prr_out
  std::int64_t measured_from_ = 0;      ///< segments before it give no sample (a timeout's)
  std::unique_ptr<PacedSender> paced_;  ///< of BBR
};

}  // namespace gradwire::sim
