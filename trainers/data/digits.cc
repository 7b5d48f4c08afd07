#include <charconv>

#include "base/gzip.h"
#include "trainers/data/data_set.h"
#include "trainers/trainer_error.h"

namespace gradwire::trainers {
namespace {

constexpr int kSide = 8;
constexpr int kHighestValue = 16;

/// Reads one line of 64 pixel values and a label; `line` counts from 1 for messages.
void parse_line(const char*& at, const char* end, int line, DataSet& data) {
  for (int field = 0; field <= kSide * kSide; ++field) {
    int value = -1;
    const auto [next, error] = std::from_chars(at, end, value);
    const int highest = field == kSide * kSide ? data.classes - 1 : kHighestValue;
    if (error != std::errc() || value < 0 || value > highest) {
      throw TrainerError("read", "the embedded digits",
                         "line " + std::to_string(line) + ", field " + std::to_string(field + 1) +
                             " is not a number in 0.." + std::to_string(highest));
    }
    (field == kSide * kSide ? data.labels : data.pixels)
        .push_back(static_cast<std::uint8_t>(value));
    at = next;
    if (at != end && (*at == ',' || *at == '\n' || *at == '\r')) ++at;
  }
  while (at != end && (*at == '\n' || *at == '\r')) ++at;
}

}  // namespace

DataSet load_digits(std::uint64_t seed) {
  const std::vector<std::uint8_t> text = maybe_gunzip(embedded_digits(), "the embedded digits");
  DataSet data;
  data.name = "digits";
  data.classes = 10;
  data.channels = 1;
  data.height = data.width = kSide;
  const char* at = reinterpret_cast<const char*>(text.data());
  const char* const end = at + text.size();
  for (int line = 1; at != end; ++line) parse_line(at, end, line, data);
  split_by_seed(data, data.labels.size(), data.labels.size() / 5, seed);
  normalise(data);
  return data;
}

}  // namespace gradwire::trainers
