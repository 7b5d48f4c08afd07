#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "base/philox.h"
#include "sim/cluster/cluster.h"
#include "sim/flow/cells/air.h"
#include "sim/flow/cells/rlc.h"

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
/// is there 7 ms after it. What the base thinks is left is what was reported less its grants.
///
/// A transport block of R blocks carries cell.h's bytes of its scheme.
///
/// Where it breaks down: nothing is lost in the air, and nothing sent again by HARQ; control
/// channels never fill up; no status report is owed from before the start; a station out of range
/// gets nothing.
namespace gradwire::sim {

class LteAir final : public Air {
 public:
  /// `cell` of `cluster`, which outlives it; `links`: of its stations, in order.
  /// `draws`: who was served last, before anything is sent.
  LteAir(const Cell& cell, std::vector<const Link*> links, const RandomStream& draws);

  bool push(double now, std::size_t station, bool up, CellPacket packet) override;
  void run(std::vector<CellPacket>& through) override;
  double busy(bool up) const override { return up ? busy_up_ : busy_down_; }

 protected:
  double find_next_event() const override;

 private:
  static constexpr std::size_t kProcesses = 8;

  struct Phone {
    Rlc base, own;        ///< the ends of its bearer
    double mean = 1;      ///< bytes/s granted down
    double known = 0;     ///< bytes: what the base thinks that it has to send
    double block_up = 0;  ///< bytes of a resource block in a subframe, where it stands
    double block_down = 0;
    std::array<double, kProcesses> busy_until{};  ///< s: its HARQ processes down
  };
  /// On their way, each in order: PDUs, grants, and reports.
  struct Coming {
    double time = 0;
    std::size_t phone = 0;
    double bytes = 0;
    Rlc::Pdu pdu = {};
  };

  bool is_gone(std::size_t phone, double now) const;
  double block_at(std::size_t phone, bool up, double now) const;
  double block_bytes(std::size_t phone, bool up, double now) const;
  void run_subframe(double now);
  static double* free_process(Phone& phone);
  void schedule_down(double now);
  void schedule_up(double now);
  void use_grant(const Coming& grant);
  double next_subframe() const;

  Cell cell_;
  std::vector<const Link*> links_;
  std::vector<Phone> phones_;
  std::deque<Coming> reports_, grants_, ups_, downs_;
  std::size_t next_phone_ = 0;  ///< whose turn up it is
  double last_ = 0;             ///< s: the last event
  double last_subframe_ = -1;   ///< s
  double busy_up_ = 0, busy_down_ = 0;
  int blocks_up_ = 0, blocks_down_ = 0;
};

}  // namespace gradwire::sim
