#include "bench/codecs/codecs.h"

#include <catch2/catch.hpp>
#include <set>

#include "base/error.h"

using namespace gradwire;
using namespace gradwire::bench;

namespace {

CodecBenchResult quick_bench(CodecBenchSettings settings) {
  settings.repetitions = 1;
  settings.twins = false;
  return bench_codecs(settings, [](const CodecBenchProgress&) {});
}

}  // namespace

TEST_CASE("every codec of the catalogue is measured, in each operation", "[unit]") {
  const CodecBenchResult result =
      quick_bench({.sizes = {4, 4096}, .threads = {1}, .coders = false});
  CHECK(result.failures.empty());
  CHECK(result.left_out.empty());
  std::set<std::string> names;
  for (const BenchRow& row : rows_of(result)) {
    CAPTURE(row.name);
    CHECK(names.insert(row.name).second);
    CHECK(row.value >= 0);
  }
  for (const auto& codec : compressors::codec_catalogue())
    for (const CodecOperation operation : kOperations)
      for (const char* size : {"4B", "4KiB"}) {
        const std::string stem =
            "codecs." + codec.name + "." + name_of(operation) + "." + size + ".t1.";
        CHECK(names.count(stem + "speed") == 1);
        CHECK(names.count(stem + "call_time") == 1);
      }
}

TEST_CASE("large tensors get a share of the roof, cached ones cycles", "[unit]") {
  const CodecBenchResult result = quick_bench(
      {.sizes = {64 << 10, 64 << 20}, .codecs = {"fp16"}, .threads = {1, 2}, .coders = false});
  std::set<std::string> names;
  for (const BenchRow& row : rows_of(result)) names.insert(row.name);
  CHECK(names.count("codecs.fp16.encode.64KiB.t1.cycles_per_element") == 1);
  CHECK(names.count("codecs.fp16.encode.64KiB.t2.speed") == 0);  // too small to be shared
  CHECK(names.count("codecs.fp16.decode_add.64MiB.t2.roof_share") == 1);
  CHECK(names.count("codecs.fp16_ef.encode.64MiB.t1.roof_share") == 1);
  CHECK(names.count("codecs.roof.copy.64MiB.t2.speed") == 1);
  for (const CodecPoint& point : result.points)
    if (point.label == "fp16" && point.operation == CodecOperation::kEncode)
      CHECK(point.traffic.total() == Approx(6));
}

TEST_CASE("without time the slow measurements are left out, and said to be", "[unit]") {
  const CodecBenchResult result =
      quick_bench({.sizes = {4096}, .codecs = {"fp16"}, .threads = {1}, .seconds = 0});
  CHECK(result.points.empty());
  REQUIRE(result.left_out.size() == 1);
  CHECK_THAT(result.left_out[0],
             Catch::Contains("4KiB on 1 threads") && Catch::Contains(" fp16 fp16_ef"));
  CHECK_THAT(notes_on(result)[0], Catch::Contains("left out") && Catch::Contains("--seconds"));
}

TEST_CASE("a busy machine is said to be busy", "[unit]") {
  CHECK(notes_on({.interrupted = 0.1}).empty());
  const std::vector<std::string> notes = notes_on({.interrupted = 0.6});
  REQUIRE(notes.size() == 1);
  CHECK_THAT(notes[0], Catch::Contains("60 % of the samples"));
}

TEST_CASE("a codec that there is not is refused with the nearest name", "[unit]") {
  CHECK_THROWS_WITH(codec_cases(std::vector<std::string>{"terngrat"}),
                    Catch::Contains("terngrat") && Catch::Contains("terngrad"));
  CHECK(codec_cases(std::vector<std::string>{"terngrad_shared"}).size() == 1);
}

TEST_CASE("bars are found by codec, operation, size, threads and instruction set", "[unit]") {
  const auto share = [](const char* set, const char* label, CodecOperation operation, int threads) {
    const auto bar = codec_bar(set, label, operation, Metric::kRoofShare, 64 << 20, threads);
    return bar ? bar->value : 0;
  };
  CHECK(share("avx3_dl", "terngrad", CodecOperation::kEncode, 2) == .58);
  CHECK(share("avx3", "int8", CodecOperation::kEncode, 1) == .80);
  CHECK(share("avx2", "int8", CodecOperation::kEncode, 1) == .60);
  CHECK(share("avx2", "natural", CodecOperation::kEncode, 2) == .12);
  CHECK(share("avx2", "natural", CodecOperation::kDecode, 2) == .90);
  CHECK(share("sse2", "natural", CodecOperation::kDecode, 2) == 0);
  CHECK(share("avx3_dl", "none", CodecOperation::kEncode, 1) == 0);
  CHECK(share("avx3_dl", "topk_ef", CodecOperation::kEncode, 4) == 0);  // no bar for 4 threads
  const auto call = [](const char* label) {
    const auto bar = codec_bar("avx3", label, CodecOperation::kEncode, Metric::kCallTime, 4, 1);
    return bar ? bar->value : 0;
  };
  CHECK(call("fp16") == 0.1);
  CHECK(call("sz") == 0);  // excepted
  CHECK(coder_bar("golomb_rice") == 600.0);
  CHECK(!coder_bar("rans"));
}

TEST_CASE("sizes are named in binary units", "[unit]") {
  CHECK(size_text(4) == "4B");
  CHECK(size_text(64 << 10) == "64KiB");
  CHECK(size_text(std::size_t{256} << 20) == "256MiB");
  CHECK(size_text(1536 << 10) == "1536KiB");
}
