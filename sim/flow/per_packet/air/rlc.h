#pragma once
#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <utility>
#include <vector>

#include "sim/flow/per_packet/air/air.h"

/// One end of an LTE radio bearer in acknowledged mode (3GPP TS 36.322), as ns-3 3.44 has it: what
/// waits to be sent, what is sent and not acknowledged, and the status report that is owed for what
/// has come.
///
/// Every data PDU asks for a status report; of those that are sent again the last one does, and the
/// first one after the time that a report was waited for. An end sends one at most every 10 ms; it
/// acknowledges all that has come. Where none has come 20 ms after the last PDU, and nothing waits,
/// all that is not acknowledged is sent again.
///
/// The scheduler does not see this end but its reports, which come with each packet that is to be
/// sent, with each PDU that arrives while a status report may be sent, and every 20 ms; what is
/// sent and not acknowledged counts in them as still to be sent.
namespace gradwire::sim {

class Rlc {
 public:
  static constexpr double kNever = Air::kNever;

  /// What the scheduler is told: bytes.
  struct Report {
    double data = 0;
    double unacknowledged = 0;
    double status = 0;
    double sum() const { return data + unacknowledged + status; }
  };
  /// What goes out at one opportunity.
  struct Pdu {
    bool is_status = false;
    bool polls = false;              ///< it asks for a status report
    std::int64_t number = -1;        ///< of data; of a status report: all before it have come
    std::vector<AirPacket> packets;  ///< that end in it
    bool is_nothing() const { return !is_status && number < 0; }
  };

  /// False: with 1 MB waiting already it drops the packet.
  bool push(double now, const AirPacket& packet);
  bool has_room(const AirPacket& packet) const;
  /// Fills `bytes`.
  Pdu send(double now, double bytes);
  /// The other end's PDU arrives. Appends the packets that it completes.
  void receive(double now, const Pdu& pdu, std::vector<AirPacket>& through);

  /// The latest report, less what the scheduler has granted since.
  Report& told() { return told_; }
  const Report& told() const { return told_; }
  /// A report has come since the last call.
  bool take_news() { return std::exchange(news_, false); }
  bool has_news() const { return news_; }

  /// s: of timers.
  double next_event() const { return std::min(report_at_, poll_at_); }
  void run(double now);

 private:
  struct Sent {
    std::int64_t number = 0;
    double bytes = 0;
  };

  static constexpr double kSameTime = Air::kSameTime;  // of timers, set in whole subframes

  bool may_report_status(double now) const { return owes_ && now >= silent_until_ - kSameTime; }
  void report(double now);
  Pdu send_data(double now, double bytes);
  static double acknowledge(std::deque<Sent>& sent, std::int64_t before);

  std::deque<AirPacket> waiting_;
  double bytes_ = 0;  ///< of them, less what of the first one is sent
  double begun_ = 0;  ///< of the first one
  std::deque<Sent> unacknowledged_;
  double unacknowledged_bytes_ = 0;
  std::deque<Sent> again_;
  double again_bytes_ = 0;
  std::int64_t next_ = 0;
  std::int64_t received_ = 0;  ///< PDUs of the other end
  bool owes_ = false;
  double silent_until_ = 0;  ///< s
  double report_at_ = kNever;
  double poll_at_ = kNever;
  bool polls_next_ = false;  ///< poll_at_ is over, and nothing sent since
  Report told_;
  bool news_ = false;
};

}  // namespace gradwire::sim
