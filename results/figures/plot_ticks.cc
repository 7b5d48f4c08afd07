#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "results/figures/plot_geometry.h"

/// Ticks, their labels, and round ranges.
namespace gradwire::results {
namespace {

struct Prefix {
  double factor;
  const char* text;
};
constexpr std::array<Prefix, 8> kPrefixes = {{{1e12, "T"},
                                              {1e9, "G"},
                                              {1e6, "M"},
                                              {1e3, "k"},
                                              {1, ""},
                                              {1e-3, "m"},
                                              {1e-6, "\u00b5"},
                                              {1e-9, "n"}}};

const char* base_unit(Quantity quantity) {
  switch (quantity) {
    case Quantity::kSeconds:
      return "s";
    case Quantity::kBytes:
      return "B";
    case Quantity::kBitRate:
      return "bps";
    case Quantity::kShare:
      return "%";
    default:
      return "";
  }
}

/// Prefixes below one make no sense for bytes and counts, and above one none for seconds.
Prefix prefix_for(double magnitude, Quantity quantity) {
  if (quantity == Quantity::kShare) return {0.01, ""};
  if (quantity == Quantity::kPlain || magnitude == 0) return {1, ""};
  for (const Prefix& prefix : kPrefixes) {
    if (quantity == Quantity::kSeconds && prefix.factor > 1) continue;
    if (quantity != Quantity::kSeconds && prefix.factor < 1) break;
    if (magnitude >= prefix.factor * 0.9995) return prefix;
  }
  return quantity == Quantity::kSeconds ? kPrefixes.back() : Prefix{1, ""};
}

std::string unit_text(const Prefix& prefix, Quantity quantity) {
  return std::string(prefix.text) + base_unit(quantity);
}

std::string printed(const char* format, int digits, double value) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), format, digits, value);
  return text.data();
}

/// Without trailing zeros, never as "-0".
std::string plain_number(double value, int digits) {
  std::string text = printed("%.*g", digits, value);
  return text == "-0" ? "0" : text;
}

double nice_step(double width, int target) {
  const double rough = width / std::max(1, target);
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  for (const double multiple : {1.0, 2.0, 2.5, 5.0})
    if (rough <= multiple * power * 1.0001) return multiple * power;
  return 10 * power;
}

double largest(const Interval& range) {
  return std::max(std::abs(range.low), std::abs(range.high));
}

std::vector<Tick> linear_ticks(const Interval& range, int target, Quantity quantity) {
  double step = nice_step(range.high - range.low, target);
  if (quantity == Quantity::kCount) step = std::max(1.0, std::round(step));
  const double factor = prefix_for(largest(range), quantity).factor;
  // Digits after the point that tell neighbours apart: 0.25 needs two, 20 none.
  const double shown = step / factor;
  int decimals = 0;
  while (decimals < 9 && std::abs(shown * std::pow(10.0, decimals) -
                                  std::round(shown * std::pow(10.0, decimals))) > 1e-6)
    ++decimals;
  std::vector<Tick> result;
  const double slack = step * 1e-6;
  for (double i = std::ceil((range.low - slack) / step); i * step <= range.high + slack; ++i) {
    const double value = i == 0 ? 0.0 : i * step;
    result.push_back({value, printed("%.*f", decimals, value / factor)});
  }
  return result;
}

std::string own_label(double value, Quantity quantity) {
  const Prefix prefix = prefix_for(value, quantity);
  const std::string unit = unit_text(prefix, quantity);
  return plain_number(value / prefix.factor, 4) + (unit.empty() ? "" : " " + unit);
}

std::vector<Tick> log_ticks(const Interval& range, Scale scale, int target, Quantity quantity) {
  const double base = scale == Scale::kLog2 ? 2.0 : 10.0;
  const double first = std::ceil(std::log(range.low) / std::log(base) - 1e-9);
  const double last = std::floor(std::log(range.high) / std::log(base) + 1e-9);
  const double stride = std::max(1.0, std::ceil((last - first + 1) / std::max(1, target)));
  std::vector<Tick> result;
  for (double i = first; i <= last; i += stride) {
    const double value = std::pow(base, i);
    result.push_back({value, own_label(value, quantity)});
  }
  if (scale == Scale::kLog2 || result.size() >= 3) return result;
  result.clear();  // fewer than two decades: 1, 2, 5 times powers of ten
  for (double i = first - 1; i <= last + 1; ++i)
    for (const double multiple : {1.0, 2.0, 5.0}) {
      const double value = multiple * std::pow(10.0, i);
      if (value >= range.low * (1 - 1e-9) && value <= range.high * (1 + 1e-9))
        result.push_back({value, own_label(value, quantity)});
    }
  return result;
}

Interval nice_linear(Interval range) {
  if (range.low == range.high) {
    const double margin = range.low == 0 ? 1 : std::abs(range.low) * 0.1;
    return {range.low - (range.low == 0 ? 0 : margin), range.high + margin};
  }
  const double step = nice_step(range.high - range.low, 6) / 2;
  return {std::floor(range.low / step + 1e-9) * step, std::ceil(range.high / step - 1e-9) * step};
}

}  // namespace

std::vector<Tick> ticks(const Interval& range, Scale scale, int target, Quantity quantity) {
  if (range.empty() || range.low == range.high) return {};
  if (scale == Scale::kLinear) return linear_ticks(range, target, quantity);
  return log_ticks(range, scale, target, quantity);
}

std::string unit_of(const Interval& range, Scale scale, Quantity quantity) {
  if (scale != Scale::kLinear) return {};
  return unit_text(prefix_for(largest(range), quantity), quantity);
}

Interval nice_range(Interval range, Scale scale) {
  if (range.empty()) return scale == Scale::kLinear ? Interval{0, 1} : Interval{1, 10};
  if (scale == Scale::kLinear) return nice_linear(range);
  if (range.low == range.high) return {range.low / 2, range.high * 2};
  const double margin = std::pow(range.high / range.low, 0.04);
  return {range.low / margin, range.high * margin};
}

std::string format_value(double value, Quantity quantity) {
  if (!std::isfinite(value)) return std::isnan(value) ? "not a number" : "infinite";
  const Prefix prefix = prefix_for(std::abs(value), quantity);
  const double scaled = value / prefix.factor;
  const double magnitude = std::abs(scaled);
  const bool whole = quantity == Quantity::kCount && prefix.factor == 1;
  const int decimals = whole || magnitude >= 99.95 || magnitude == 0 ? 0
                       : magnitude >= 9.995                          ? 1
                       : magnitude >= 0.9995                         ? 2
                                                                     : 3;
  std::string text = magnitude != 0 && magnitude < 0.001 ? plain_number(scaled, 3)
                                                         : printed("%.*f", decimals, scaled);
  const std::string unit = unit_text(prefix, quantity);
  return unit.empty() ? text : text + " " + unit;
}

}  // namespace gradwire::results
