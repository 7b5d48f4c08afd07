#include "base/units.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <span>

#include "base/error.h"

namespace gradwire {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

constexpr std::array<Unit, 9> kByteUnits{{{"B", 1},
                                          {"kB", 1e3},
                                          {"MB", 1e6},
                                          {"GB", 1e9},
                                          {"TB", 1e12},
                                          {"KiB", 1024.0},
                                          {"MiB", 1048576.0},
                                          {"GiB", 1073741824.0},
                                          {"TiB", 1099511627776.0}}};
constexpr std::array<Unit, 9> kRateUnits{{{"bps", 1},
                                          {"kbps", 1e3},
                                          {"Mbps", 1e6},
                                          {"Gbps", 1e9},
                                          {"Tbps", 1e12},
                                          {"Bps", 8},
                                          {"kBps", 8e3},
                                          {"MBps", 8e6},
                                          {"GBps", 8e9}}};
constexpr std::array<Unit, 6> kTimeUnits{
    {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}, {"min", 60}, {"h", 3600}}};

std::string allowed(std::span<const Unit> units) {
  std::string text = "a number and one of the units";
  for (const Unit& unit : units) text.append(" ").append(unit.name);
  return text;
}

double parse(std::string_view text, std::string_view quantity, std::span<const Unit> units) {
  const auto refuse = [&](std::string_view reason) {
    return Error(ErrorKind::kUsage, std::string("read ").append(quantity),
                 std::string("\"").append(text).append("\""), reason, "allowed: " + allowed(units));
  };
  double number = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc{} || !std::isfinite(number))
    throw refuse("it does not start with a number");
  std::string_view name = text.substr(static_cast<std::size_t>(end - text.data()));
  while (!name.empty() && name.front() == ' ') name.remove_prefix(1);
  if (name.empty()) throw refuse("the unit is missing");
  for (const Unit& unit : units)
    if (unit.name == name) return number * unit.factor;
  throw refuse(std::string("the unit \"").append(name).append("\" is unknown"));
}

std::string format(double value, std::span<const Unit> units) {
  const Unit* chosen = &units.front();
  for (const Unit& unit : units)
    if (std::abs(value) >= unit.factor * 0.9995) chosen = &unit;
  const double scaled = value / chosen->factor;
  const double magnitude = std::abs(scaled);
  const int decimals = magnitude >= 100 || magnitude == 0 ? 0 : magnitude >= 10 ? 1 : 2;
  std::array<char, 64> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%.*f %.*s", decimals, scaled,
                static_cast<int>(chosen->name.size()), chosen->name.data());
  return buffer.data();
}

}  // namespace

Bytes parse_bytes(std::string_view text) {
  const double given = parse(text, "a size", kByteUnits), count = std::round(given);
  // "1.1MB" is whole, though 1.1 times a million is not in binary fractions.
  if (count < 0 || count > 9e18 || std::abs(given - count) > 1e-12 * count)
    throw Error(ErrorKind::kUsage, "read a size", std::string("\"").append(text).append("\""),
                "it is not a whole, non-negative number of bytes");
  return Bytes(static_cast<std::int64_t>(count));
}

BitsPerSecond parse_rate(std::string_view text) {
  return BitsPerSecond(parse(text, "a data rate", kRateUnits));
}

Seconds parse_duration(std::string_view text) {
  return Seconds(parse(text, "a duration", kTimeUnits));
}

std::string format_duration(Seconds value) {
  // Forecasts: nobody reads hours of four digits and more.
  constexpr double kDay = 86400;
  constexpr std::array<Unit, 2> kLongUnits{{{"days", kDay}, {"years", 365 * kDay}}};
  if (std::abs(value.value()) >= 3.6e6) return format(value.value(), kLongUnits);
  return format(value.value(), kTimeUnits);
}
std::string format_bytes(Bytes value) {
  const std::span<const Unit> units = kByteUnits;
  return format(static_cast<double>(value.count()), units.first(5));
}
std::string format_rate(BitsPerSecond value) {
  const std::span<const Unit> units = kRateUnits;
  return format(value.value(), units.first(5));
}

}  // namespace gradwire
