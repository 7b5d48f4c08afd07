#include "bench/codecs/codec_bars.h"

namespace gradwire::bench {
namespace {

constexpr std::size_t kOne = 4, kSmall = 4 << 10, kCached = 64 << 10, kLarge = 64 << 20;

enum Machine { kAny, kAvx512, kAvx2 };

// Names between spaces, so that one can be looked for with its spaces.
constexpr const char* kFixedWidth =
    " none fp16 bf16 int8 minmax rowquant natural dither qsgd terngrad ternary sign log lowbit "
    "binary kbit ";
constexpr const char* kDecoders = " decode decode_add ";
constexpr const char* kEncode = " encode ";
constexpr const char* kAll = " encode decode decode_add ";

struct BarRow {
  Machine machine;
  const char* codecs;  ///< labels; "!" in front: all but these
  const char* operations;
  Metric metric;
  std::size_t bytes;
  double one_thread, two_threads;  ///< 0 = no bar
  bool has_alternative = false;
  bool alternative = false;
};

// Roof shares are lower bounds for 64 MiB; the rest are upper bounds, but for ratios.
constexpr BarRow kBars[] = {
    {kAvx512, kFixedWidth, kDecoders, Metric::kRoofShare, kLarge, .90, .90},
    {kAvx512, " fp16 bf16 ", kEncode, Metric::kRoofShare, kLarge, .85, .90},
    {kAvx512, " sign ", kEncode, Metric::kRoofShare, kLarge, .75, .85},
    {kAvx512, " minmax ", kEncode, Metric::kRoofShare, kLarge, .80, .88},
    {kAvx512, " int8 ", kEncode, Metric::kRoofShare, kLarge, .80, .90},
    {kAvx512, " terngrad terngrad_shared natural dither ", kEncode, Metric::kRoofShare, kLarge, .38,
     .58, true},
    {kAvx512, " terngrad terngrad_shared natural dither ", kEncode, Metric::kCycles, kCached, .9, 0,
     true, true},
    {kAvx512, " qsgd ", kEncode, Metric::kRoofShare, kLarge, .32, .52, true},
    {kAvx512, " qsgd ", kEncode, Metric::kCycles, kCached, 1.0, 0, true, true},
    {kAvx512, " topk_ef ", kEncode, Metric::kRoofShare, kLarge, .75, .80},
    {kAvx2, kFixedWidth, kDecoders, Metric::kRoofShare, kLarge, .90, .90},
    {kAvx2, " fp16 int8 minmax sign ", kEncode, Metric::kRoofShare, kLarge, .60, .60},
    {kAvx2, " terngrad terngrad_shared natural dither qsgd ", kEncode, Metric::kRoofShare, kLarge,
     .12, .12},
    {kAny, " topk_ef ", kEncode, Metric::kTorchRatio, kLarge, 20, 20},
    {kAvx512, " terngrad ", kAll, Metric::kCallTime, kSmall, 0.4, 0},
    {kAvx512, " minmax ", kAll, Metric::kCallTime, kSmall, 0.15, 0},
    {kAvx512, "! powersgd powersgd_ef sz ", kAll, Metric::kCallTime, kOne, 0.1, 0},
};

struct CoderBar {
  const char* coder;
  double million_symbols;
};
constexpr CoderBar kCoderBars[] = {{"golomb_rice", 600}, {"huffman", 350}, {"elias", 100}};

bool lists(std::string_view names, std::string_view name) {
  const bool inverted = names.front() == '!';
  if (inverted) names.remove_prefix(1);
  const std::string word = " " + std::string(name) + " ";
  return (names.find(word) != std::string_view::npos) != inverted;
}

bool is_of(Machine machine, std::string_view instructions) {
  if (machine == kAvx512) return instructions.starts_with("avx3");
  return machine == kAny || instructions == "avx2";
}

}  // namespace

const char* name_of(Metric metric) {
  switch (metric) {
    case Metric::kSpeed:
      return "speed";
    case Metric::kTraffic:
      return "bytes_per_element";
    case Metric::kRoofShare:
      return "roof_share";
    case Metric::kCycles:
      return "cycles_per_element";
    case Metric::kCallTime:
      return "call_time";
    case Metric::kTorchRatio:
      return "ratio_to_torch";
  }
  return "";
}

const char* unit_of(Metric metric) {
  switch (metric) {
    case Metric::kSpeed:
      return "GB/s";
    case Metric::kTraffic:
      return "B";
    case Metric::kCycles:
      return "cycles";
    case Metric::kCallTime:
      return "us";
    case Metric::kRoofShare:
    case Metric::kTorchRatio:
      return "";
  }
  return "";
}

std::optional<Bar> codec_bar(std::string_view instructions, std::string_view label,
                             CodecOperation operation, Metric metric, std::size_t bytes,
                             int threads) {
  for (const BarRow& row : kBars) {
    if (row.metric != metric || row.bytes != bytes || !is_of(row.machine, instructions)) continue;
    if (!lists(row.codecs, label) || !lists(row.operations, name_of(operation))) continue;
    const double value = threads == 1 ? row.one_thread : threads == 2 ? row.two_threads : 0;
    const bool at_most = metric == Metric::kCycles || metric == Metric::kCallTime;
    if (value > 0) return Bar{value, at_most, row.has_alternative, row.alternative};
  }
  return {};
}

std::optional<double> coder_bar(std::string_view coder) {
  for (const CoderBar& bar : kCoderBars)
    if (coder == bar.coder) return bar.million_symbols;
  return {};
}

}  // namespace gradwire::bench
