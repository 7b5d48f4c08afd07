#include "sim/packet/cell_work.h"

#include <algorithm>

namespace gradwire::sim {
namespace {

constexpr double kWifiSegment = 3.8, kWifiListener = 2.8;
constexpr double kLteSegment = 25, kLteSegmentPhone = 2, kLtePhoneSecond = 7300;

}  // namespace

double CellWork::add(ChannelId channel, double segments, Bytes bytes) {
  const auto cell = static_cast<std::size_t>(cluster_.link_of(channel).cell);
  const double n = stations(cell);
  if (cluster_.cells()[cell].kind == Cell::Kind::kWifi)
    return segments * (kWifiSegment + kWifiListener * n);
  air_[2 * cell + static_cast<std::size_t>(channel % 2)] +=
      bytes.bits() / cluster_.nominal_rate(channel).value();
  return segments * (kLteSegment + kLteSegmentPhone * n);
}

double CellWork::busy_events() const {
  double events = 0;
  for (std::size_t cell = 0; cell < cluster_.cells().size(); ++cell)
    events += kLtePhoneSecond * stations(cell) * std::max(air_[2 * cell], air_[2 * cell + 1]);
  return events;
}

}  // namespace gradwire::sim
