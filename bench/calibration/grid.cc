#include "bench/calibration/grid.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "base/philox.h"

namespace gradwire::bench {
namespace {

constexpr std::uint32_t kGridStream = kFirstReservedTensor + 0x10000006u;
constexpr double kSegmentBits = 1538 * 8;
constexpr double kPayloadShare = 1448.0 / 1538;
constexpr double kInitialWindow = 10;  // segments
constexpr int kWarmTransfers = 3;
constexpr int kColdConnections = 1;
constexpr int kLossyTransfers = 48;
constexpr int kMostFlows = 64;

const std::vector<double> kRates = {1e6, 10e6, 100e6, 1e9, 10e9, 100e9};
const std::vector<double> kRoundTrips = {50e-6, 1e-3, 5e-3, 20e-3, 80e-3, 200e-3};
const std::vector<double> kLosses = {0, 0.001, 0.01, 0.05};
const std::vector<double> kSizes = {1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};
const std::vector<double> kFlows = {1, 4, 16, 64};
const std::vector<double> kWarm = {0, 1};
const std::vector<double> kControls = {0, 1, 2};
const char* const kControlNames[] = {"cubic", "reno", "bbr"};

/// Each level as often as every other, but for one, in an order of its own.
std::vector<double> column(const std::vector<double>& levels, int points, std::uint64_t seed,
                           std::uint32_t factor) {
  std::vector<double> values;
  for (int i = 0; i < points; ++i)
    values.push_back(levels[static_cast<std::size_t>(i) % levels.size()]);
  const RandomStream stream{seed, factor, 0, kGridStream};
  for (std::size_t i = values.size(); i > 1; --i) {
    const double u = static_cast<double>(uniform(stream, i));
    std::swap(values[i - 1], values[static_cast<std::size_t>(u * static_cast<double>(i))]);
  }
  return values;
}

std::string with_unit(double value, const std::vector<std::pair<double, const char*>>& units) {
  for (const auto& [scale, unit] : units) {
    if (value < scale) continue;
    char text[40];
    std::snprintf(text, sizeof text, "%.4g %s", scale > 0 ? value / scale : value, unit);
    return text;
  }
  return "0";
}

int transfers_of(const GridPoint& point) {
  if (!point.warm) return kColdConnections;
  if (point.loss <= 0) return kWarmTransfers;
  return std::max(kWarmTransfers, kLossyTransfers / point.flows);
}

}  // namespace

std::vector<GridPoint> calibration_grid(std::uint64_t seed, int points) {
  const auto rates = column(kRates, points, seed, 0);
  const auto round_trips = column(kRoundTrips, points, seed, 1);
  const auto losses = column(kLosses, points, seed, 2);
  const auto sizes = column(kSizes, points, seed, 3);
  const auto flows = column(kFlows, points, seed, 4);
  const auto warm = column(kWarm, points, seed, 5);
  const auto controls = column(kControls, points, seed, 6);
  std::vector<GridPoint> grid;
  for (std::size_t i = 0; i < rates.size(); ++i)
    grid.push_back({rates[i], round_trips[i], losses[i], sizes[i], static_cast<int>(flows[i]),
                    warm[i] > 0, kControlNames[static_cast<std::size_t>(controls[i])]});
  return grid;
}

std::string name_of(const GridPoint& point) {
  std::string text = with_unit(point.rate, {{1e9, "Gbps"}, {1e6, "Mbps"}}) + ", " +
                     with_unit(point.round_trip, {{1e-3, "ms"}, {1e-6, "us"}}) + ", ";
  if (point.loss > 0) text += with_unit(100 * point.loss, {{1, "% loss"}, {0, "% loss"}}) + ", ";
  text += with_unit(point.bytes, {{1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}}) + ", " +
          std::to_string(point.flows) + (point.flows == 1 ? " flow, " : " flows, ");
  return text + (point.warm ? "warm, " : "cold, ") + point.control;
}

double expected_seconds(const GridPoint& point) {
  const double share = point.rate / point.flows;
  const double segments = std::max(1.0, point.bytes / 1448);
  const double doublings = std::max(1.0, std::log2(1 + segments / kInitialWindow));
  double seconds = point.bytes * 8 / kPayloadShare / share + point.round_trip * doublings;
  if (point.loss > 0) {
    // RFC 8312: 1.2 / sqrt p packets a round trip (and CUBIC's own rate is no lower).
    const double window = std::max(1.2 / std::sqrt(2 * point.loss), 1.0);
    seconds = std::max(seconds, segments / window * (point.round_trip + kSegmentBits / share));
  }
  return seconds;
}

std::string extrapolated_because(const GridPoint& point, const Reach& reach) {
  if (point.control == "bbr" && reach.reference == "linux")
    return "flow does not model Linux's bbr";
  if (reach.rate > 0 && point.rate > reach.rate) return "the links do not hold that rate";
  if (point.round_trip < reach.least_round_trip) return "the links do not hold that delay";
  const double transfers = static_cast<double>(transfers_of(point)) * point.flows;
  if (transfers * point.bytes / 1448 > reach.most_packets) return "too many packets";
  if (expected_seconds(point) * transfers_of(point) > reach.most_seconds) return "too long";
  return {};
}

Experiment experiment_of(const GridPoint& point) {
  Experiment experiment{.name = name_of(point), .cluster = {}};
  // Three hops each way; the middle one is the bottleneck, and has half of the delay.
  sim::LinkSpec middle;
  middle.rate = BitsPerSecond(point.rate);
  middle.delay = Seconds(point.round_trip / 4);
  middle.loss = point.loss;
  sim::LinkSpec access;
  access.rate = BitsPerSecond(point.rate * std::min(point.flows, 4));
  access.delay = Seconds(point.round_trip / 8);
  sim::Cluster& cluster = experiment.cluster;
  for (int host = 0; host < 2 * point.flows; ++host) cluster.add_host("h" + std::to_string(host));
  const sim::NodeId left = cluster.add_switch("left"), right = cluster.add_switch("right");
  cluster.add_link(left, right, middle);
  for (int flow = 0; flow < point.flows; ++flow) {
    cluster.add_link(flow, left, access);
    cluster.add_link(point.flows + flow, right, access);
    experiment.chains.push_back({flow, point.flows + flow, Bytes(std::llround(point.bytes))});
  }
  cluster.finish();
  using Control = sim::TransportSettings::CongestionControl;
  if (point.control == "reno") experiment.options.transport.congestion_control = Control::kReno;
  if (point.control == "bbr") experiment.options.transport.congestion_control = Control::kBbr;
  experiment.repeats = transfers_of(point) + (point.warm ? 1 : 0);
  experiment.gap = Seconds(0.02);
  experiment.together = point.flows <= kMostFlows;
  return experiment;
}

}  // namespace gradwire::bench
