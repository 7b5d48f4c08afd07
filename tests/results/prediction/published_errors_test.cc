#include "results/prediction/published_errors.h"

#include <catch2/catch.hpp>

#include "base/file_descriptor.h"
#include "scenarios/share.h"

namespace gradwire::results {
namespace {

using Catch::Contains;

const std::string kHead =
    "source,workload,family,device,least_workers,most_workers,rows,median,worst,inside\n";

std::vector<PublishedErrors> read(const std::string& rows) {
  return read_published_errors(kHead + rows, "e.csv");
}

const std::string kRows =
    "a,resnet50,convolutional,v100,1,32,28,16.3,27.4,60.7\n"
    "b,bert-large,attention,v100,1,16,30,47,53,23.3\n"
    "c,gpt,attention,a100,2,8,120,25.2,44.8,97.5\n"
    "d,all-reduce,collective,b200,8,8,10,8.7,28.4,90\n";

std::vector<std::string> sources(const PredictionQuestion& question) {
  std::vector<std::string> names;
  for (const PublishedErrors& one : nearest_published(read(kRows), question))
    names.push_back(one.source);
  return names;
}

TEST_CASE("errors that are no figures are refused with their place", "[unit]") {
  CHECK_THROWS_WITH(read("a,b,c,d,1,1,2.5,1,1,1\n"), Contains("e.csv:2") && Contains("rows"));
  CHECK_THROWS_WITH(read("a,b,c,d,1,1,2,-1,1,1\n"), Contains("median"));
  CHECK_THROWS_WITH(read("a,b,c,d,1,1,2,1,nan,1\n"), Contains("worst"));
  CHECK_THROWS_WITH(read("a,b,c,d,1,1,2,1,1,101\n"), Contains("above 100 %"));
  CHECK_THROWS_WITH(read("a,,c,d,1,1,2,1,1,1\n"), Contains("workload"));
  const PublishedErrors one = read(kRows).at(0);
  CHECK(one.median == Approx(0.163));
  CHECK(one.inside == Approx(0.607));
}

TEST_CASE("the nearest sources are of the kind of network first, then of the device", "[unit]") {
  using Names = std::vector<std::string>;
  CHECK(sources({"resnet50", "convolutional", "v100"}) == Names{"a"});
  CHECK(sources({"vgg16", "convolutional", "a100"}) == Names{"a", "c"});
  CHECK(sources({"gpt2-xl", "attention", "v100"}) == Names{"b"});
  CHECK(sources({"bert-large", "attention", "t4"}) == Names{"b"});  // of the same model
  CHECK(sources({"gpt2-xl", "attention", "t4"}) == Names{"c"});     // of most rows
  CHECK(sources({"lstm-ptb", "recurrent", "v100"}) == Names{"b"});  // of the device alone
  CHECK(sources({"lstm-ptb", "recurrent", "t4"}) == Names{"c"});
  CHECK(sources({"resnet50", "convolutional", "b200"}) == Names{"a"});  // collectives never
  CHECK(sources({"resnet50", "convolutional", ""}).empty());            // measured here
}

TEST_CASE("words say the errors, and what none of the sources is of", "[unit]") {
  const PredictionQuestion known{"resnet50", "convolutional", "v100"};
  const std::string words = published_errors_words(nearest_published(read(kRows), known), known);
  CHECK_THAT(words, Contains("resnet50 on v100 (a, 28 steps of 1 to 32 GPUs)") &&
                        Contains("16 % in the median, 27 % at worst") &&
                        Contains("61 % of the steps inside"));
  CHECK_THAT(words, !Contains("None of them"));
  const PredictionQuestion unknown{"lstm-ptb", "recurrent", "t4"};
  CHECK_THAT(published_errors_words(nearest_published(read(kRows), unknown), unknown),
             Contains("None of them is of this device or this kind of network"));
  CHECK(published_errors_words({}, known).empty());
}

TEST_CASE("the errors that ship can be read", "[unit]") {
  const std::string file = scenarios::share_folder() + "/published/prediction-errors.csv";
  CHECK(read_published_errors(read_file(file), file).size() >= 7);
}

}  // namespace
}  // namespace gradwire::results
