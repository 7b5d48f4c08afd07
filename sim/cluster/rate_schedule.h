#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

/// What one direction of a link can carry as time goes on. Immutable, and shared by the links that
/// follow it.
namespace gradwire::sim {

class RateSchedule;
using RateSchedulePtr = std::shared_ptr<const RateSchedule>;

class RateSchedule {
 public:
  struct Piece {
    Seconds begin{0};
    BitsPerSecond rate{0};  ///< until the next piece begins; 0 = nothing passes
  };
  static constexpr std::int64_t kOpportunityBytes = 1500;

  /// Pieces by ascending begin, the first at 0. Repeats after `period`; 0 = the last one stays.
  /// `name` is what errors call it. Throws SimError for none, for times that go back, for rates
  /// that are negative or not finite, and for a schedule under which nothing ever passes.
  static RateSchedulePtr from_pieces(std::string name, std::vector<Piece> pieces, Seconds period);
  /// Pieces without a period that may end in a rate of 0 (a station leaves its cell): what is sent
  /// after that never arrives.
  static RateSchedulePtr fading(std::string name, std::vector<Piece> pieces);
  /// Mahimahi's trace: each line a millisecond at which 1,500 bytes may pass (several lines of one
  /// millisecond: so many times); repeats after the last line's millisecond (Netravali et al.,
  /// USENIX ATC 2015). Throws SimError for a line that is no millisecond, times that go back, and
  /// traces of 0 ms or of more than a day: their bins would fill the memory.
  static RateSchedulePtr from_mahimahi(std::string name, std::string_view text);
  /// A Mahimahi trace by its milliseconds.
  static RateSchedulePtr from_opportunities(std::string name, std::vector<std::uint32_t> instants);
  /// Lines of a time and a rate (sim/cluster/rate_table.h); the last rate stays.
  static RateSchedulePtr from_csv(std::string name, std::string_view text);

  const std::string& name() const { return name_; }
  /// Repeats after so long; 0 = never.
  Seconds period() const { return period_; }
  /// Of a Mahimahi trace: when 1,500 bytes may pass, in ms, ascending; empty for others.
  const std::vector<std::uint32_t>& opportunities() const { return opportunities_; }
  /// Piecewise constant rates. Of a Mahimahi trace: what passes in each bin of kBin.
  const std::vector<Piece>& pieces() const { return pieces_; }
  static constexpr std::uint32_t kBinMs = 20;
  static constexpr std::uint32_t kLongestTraceMs = 86'400'000;
  /// Whether it never changes.
  bool is_steady() const { return opportunities_.empty() && pieces_.size() == 1; }
  /// The same with all rates so many times as high, of pieces.
  RateSchedulePtr times(double factor) const;
  /// Mean rate over a period; without a period, the last piece's.
  BitsPerSecond mean_rate() const { return mean_rate_; }

 private:
  RateSchedule() = default;
  static RateSchedulePtr share(RateSchedule schedule);
  BitsPerSecond mean_of_pieces() const;
  void check() const;
  void check_passes() const;

  std::string name_;
  Seconds period_{0};
  std::vector<std::uint32_t> opportunities_;
  std::vector<Piece> pieces_;
  BitsPerSecond mean_rate_{0};  ///< every connection that crosses the link asks for it
};

}  // namespace gradwire::sim
