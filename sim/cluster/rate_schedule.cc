#include "sim/cluster/rate_schedule.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "sim/cluster/rate_table.h"
#include "sim/sim_error.h"

namespace gradwire::sim {
namespace {

constexpr double kMsPerSecond = 1000;

[[noreturn]] void refuse_schedule(const std::string& name, std::string reason,
                                  std::string_view remedy) {
  throw SimError("read a link's schedule", name, std::move(reason), remedy);
}

std::string at_line(std::size_t line) {
  return "line " + std::to_string(line) + ": ";
}

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

/// Calls each(line, number) for lines that are neither empty nor comments.
template <typename Each>
void for_lines(std::string_view text, Each each) {
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    const std::string_view line = trimmed(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    if (!line.empty() && line.front() != '#') each(line, number);
  }
}

template <typename Number>
bool parse(std::string_view text, Number& value) {
  text = trimmed(text);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

std::vector<RateSchedule::Piece> binned(const std::vector<std::uint32_t>& opportunities) {
  const std::uint32_t period = opportunities.back();
  std::vector<RateSchedule::Piece> pieces;
  std::size_t next = 0;
  for (std::uint32_t begin = 0; begin < period; begin += RateSchedule::kBinMs) {
    const std::uint32_t end = std::min(begin + RateSchedule::kBinMs, period);
    std::size_t count = next;
    // The last line's instant is the next round's 0.
    while (count < opportunities.size() && (opportunities[count] < end || end == period)) ++count;
    const double bits = static_cast<double>(count - next) * RateSchedule::kOpportunityBytes * 8;
    pieces.push_back(
        {Seconds(begin / kMsPerSecond), BitsPerSecond(bits / ((end - begin) / kMsPerSecond))});
    next = count;
  }
  return pieces;
}

}  // namespace

RateSchedulePtr RateSchedule::from_pieces(std::string name, std::vector<Piece> pieces,
                                          Seconds period) {
  RateSchedule schedule;
  schedule.name_ = std::move(name);
  schedule.pieces_ = std::move(pieces);
  schedule.period_ = period;
  schedule.check();
  schedule.check_passes();
  return share(std::move(schedule));
}

RateSchedulePtr RateSchedule::times(double factor) const {
  std::vector<Piece> scaled = pieces_;
  for (Piece& piece : scaled) piece.rate = BitsPerSecond(factor * piece.rate.value());
  return from_pieces(name_, std::move(scaled), period_);
}

RateSchedulePtr RateSchedule::fading(std::string name, std::vector<Piece> pieces) {
  RateSchedule schedule;
  schedule.name_ = std::move(name);
  schedule.pieces_ = std::move(pieces);
  schedule.check();
  return share(std::move(schedule));
}

RateSchedulePtr RateSchedule::from_mahimahi(std::string name, std::string_view text) {
  std::vector<std::uint32_t> instants;
  for_lines(text, [&](std::string_view line, std::size_t number) {
    std::uint32_t instant = 0;
    if (!parse(line, instant))
      refuse_schedule(name, at_line(number) + "\"" + std::string(line) + "\" is no millisecond",
                      "give one whole number of milliseconds a line");
    if (!instants.empty() && instant < instants.back())
      refuse_schedule(name, at_line(number) + "the time goes back", "sort its lines");
    instants.push_back(instant);
  });
  return from_opportunities(std::move(name), std::move(instants));
}

RateSchedulePtr RateSchedule::from_opportunities(std::string name,
                                                 std::vector<std::uint32_t> instants) {
  if (instants.empty()) refuse_schedule(name, "it is empty", "give it at least one line");
  if (instants.back() == 0)
    refuse_schedule(name, "it lasts 0 ms", "its last line says after how long it repeats");
  if (instants.back() > kLongestTraceMs)
    refuse_schedule(name,
                    "its last line says that it lasts " + std::to_string(instants.back()) +
                        " ms, and a trace may last a day (86400000 ms)",
                    "cut it, or give longer changes as a schedule of rates");
  GRADWIRE_ASSERT(std::is_sorted(instants.begin(), instants.end()));
  RateSchedule schedule;
  schedule.name_ = std::move(name);
  schedule.period_ = Seconds(instants.back() / kMsPerSecond);
  schedule.pieces_ = binned(instants);
  schedule.opportunities_ = std::move(instants);
  schedule.check();
  schedule.check_passes();
  return share(std::move(schedule));
}

RateSchedulePtr RateSchedule::from_csv(std::string name, std::string_view text) {
  std::vector<Piece> pieces = read_rate_table(name, text);
  return from_pieces(std::move(name), std::move(pieces), Seconds(0));
}

void RateSchedule::check() const {
  if (pieces_.empty()) refuse_schedule(name_, "it is empty", "give it at least one line");
  if (pieces_.front().begin.value() != 0)
    refuse_schedule(name_, "it does not begin at 0 s", "say what the rate is at the start");
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    const double rate = pieces_[i].rate.value();
    if (!std::isfinite(pieces_[i].begin.value()) || !std::isfinite(rate) || rate < 0)
      refuse_schedule(name_, "piece " + std::to_string(i) + " is negative or not finite",
                      "give rates of 0 or more");
    if (i > 0 && pieces_[i].begin <= pieces_[i - 1].begin)
      refuse_schedule(name_, "the time goes back at piece " + std::to_string(i), "sort it by time");
  }
  if (period_.value() > 0 && pieces_.back().begin >= period_)
    refuse_schedule(name_, "a piece begins after its period", "make the period longer");
}

void RateSchedule::check_passes() const {
  const bool repeats = period_.value() > 0;
  const bool passes = std::any_of(pieces_.begin(), pieces_.end(),
                                  [](const Piece& piece) { return piece.rate.value() > 0; });
  if (repeats ? !passes : pieces_.back().rate.value() <= 0)
    refuse_schedule(name_, "after its last change nothing ever passes",
                    "end it with a rate above 0, or use an outage for a pause");
}

RateSchedulePtr RateSchedule::share(RateSchedule schedule) {
  schedule.mean_rate_ = schedule.mean_of_pieces();
  return std::make_shared<const RateSchedule>(std::move(schedule));
}

BitsPerSecond RateSchedule::mean_of_pieces() const {
  if (period_.value() <= 0) return pieces_.back().rate;
  double bits = 0;
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    const Seconds end = i + 1 < pieces_.size() ? pieces_[i + 1].begin : period_;
    bits += pieces_[i].rate.value() * (end - pieces_[i].begin).value();
  }
  return BitsPerSecond(bits / period_.value());
}

}  // namespace gradwire::sim
