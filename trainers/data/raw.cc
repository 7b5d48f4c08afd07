#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <string_view>

#include "base/gzip.h"
#include "trainers/data/own_files.h"
#include "trainers/trainer_error.h"

namespace gradwire::trainers {
namespace {

constexpr std::string_view kRawMagic = "gradwire-data 1";
static_assert(std::endian::native == std::endian::little, "raw files are little-endian");

struct RawHeader {
  std::uint64_t samples = 0;
  int shape[3] = {1, 1, 0};  ///< channels, height, width
  std::uint64_t classes = 0;
  bool floats = false;
};

/// A raw file's header, line by line, and then its bytes.
class RawReader {
 public:
  explicit RawReader(const std::string& path) : path_(path), bytes_(read_maybe_gzip(path)) {}

  RawHeader header() {
    const std::string_view start(reinterpret_cast<const char*>(bytes_.data()), bytes_.size());
    if (!start.starts_with(kRawMagic) || line() != kRawMagic)
      fail("line 1: \"" + std::string(kRawMagic) + "\" is expected, and something else is there",
           "see docs/bring-your-own.md for the header");
    RawHeader header;
    for (std::string_view text = line(); !text.empty(); text = line()) read_field(text, header);
    if (header.samples == 0 || header.shape[2] == 0 || header.classes == 0 || !has_values_)
      fail("line " + std::to_string(line_) +
               ": the header ends, and has not said each of samples, shape, values and classes",
           "add the missing line before the empty one");
    return header;
  }

  /// `count` elements of `size` bytes.
  const std::uint8_t* take(std::uint64_t count, std::size_t size, const char* what) {
    const std::uint64_t left = bytes_.size() - at_;
    if (left / size < count)
      fail("byte " + std::to_string(at_) + ": " + std::to_string(count * size) + " bytes of " +
               what + " are expected, " + std::to_string(left) + " are there",
           "write as many as the header says");
    const std::uint8_t* begin = bytes_.data() + at_;
    at_ += count * size;
    return begin;
  }
  void end() {
    if (at_ != bytes_.size())
      fail("byte " + std::to_string(at_) + ": the file ends here by its header, but " +
               std::to_string(bytes_.size() - at_) + " bytes more are there",
           "correct samples or shape in the header");
  }

  [[noreturn]] void fail(const std::string& reason, const std::string& remedy) const {
    throw TrainerError("read raw data file", path_, reason, remedy);
  }
  std::uint64_t at() const { return at_; }

 private:
  std::string_view line() {
    ++line_;
    const std::string_view text(reinterpret_cast<const char*>(bytes_.data()) + at_,
                                bytes_.size() - at_);
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos || end > 200)
      fail("line " + std::to_string(line_) + ": the header's line does not end",
           "end the header with an empty line");
    at_ += end + 1;
    std::string_view found = text.substr(0, end);
    if (found.ends_with('\r')) found.remove_suffix(1);
    return found;
  }

  void read_field(std::string_view text, RawHeader& header) {
    const std::size_t space = std::min(text.find(' '), text.size());
    const std::string_view key = text.substr(0, space);
    std::string_view rest = text.substr(std::min(space + 1, text.size()));
    if (key == "samples") {
      header.samples = number(rest, 1, 1u << 30, text);
    } else if (key == "classes") {
      header.classes = number(rest, 2, 256, text);
    } else if (key == "values" && (rest == "u8" || rest == "f32")) {
      header.floats = rest == "f32";
      has_values_ = true;
    } else if (key == "shape") {
      read_shape(rest, text, header);
    } else {
      refuse(text, "samples N, shape C H W or shape N, values u8 or f32, or classes N");
    }
  }

  void read_shape(std::string_view rest, std::string_view text, RawHeader& header) {
    std::vector<int> sides;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(' '), rest.size());
      sides.push_back(static_cast<int>(number(rest.substr(0, end), 1, 1 << 20, text)));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    if (sides.size() == 1) sides.insert(sides.begin(), 2, 1);
    if (sides.size() != 3 || 1.0 * sides[0] * sides[1] * sides[2] > (1 << 26))
      refuse(text, "one number (of features) or three (channels, height, width)");
    std::copy(sides.begin(), sides.end(), header.shape);
  }

  std::uint64_t number(std::string_view digits, std::uint64_t low, std::uint64_t high,
                       std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size() || value < low || value > high)
      refuse(text, "a whole number from " + std::to_string(low) + " to " + std::to_string(high));
    return value;
  }

  [[noreturn]] void refuse(std::string_view text, const std::string& expected) const {
    fail("line " + std::to_string(line_) + ": \"" + std::string(text) + "\", where " + expected +
             " is expected",
         "correct the header");
  }

  std::string path_;
  std::vector<std::uint8_t> bytes_;
  std::size_t at_ = 0;
  int line_ = 0;
  bool has_values_ = false;
};

void append_raw(const std::string& path, const std::string& first_path, bool first, DataSet& data,
                bool& floats) {
  RawReader reader(path);
  const RawHeader header = reader.header();
  const bool same = header.shape[0] == data.channels && header.shape[1] == data.height &&
                    header.shape[2] == data.width && header.floats == floats &&
                    static_cast<int>(header.classes) == data.classes;
  if (!first && !same)
    reader.fail("its shape, values or classes differ from those of " + first_path,
                "give files of one form");
  data.channels = header.shape[0];
  data.height = header.shape[1];
  data.width = header.shape[2];
  data.classes = static_cast<int>(header.classes);
  floats = header.floats;
  const std::uint64_t count = header.samples * data.features();
  if (floats) {
    const std::uint64_t begin = reader.at();
    const std::uint8_t* bytes = reader.take(count, sizeof(float), "values");
    const std::size_t before = data.numbers.size();
    data.numbers.resize(before + count);
    std::memcpy(data.numbers.data() + before, bytes, count * sizeof(float));
    for (std::uint64_t i = 0; i < count; ++i)
      if (!std::isfinite(data.numbers[before + i]))
        reader.fail("byte " + std::to_string(begin + 4 * i) + ": the value is not a finite number",
                    "replace or remove it");
  } else {
    const std::uint8_t* bytes = reader.take(count, 1, "values");
    data.pixels.insert(data.pixels.end(), bytes, bytes + count);
  }
  const std::uint64_t begin = reader.at();
  const std::uint8_t* labels = reader.take(header.samples, 1, "labels");
  for (std::uint64_t i = 0; i < header.samples; ++i)
    if (labels[i] >= header.classes)
      reader.fail("byte " + std::to_string(begin + i) + ": label " + std::to_string(labels[i]) +
                      " is out of range 0.." + std::to_string(header.classes - 1),
                  "correct the label, or classes in the header");
  data.labels.insert(data.labels.end(), labels, labels + header.samples);
  reader.end();
}

}  // namespace

DataSet load_raw(const OwnFiles& files) {
  DataSet data;
  data.name = "raw";
  bool floats = false;
  append_raw(files.path, files.path, true, data, floats);
  const std::size_t first = data.labels.size();
  if (!files.held_out_path.empty())
    append_raw(files.held_out_path, files.path, false, data, floats);
  split_own(files, first, data.labels.size(), data);
  if (!floats)
    normalise(data);  // bytes always: their range says nothing about a useful scale
  else if (files.normalise)
    normalise_numbers(data);
  return data;
}

}  // namespace gradwire::trainers
