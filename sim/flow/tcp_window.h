#pragma once
#include <limits>

#include "sim/cluster.h"
#include "sim/flow/tcp_path.h"

/// The congestion window W of one connection, a round at a time.
///
/// A round lasts r0 and may send W bytes; when they are sent before it is over, the sender waits
/// for its end; when they are not, the round takes as long as they take (the pipe is full).
///     slow start    10, 19, 38, ... segments: W += bytes acknowledged, one segment less at first
///     exit          a round fills the pipe (CUBIC), W reaches the threshold, or HyStart's false
///                   exit: W >= 16 segments and r0 - u s <= 2 ms. It takes acknowledgements less
///                   than 2 ms apart for one train; u s is how long the u segments acknowledged
///                   last took, the rest of r0 the silence before the next ones
///     CUBIC, clean path     W += u / 20
///     CUBIC, lossy path     target(t) = O + trunc(0.4 (t - K)^3), O = max(W_max, W_0),
///                           K^3 = (O - W_0) / 0.4, t: since the first growth after the cut, and r0
///                           ahead; W += u (target - W) / W, at most u / 2, at least up to the
///                           friendly estimate E += 0.53 u / W (RFC 8312, 4.1-4.3), and at least
///                           u / 20 before a loss and after a timeout (W_max = 0)
///     Reno                  W += u / W
/// Growth is limited by the application: in slow start acknowledgements count only while data is
/// left to send (each releases twice its bytes: u <= backlog / 2 as a round opens). After it those
/// of a transfer that filled a window all count, others not.
///
/// A loss. What is sent before it grows W as usual, what is sent after it does not. At the fast
/// retransmit W = beta W + 1 (CUBIC 0.7 with fast convergence of W_max, Reno 0.5). The recovery
/// round still sends the old W; the round that straddles its end, the part f of the old and 1 - f
/// of the new. A timeout sets the threshold to beta W and W to one segment (the retransmission),
/// two a round later.
///
/// On a clean path a window of two pipes no longer limits a transfer, nor one of a pipe at the line
/// rate: it is not counted any more. On a lossy path it is, because the next loss will cut it. W
/// never passes the socket buffers, and stays between transfers (ns-3 has no slow start after
/// idle).
namespace gradwire::sim {

inline constexpr double kHystartSegments = 16;     ///< HyStart's low window
inline constexpr double kHystartSilence = 2e-3;    ///< s; its spacing of an ACK train
inline constexpr double kCubicFirstGrowth = 0.05;  ///< a round, before any loss (ns-3 and Linux)
inline constexpr double kCubicScale = 0.4;         ///< C, segments / s^3
inline constexpr double kCubicBeta = 0.7;
inline constexpr double kCubicFriendly = 3 * (1 - kCubicBeta) / (1 + kCubicBeta);  // 0.53
inline constexpr double kRenoBeta = 0.5;
inline constexpr double kOpenPipes = 2;  ///< windows of so many pipes limit nothing

/// All sizes in wire bytes.
class TcpWindow {
 public:
  TcpWindow(const TcpPath& path, const TransportSettings& transport);

  /// May send this much before the round's end.
  double left() const { return left_; }
  double round_end() const { return round_end_; }
  double size() const { return size_; }
  /// Bytes were sent.
  void use(double bytes) { left_ -= bytes; }

  /// A transfer begins at `now` on an idle connection, or behind another: goes on in the running
  /// round or opens a new one.
  void begin(double now);
  /// The running round is over (all of it sent, or its time gone): opens the next at `now`. `rate`:
  /// the connection's present share, bytes a second; `backlog`: bytes it has still to send.
  void next_round(double now, double rate, double backlog);

  /// A segment sent now is lost: what follows it grows nothing until recover() or collapse().
  void lose();
  /// A fast retransmit at `now`; `cut`: of a loss that no recovery covers yet.
  void recover(double now, bool cut);
  /// A retransmission timeout at `now`; `alone`: nothing behind it has arrived, so that its
  /// acknowledgement is delayed; `pending`: data waits, so that it grows the window.
  void collapse(double now, bool alone, bool pending);

 private:
  void open() { left_ = std::numeric_limits<double>::infinity(); }
  void open_round(double now);
  void grow(double used, double now, double rate, double backlog);
  void slow_start(double used, double acked, double rate);
  void avoid_congestion(double acked, double now);
  void grow_cubic(double acked, double now);
  void remember_maximum();

  double left_ = 0;
  double round_end_ = -1;
  double size_;
  double round_trip_;
  double line_rate_;
  double quota_ = 0;     ///< of the running round
  double carried_ = 0;   ///< the next round's part of the window before a cut
  double counted_ = -1;  ///< sent in this round before a loss; < 0: no loss in it
  double segment_;
  double delayed_ack_;
  double limit_;
  double threshold_ = std::numeric_limits<double>::infinity();
  double frozen_until_ = -1;  ///< no growth in rounds that open before
  double maximum_ = 0;        ///< W_max, segments; 0 = no loss yet
  double epoch_ = -1;         ///< CUBIC's, s; < 0: begins with the next growth
  double origin_ = 0;         ///< of the curve, segments
  double plateau_ = 0;        ///< K, s
  double friendly_ = 0;       ///< E, segments
  bool cubic_;
  bool lossy_;
  bool first_round_ = true;
  bool limited_ = false;  ///< the running round followed one that was used up
};

}  // namespace gradwire::sim
