#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "base/philox.h"
#include "sim/cluster/cluster.h"
#include "sim/flow/per_packet/air/air.h"

/// The air of a Wi-Fi cell: IEEE 802.11ax, one spatial stream, 5 GHz, best effort (EDCA), frame by
/// frame.
///
/// Access. A sender with frames draws a number of slots in [0, W], W = 15, and counts them down
/// while it hears nothing, from SIFS + 3 slots after it did on. What comes to a sender whose count
/// is over goes out at the next slot. Who gets no acknowledgement doubles W + 1 (up to 1,024; W
/// = 15 again after 7 times) and tries again. After each frame a sender draws anew.
///
/// Frames. A turn carries what the sender has for one receiver, at most 65,535 bytes and 5.484 ms
/// (A-MPDU); the base turns to the station whose first packet has waited longest. It takes
///     44 us + 16 us ceil((22 + 8 bytes) / (16 us r)),  r: cell.h's rate of the scheme
/// with 4 bytes (rounded up to a multiple of 4) of a delimiter for each packet; SIFS later comes an
/// acknowledgement at 24 Mbps: 28 us for one packet, 40 us for more. Without one, who has sent more
/// than one packet first asks what has arrived (32 us, SIFS, 40 us). A packet has arrived when its
/// own part of the frame has, one that comes alone when the frame is over.
///
/// Who hears whom. Each has its place (stations at equal angles around the base), and powers fall
/// with distance as cell.h says. A node that neither sends nor receives takes up the strongest
/// frame that begins, where it is 4 dB above the noise of 20 MHz and all else; it is busy until its
/// end, and reads what its scheme's ratio lets it. (After what it cannot read it waits for EIFS.)
/// What begins and is not taken up keeps a node busy while it is above -82 dBm, also where it sends
/// itself; what goes on after a frame that it has taken up only above -62 dBm.
///
/// Rates. A response says how well its frame was heard: signal over noise and all else as the frame
/// ended. The next turn to that receiver has the best scheme for it, so that who was heard beside
/// others sends slowly once.
///
/// Queues hold 500 packets, for 0.5 s.
///
/// Where it breaks down: no bit errors but by interference, no beacons. A station out of range
/// sends in vain.
namespace gradwire::sim {

class WifiAir final : public Air {
 public:
  /// `cell` of `cluster`, which outlives it; `links`: of its stations, in order.
  WifiAir(const Cell& cell, std::vector<const Link*> links, const RandomStream& draws);

  void set_clock(const SessionClock& clock) override {
    Air::set_clock(clock);
    next_access_.reset();
  }
  bool push(double now, std::size_t station, bool up, AirPacket packet) override;
  void run(std::vector<AirPacket>& through) override;
  double busy(bool) const override { return busy_; }

 protected:
  double find_next_event() const override;

 private:
  static constexpr std::size_t kNobody = static_cast<std::size_t>(-1);

  /// Of the base (the first one) and each station.
  struct Node {
    std::vector<std::deque<AirPacket>> queues;  ///< the base: one a station
    std::vector<double> signals;                ///< last reported by their receivers: ratio x Hz
    std::size_t waiting = 0;                    ///< packets
    int slots = 0;                              ///< still to be counted down
    double start = 0;                           ///< s: from when on they are
    double grant = 0;                           ///< s: AIFS after it was busy
    int failures = 0;                           ///< in a row
    bool asks = false;                          ///< what of `flight` has arrived
    std::size_t to = 0;                         ///< queue of what is in flight
    std::size_t flight = 0;                     ///< its packets: sent, and not acknowledged
    std::size_t arrived = 0;                    ///< of these
    std::uint64_t turn = 0;                     ///< how many it has taken
    bool awaits = false;                        ///< an acknowledgement
    bool sends = false;
    bool was_busy = false;
    double covered_until = 0;  ///< s: until then what it has not taken up keeps it busy
    std::uint64_t hears = 0;   ///< number of the frame that it has taken up; 0: none
    double ratio = 0;          ///< least ratio to noise and others since that began
  };
  struct Frame {
    std::uint64_t number = 0;
    std::size_t from = 0;
    std::size_t to = 0;
    double begin = 0;  ///< s
    double end = 0;    ///< s
    double width = 0;  ///< Hz
    double need = 0;   ///< ratio of signal to noise and others that its scheme needs
    double rate = 0;   ///< bits/s
    std::size_t packets = 0;
    std::size_t passed = 0;  ///< of them, have been in the air
    std::int64_t bytes = 0;  ///< of those, with delimiters
    bool acknowledges = false;
    double signal = 0;  ///< of an acknowledgement: what it reports; of others: as it ends
  };
  /// A response that is due, or how long a sender waits for it.
  struct Due {
    double time = 0;
    std::size_t node = 0;  ///< that sends, or waits
    std::size_t to = 0;
    double air = 0;  ///< s, of the response; 0: the wait is over
    std::uint64_t turn = 0;
    double signal = 0;  ///< that the response reports
  };

  bool has_frames(const Node& node) const { return node.waiting > 0 || node.asks; }
  double power(std::size_t from, std::size_t to, double now) const;
  static double noise(double width);
  bool hears_energy(std::size_t node, double now) const;
  double covered_until(std::size_t node, double now) const;
  bool is_busy(std::size_t node, double now) const;
  double access(std::size_t node) const;
  void count_down(Node& node, double now);
  void draw_slots(Node& node, double now);
  void look_around(double now);
  void begin_turns(double now);
  Frame turn_of(std::size_t node, double now);
  void begin(double now, std::vector<Frame> frames);
  void end(const Frame& frame);
  void choose_receiver(Node& node);
  void drop_old(Node& node, double now);
  bool reaches(std::size_t station, double now) const;
  double signal_of(const Frame& frame, double now) const;
  double next_passage(const Frame& frame) const;
  void pass(Frame& frame, std::vector<AirPacket>& through);
  void succeed(std::size_t node, double now, double signal);
  void fail(std::size_t node, double now);

  Cell cell_;
  std::vector<const Link*> links_;
  RandomStream draws_;
  std::uint64_t drawn_ = 0;
  bool moves_ = false;
  bool has_outages_ = false;
  std::vector<double> powers_;  ///< mW, [from * nodes + to], where none moves
  std::vector<Node> nodes_;
  mutable std::optional<double> next_access_;  ///< s: of all; packets of a frame do not change it
  std::vector<Frame> frames_;                  ///< in the air
  std::vector<Due> dues_;
  std::uint64_t frame_numbers_ = 0;
  double busy_ = 0;
  double busy_since_ = 0;
};

}  // namespace gradwire::sim
