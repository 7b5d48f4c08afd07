#include "results/figures/method_colors.h"

#include <catch2/catch.hpp>
#include <set>

#include "compressors/codec.h"
#include "results/figures/palette.h"

using namespace gradwire;
using namespace gradwire::results;

TEST_CASE("a method has its colour whatever it is shown with", "[unit]") {
  // Of all codecs two by two: where two do not want the same colour, both keep what they have
  // alone.
  const auto& codecs = compressors::codec_catalogue();
  for (std::size_t a = 0; a < codecs.size(); ++a) {
    const int alone = MethodColors({codecs[a].name}).of(codecs[a].name);
    CHECK(alone < kSeriesColors);
    for (std::size_t b = 0; b < codecs.size(); ++b) {
      if (a % kSeriesColors == b % kSeriesColors) continue;
      CHECK(MethodColors({codecs[b].name, codecs[a].name}).of(codecs[a].name) == alone);
    }
  }
}

TEST_CASE("methods that are shown together differ, eight in colour, more in marks", "[unit]") {
  std::vector<std::string> labels;
  for (const auto& codec : compressors::codec_catalogue()) labels.push_back(codec.name + " 1%");
  for (int i = 0; i < 20; ++i) labels.push_back("method" + std::to_string(i));
  const MethodColors colors(labels);
  std::set<int> numbers;
  for (const std::string& label : labels) numbers.insert(colors.of(label));
  CHECK(numbers.size() == std::set<std::string>(labels.begin(), labels.end()).size());
  // The first eight of any number have eight colours.
  const std::vector<std::string> eight(labels.begin(), labels.begin() + kSeriesColors);
  std::set<int> first;
  for (const std::string& label : eight)
    first.insert(MethodColors(eight).of(label) % kSeriesColors);
  CHECK(first.size() == kSeriesColors);
}

TEST_CASE("two ratios of one method differ, and order or repeats do not matter", "[unit]") {
  const MethodColors colors({"topk 1%", "topk 5%", "none", "topk 1%"});
  CHECK(colors.of("topk 1%") != colors.of("topk 5%"));
  const MethodColors again({"none", "topk 5%", "topk 1%"});
  for (const char* label : {"none", "topk 1%", "topk 5%"})
    CHECK(colors.of(label) == again.of(label));
  // What was not given is none of those that were.
  for (const char* label : {"none", "topk 1%", "topk 5%"}) {
    CHECK(colors.of("others") != colors.of(label));
  }
}
