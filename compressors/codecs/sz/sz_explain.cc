#include <type_traits>

#include "compressors/codecs/sz/sz_block.h"
#include "compressors/field_text.h"
#include "compressors/payload.h"

namespace gradwire::compressors {
namespace {

constexpr std::size_t kShown = 4;  // of many

class Fields {
 public:
  explicit Fields(std::span<const std::byte> payload) : payload_(payload) {}

  template <class T>
  void number(const char* name, const char* type) {
    const T value = load_field<T>(payload_, at_);
    if constexpr (std::is_same_v<T, float>)
      add(name, type, sizeof(T), float_text(value));
    else
      add(name, type, sizeof(T), std::to_string(value));
  }

  /// `show(at)` says what stands at a byte.
  template <class Show>
  void list(const char* name, const std::string& type, std::size_t count, std::size_t stride,
            Show&& show) {
    std::string text;
    for (std::size_t i = 0; i < count && i < kShown; ++i)
      text += (i > 0 ? ", " : "") + show(at_ + stride * i);
    if (count > kShown) text += ", ... (" + std::to_string(count) + ")";
    add(name, type, stride * count, text);
  }

  void stream(const char* name, const char* type, std::size_t bits) {
    add(name, type, (bits + 7) / 8, std::to_string(bits) + " bits");
  }

  void add(const char* name, const std::string& type, std::size_t bytes, std::string value) {
    fields_.push_back({at_, bytes, name, type, std::move(value)});
    at_ += bytes;
  }

  std::vector<PayloadField> take() { return std::move(fields_); }

 private:
  std::span<const std::byte> payload_;
  std::size_t at_ = 0;
  std::vector<PayloadField> fields_;
};

std::string form_text(const SzBlock& block) {
  static const char* const predictors[] = {"no prediction", "1D Lorenzo", "2D Lorenzo", "raw"};
  return std::string(predictors[block.predictor]) + (block.zero_runs ? ", zero runs" : "") +
         (block.has_exact ? ", exact values" : "");
}

void explain_tables(Fields& fields, const SzBlock& block, std::span<const std::byte> payload) {
  fields.number<std::uint16_t>("radius", "u16");
  fields.number<std::uint16_t>("symbols", "u16");
  fields.list("code lengths", counted("(i16, u8)", block.symbols), block.symbols, 3,
              [&](std::size_t at) {
                return std::to_string(load_field<std::int16_t>(payload, at)) + ":" +
                       std::to_string(load_field<std::uint8_t>(payload, at + 2));
              });
  fields.number<std::uint32_t>("bits", "u32");
  fields.number<std::uint32_t>("outliers", "u32");
  if (block.zero_runs) fields.number<std::uint32_t>("tokens", "u32");
  if (block.zero_runs) fields.number<std::uint32_t>("run bits", "u32");
  if (block.has_exact) fields.number<std::uint32_t>("exact values", "u32");
}

void explain_streams(Fields& fields, const SzBlock& block, std::span<const std::byte> payload) {
  fields.stream("symbols", "canonical Huffman", block.bits);
  if (block.zero_runs) fields.stream("run lengths", "bits", block.run_bits);
  fields.list("outlier codes", counted("(u32, i32)", block.outliers), block.outliers, kSzEntry,
              [&](std::size_t at) {
                const SzEntry entry = sz_entry(payload, at);
                return std::to_string(entry.index) + ":" +
                       std::to_string(static_cast<std::int32_t>(entry.bits));
              });
  if (!block.has_exact) return;
  fields.list("exact", counted("(u32, f32)", block.exact), block.exact, kSzEntry,
              [&](std::size_t at) {
                return std::to_string(load_field<std::uint32_t>(payload, at)) + ":" +
                       float_text(load_field<float>(payload, at + 4));
              });
}

}  // namespace

std::vector<PayloadField> explain_sz(const SzBlock& block, std::span<const std::byte> payload) {
  Fields fields(payload);
  fields.number<std::uint32_t>("n", "u32");
  fields.number<float>("error bound", "f32");
  fields.add("form", "u8", 1, form_text(block));
  fields.number<std::uint8_t>("dimensions", "u8");
  fields.list("shape", counted("u32", block.dimensions), block.dimensions, 4, [&](std::size_t at) {
    return std::to_string(load_field<std::uint32_t>(payload, at));
  });
  if (block.raw()) {
    fields.list("values", counted("f32", block.n), block.n, 4,
                [&](std::size_t at) { return float_text(load_field<float>(payload, at)); });
  } else {
    explain_tables(fields, block, payload);
    explain_streams(fields, block, payload);
  }
  return fields.take();
}

}  // namespace gradwire::compressors
