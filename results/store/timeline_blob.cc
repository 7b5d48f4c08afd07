#include "results/store/timeline_blob.h"

#include <bit>
#include <cmath>
#include <map>

namespace gradwire::results {
namespace {

constexpr std::byte kLayout{1};
constexpr double kTicksPerSecond = 1e12;
constexpr double kLongestSpan = 8.64e6;  // 100 days in seconds: 8.64e18 ps fits 63 bits

class Writer {
 public:
  void byte(std::uint8_t value) { bytes.push_back(std::byte{value}); }
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) byte(static_cast<std::uint8_t>(value | 0x80));
    byte(static_cast<std::uint8_t>(value));
  }
  void zigzag(std::int64_t value) {
    varint((static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63));
  }
  void number(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    for (int shift = 0; shift < 64; shift += 8) byte(static_cast<std::uint8_t>(bits >> shift));
  }
  void text(const std::string& value) {
    varint(value.size());
    for (const char letter : value) byte(static_cast<std::uint8_t>(letter));
  }
  std::vector<std::byte> bytes;
};

class Reader {
 public:
  Reader(std::span<const std::byte> data, const std::string& subject)
      : data_(data), subject_(subject) {}
  std::uint8_t byte() {
    if (at_ == data_.size()) damaged();
    return std::to_integer<std::uint8_t>(data_[at_++]);
  }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const std::uint8_t next = byte();
      value |= static_cast<std::uint64_t>(next & 0x7F) << shift;
      if (next < 0x80) return value;
    }
    damaged();
  }
  std::int64_t zigzag() {
    const std::uint64_t value = varint();
    return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
  }
  double number() {
    std::uint64_t bits = 0;
    for (int shift = 0; shift < 64; shift += 8) bits |= std::uint64_t{byte()} << shift;
    return std::bit_cast<double>(bits);
  }
  std::string text() {
    const std::uint64_t size = varint();
    if (size > data_.size() - at_) damaged();
    std::string value(reinterpret_cast<const char*>(data_.data() + at_), size);
    at_ += size;
    return value;
  }
  /// A count of things of at least one byte each.
  std::size_t count() {
    const std::uint64_t value = varint();
    if (value > data_.size() - at_) damaged();
    return value;
  }
  [[noreturn]] void damaged() const {
    throw StoreError("read the timeline of", subject_, "its packed data is damaged",
                     "run it again, or restore a copy of the database");
  }

 private:
  std::span<const std::byte> data_;
  const std::string& subject_;
  std::size_t at_ = 0;
};

std::int64_t ticks(double seconds) {
  if (!(std::abs(seconds) <= kLongestSpan))
    throw StoreError("store", "a timeline", "a time is not finite or a step spans over 100 days");
  return std::llround(seconds * kTicksPerSecond);
}

}  // namespace

std::vector<std::byte> pack_timeline(std::span<const TimelineSegment> segments) {
  Writer out;
  out.byte(std::to_integer<std::uint8_t>(kLayout));
  const double base = segments.empty() ? 0 : segments.front().start_s;
  out.number(base);
  std::map<std::string, std::uint64_t> index;
  std::vector<const std::string*> labels;
  for (const TimelineSegment& segment : segments)
    if (index.try_emplace(segment.label, labels.size()).second) labels.push_back(&segment.label);
  out.varint(labels.size());
  for (const std::string* label : labels) out.text(*label);
  out.varint(segments.size());
  std::int64_t worker = 0, start = 0;
  for (const TimelineSegment& segment : segments) {
    const std::int64_t begins = ticks(segment.start_s - base);
    out.varint(index[segment.label]);
    out.zigzag(segment.worker - worker);
    out.byte(segment.lane);
    out.zigzag(begins - start);
    out.zigzag(ticks(segment.end_s - base) - begins);
    out.zigzag(segment.bytes);
    worker = segment.worker;
    start = begins;
  }
  return std::move(out.bytes);
}

void unpack_timeline(std::span<const std::byte> data, std::int64_t step, const std::string& subject,
                     std::vector<TimelineSegment>& out) {
  Reader in(data, subject);
  if (in.byte() != std::to_integer<std::uint8_t>(kLayout)) in.damaged();
  const double base = in.number();
  std::vector<std::string> labels(in.count());
  for (std::string& label : labels) label = in.text();
  const std::size_t count = in.count();
  out.reserve(out.size() + count);
  const auto add = [&](std::int64_t difference, std::int64_t& to) {
    if (__builtin_add_overflow(to, difference, &to)) in.damaged();
  };
  std::int64_t worker = 0, start = 0;
  for (std::size_t i = 0; i < count; ++i) {
    TimelineSegment segment;
    segment.step = step;
    const std::uint64_t label = in.varint();
    if (label >= labels.size()) in.damaged();
    segment.label = labels[label];
    add(in.zigzag(), worker);
    segment.worker = static_cast<std::int32_t>(worker);
    segment.lane = in.byte();
    add(in.zigzag(), start);
    segment.start_s = base + static_cast<double>(start) / kTicksPerSecond;
    std::int64_t end = start;
    add(in.zigzag(), end);
    segment.end_s = base + static_cast<double>(end) / kTicksPerSecond;
    segment.bytes = in.zigzag();
    out.push_back(std::move(segment));
  }
}

}  // namespace gradwire::results
