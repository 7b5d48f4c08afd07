#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "base/philox.h"
#include "sim/cluster/cluster.h"
#include "sim/flow/per_packet/air/air.h"
#include "sim/flow/per_packet/air/rlc.h"

/// The air of an LTE cell, subframe by subframe (1 ms): frequency division, one layer, RLC in
/// acknowledged mode (rlc.h), a proportional fair scheduler as ns-3 3.44 has it.
///
/// Down. At each subframe the base sends to one phone, over the whole width: of those that its
/// scheduler takes to have something to get, the one with the largest ratio of its rate to its mean
/// (over 99 subframes) of bytes granted. It is there 3 ms later. A status report takes the whole
/// subframe, and what is sent but not acknowledged may be granted another one, in vain. A phone has
/// 8 HARQ processes: one is busy for 7 subframes, or for 12 where a grant was in vain.
///
/// Up. A phone that has news says how much waits (BSR, in steps of 17 %) at the next subframe; the
/// base knows it 5 ms later. It divides the width evenly among all phones of which it knows
/// something, at least 3 blocks each, in turns; a phone fills its grant 2.2 ms after that, and it
/// is there after 6.9 ms in all. What the base thinks is left is what was reported less its grants.
///
/// Core. Behind the base every packet crosses two links of 10 Gbps each way, framed by 42 bytes
/// more than it has as one of IP's.
///
/// A transport block of R blocks carries transport_blocks.h's bytes of cell.h's scheme.
///
/// Where it breaks down: nothing is lost in the air, and nothing sent again by HARQ; control
/// channels never fill up; a station out of range gets nothing.
namespace gradwire::sim {

namespace lte {
/// What a phone's report of so many bytes says: one of the sizes of TS 36.321, table 6.1.3.1-1, 61
/// even steps of ratio from 10 B to 150 kB.
double reported(double bytes);
}  // namespace lte

class LteAir final : public Air {
 public:
  /// `cell` of `cluster`, which outlives it; `links`: of its stations, in order.
  /// `draws`: in which order they have connected.
  LteAir(const Cell& cell, std::vector<const Link*> links, const RandomStream& draws);

  bool push(double now, std::size_t station, bool up, AirPacket packet) override;
  void run(std::vector<AirPacket>& through) override;
  double busy(bool up) const override { return up ? busy_up_ : busy_down_; }

 protected:
  double find_next_event() const override;

 private:
  static constexpr std::size_t kProcesses = 8;

  struct Phone {
    Rlc base, own;      ///< the ends of its bearer
    double mean = 1;    ///< bytes/s granted down
    double known = 0;   ///< bytes: what the base thinks that it has to send
    int index_up = -1;  ///< of its transport blocks, where it stands; -1: out of range
    int index_down = -1;
    std::array<double, kProcesses> busy_until{};  ///< s: its HARQ processes down
  };
  /// On their way, each in order: PDUs, grants, and reports.
  struct Coming {
    double time = 0;
    std::size_t phone = 0;
    double bytes = 0;
    Rlc::Pdu pdu = {};
  };

  /// One way through the core network: its packets, and until when its first link sends.
  struct Core {
    struct Crossing {
      double time = 0;
      std::size_t phone = 0;
      AirPacket packet = {};
    };
    void enter(double now, std::size_t phone, const AirPacket& packet);
    double next_event() const { return crossing.empty() ? kNever : crossing.front().time; }
    std::deque<Crossing> crossing;
    double sends_until = 0;
  };

  bool is_gone(std::size_t phone, double now) const;
  int index_at(std::size_t phone, bool up, double now) const;
  double block_bytes(std::size_t phone, bool up, int blocks, double now) const;
  void run_subframe(double now);
  static double* free_process(Phone& phone);
  void schedule_down(double now);
  void schedule_up(double now);
  void use_grant(const Coming& grant);
  double next_subframe() const;

  Cell cell_;
  std::vector<const Link*> links_;
  std::vector<Phone> phones_;
  std::vector<std::size_t> order_;  ///< in which they have connected, and are looked at
  std::deque<Coming> reports_, grants_, ups_, downs_;
  Core core_up_, core_down_;
  std::vector<AirPacket> arrived_;         ///< scratch: at the base
  std::optional<std::size_t> next_phone_;  ///< whose turn up it is, in that order
  double last_ = 0;                        ///< s: the last event
  double last_subframe_ = -1;              ///< s
  double busy_up_ = 0, busy_down_ = 0;
  int blocks_up_ = 0, blocks_down_ = 0, group_ = 0;
};

}  // namespace gradwire::sim
