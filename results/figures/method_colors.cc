#include "results/figures/method_colors.h"

#include <algorithm>
#include <set>

#include "base/hash.h"
#include "compressors/codec.h"
#include "results/figures/palette.h"

namespace gradwire::results {
namespace {

/// A label begins with the method's name.
std::size_t place_of(const std::string& label) {
  const std::string name = label.substr(0, label.find(' '));
  std::size_t place = 0;
  for (const auto& row : compressors::codec_catalogue()) {
    if (row.name == name) return place;
    ++place;
  }
  // Methods that are no codec by themselves: this library does not know their catalogue.
  Hasher hash;
  hash.add_text(name);
  return place + hash.value() % kSeriesColors;
}

}  // namespace

MethodColors::MethodColors(std::vector<std::string> labels) {
  std::vector<std::pair<std::size_t, std::string>> order;
  for (std::string& label : labels) order.emplace_back(place_of(label), std::move(label));
  std::ranges::sort(order);
  order.erase(std::unique(order.begin(), order.end()), order.end());
  std::set<int> taken;
  const auto next = [&](std::size_t place) {
    // Of each round of colours as many as there are, before any is given twice.
    const int round = static_cast<int>(taken.size()) / kSeriesColors * kSeriesColors;
    int color = static_cast<int>(place % kSeriesColors);
    while (taken.contains(round + color)) color = (color + 1) % kSeriesColors;
    taken.insert(round + color);
    return round + color;
  };
  for (const auto& [place, label] : order) numbers_.emplace(label, next(place));
  others_ = next(0);
}

int MethodColors::of(const std::string& label) const {
  const auto known = numbers_.find(label);
  return known == numbers_.end() ? others_ : known->second;
}

}  // namespace gradwire::results
