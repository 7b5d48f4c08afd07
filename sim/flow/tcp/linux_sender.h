#pragma once
#include <algorithm>
#include <cstdint>

#include "sim/flow/tcp/numbered_queue.h"
#include "sim/flow/tcp/output.h"
#include "sim/flow/tcp/receiver.h"

/// When a sender sends by Linux's rules (TcpConstants: kernel_recovery):
///
///     lost        = sent before the segment that arrived last of all that have arrived, by more
///                   than its round trip + w; w = 0 from three sacked segments on and in recovery,
///                   else min(least round trip / 4, smoothed / 8) (RACK, RFC 8985)
///     recovery    window = in flight + n, each acknowledgement (PRR):
///                   in flight > threshold:  n = ceil(threshold x delivered / window before) - sent
///                   else                    n = min(threshold - in flight,
///                                               max(delivered - sent, delivered now) + progress)
///     probe       after min(timeout, 2 smoothed + 8 ms), or + the least timeout where one segment
///                   is out: the next segment, or the last one again
///     timeout     smoothed + max(least, 4 deviations); all that were not sent within a round trip
///                   are lost, slow start from one segment, CUBIC begins anew
/// Segments gather in bundles for segmentation offload, and wait for larger ones:
///     largest   max(2, (pace / 1024 + 64 KiB >> (least round trip / 512 us)) / segment), 64 KiB at
///               most; pace = r W / smoothed round trip, r = 2 far below the threshold, else 1.2
///     a bundle  min(largest, W / 2, what the window leaves)
///     waits     unless it is the largest, or a third of the window, or nothing was sent for 1 ms,
///               or the next acknowledgement is further away than min(1 ms, half a round trip), or
///               one segment is left, or in recovery
/// After silence the window of before says little of the path (RFC 2861): it is halved for each
/// timeout's time; while it is not filled it shrinks to what was used.
///
/// Source: Linux 6.x, net/ipv4/tcp_input.c, tcp_recovery.c, tcp_output.c (tcp_tso_autosize,
/// tcp_tso_should_defer, tcp_write_xmit; read, not copied). Bounds between what was written at once
/// are left out.
namespace gradwire::sim {

class LinuxSender {
 public:
  void on_write(TcpOutput& out, double now);
  void on_ack(TcpOutput& out, double now, const Acknowledgement& ack, std::uint64_t number,
              TcpReceiver::OutOfOrderQueue& arrived);
  /// The timer goes off: of reordering, a probe, or the timeout.
  void on_timer(TcpOutput& out, const TcpReceiver& receiver);

  /// No loss is known.
  bool is_open() const { return state_ == State::kOpen; }
  /// Whether the segment, which comes behind all that were sent before it and pass, is the last of
  /// a bundle.
  bool ends_bundle(std::int64_t number);
  /// Bytes of the window at `now`, after silence.
  std::int64_t window_after_idle(const TcpOutput& out, double now) const;
  /// The connection has been silent since then, s; while it rests.
  void resume_after(double last_sent) { last_sent_ = last_sent; }
  /// Something of the connection's goes out beside the stream until `time`.
  void touch(double time) { last_sent_ = std::max(last_sent_, time); }

 private:
  static constexpr double kNever = TcpOutput::kNever;
  enum class State : std::uint8_t { kOpen, kDisorder, kRecovery, kLoss };
  enum class Timer : std::uint8_t { kTimeout, kProbe, kReorder };
  struct Transmission {
    double time = 0;
    std::int64_t segment = 0;
    bool is_later_than(const Transmission& other) const {
      return time > other.time || (time == other.time && segment > other.segment);
    }
  };

  bool is_repairing() const { return state_ == State::kRecovery || state_ == State::kLoss; }
  double& sent_at(std::int64_t number) { return sent_at_[static_cast<std::uint64_t>(number)]; }
  double sent_at(std::int64_t number) const { return sent_at_[static_cast<std::uint64_t>(number)]; }

  // linux_sender.cc: what acknowledgements and timers tell
  void note_delivered(const TcpOutput& out, double now, std::int64_t number);
  std::int64_t learn(TcpOutput& out, double now, std::uint64_t ack_number, std::int64_t upto,
                     TcpReceiver::OutOfOrderQueue& arrived);
  bool find_late(TcpOutput& out, double now);
  bool is_known(const TcpOutput& out, const Transmission& transmission) const;
  void recover(TcpOutput& out);
  void reduce_rate(TcpOutput& out, std::int64_t delivered, bool progress);
  void grow(TcpOutput& out, double now, std::int64_t delivered, std::int64_t upto);
  void arm(TcpOutput& out, double now);
  void probe(TcpOutput& out, double now, const TcpReceiver& receiver);
  void end_probe(TcpOutput& out, std::int64_t upto);
  void time_out(TcpOutput& out, double now);

  // linux_sending.cc: what goes out
  void note_sent(TcpOutput& out, double now, std::int64_t number);
  bool send_next(TcpOutput& out, double now);
  bool send_bundles(TcpOutput& out, double now);
  void send(TcpOutput& out, double now);
  std::int64_t largest_bundle(const TcpOutput& out) const;
  bool defers(const TcpOutput& out, double now, std::int64_t room) const;
  void note_use(const TcpOutput& out, bool limited);
  bool is_filled(const TcpOutput& out) const;
  void shrink_unused(TcpOutput& out, double now);

  State state_ = State::kOpen;
  Timer timer_ = Timer::kTimeout;
  bool again_ = false;          ///< a timeout's segments are out, and nothing has come back
  bool probe_repairs_ = false;  ///< the probe was sent in place of a lost one
  bool limited_ = false;        ///< the window was filled since segment use_end_ was sent
  std::int64_t recover_ = 0;    ///< segment: all before it was sent when the last loss was seen

  NumberedQueue<double> sent_at_;  ///< s: of each outstanding segment's last copy, by its number
  NumberedQueue<Transmission> transmissions_;  ///< that may be lost, in order of time
  Transmission recent_{-kNever, -1};  ///< of all that have arrived, the one that was sent last
  double recent_round_trip_ = 0;      ///< its round trip, s
  double least_round_trip_ = kNever;
  double sample_ = -1;  ///< s: longest round trip that the acknowledgement at hand tells; < 0: none
  double latest_ = 0;   ///< s: shortest round trip that the acknowledgement at hand tells

  std::int64_t window_before_ = 0;  ///< segments, when recovery began
  std::int64_t delivered_ = 0;      ///< segments delivered in recovery
  std::int64_t out_ = 0;            ///< segments sent in recovery
  std::int64_t probe_end_ = -1;     ///< segments when the probe was sent; -1: none is out

  std::int64_t most_out_ = 0;  ///< segments, since use_end_ was sent
  std::int64_t use_end_ = 0;
  NumberedQueue<std::int64_t> pushed_;  ///< last segments of bundles that are on their way
  double last_sent_ = -kNever;
  std::int64_t used_ = 0;  ///< segments: most that were out while the window was not filled
  double used_since_ = 0;  ///< s: when the window was filled last, or something was acknowledged
};

}  // namespace gradwire::sim
