#include "results/prediction/published_errors.h"

#include <catch2/catch.hpp>

#include "base/file_descriptor.h"
#include "results/prediction/device_kin.h"
#include "scenarios/share.h"

namespace gradwire::results {
namespace {

using Catch::Contains;

const std::string kHead =
    "source,workload,family,device,precision,least_workers,most_workers,rows,median,worst,inside\n";

std::vector<PublishedErrors> read(const std::string& rows) {
  return read_published_errors(kHead + rows, "e.csv");
}

const std::string kRows =
    "a,resnet50,convolutional,v100,fp16,1,32,16,16.3,27.4,60.7\n"
    "A,resnet50,convolutional,v100,fp32,1,32,12,2,4,100\n"
    "b,bert-large-pretraining,attention,v100,fp16,1,16,21,8,15,100\n"
    "B,bert-large-pretraining,attention,v100,fp32,1,16,9,20,40,60\n"
    "c,gpt2-medium,attention,a100,fp16,2,8,60,25.2,44.8,97.5\n"
    "d,llama3-8b,attention,h100,fp16,8,8,2,20,25,100\n"
    "D,llama3-8b,attention,h100,fp16,128,128,2,21,26,100\n"
    "e,vgg16,convolutional,p100,fp32,1,1,1,29.4,29.4,100\n";

std::vector<std::string> sources(const PredictionQuestion& question) {
  std::vector<std::string> names;
  for (const PublishedErrors& one : nearest_published(read(kRows), question))
    names.push_back(one.source);
  return names;
}

TEST_CASE("errors that are no figures are refused with their place", "[unit]") {
  CHECK_THROWS_WITH(read("a,b,c,d,e,1,1,2.5,1,1,1\n"), Contains("e.csv:2") && Contains("rows"));
  CHECK_THROWS_WITH(read("a,b,c,d,e,1,1,2,-1,1,1\n"), Contains("median"));
  CHECK_THROWS_WITH(read("a,b,c,d,e,1,1,2,1,nan,1\n"), Contains("worst"));
  CHECK_THROWS_WITH(read("a,b,c,d,e,1,1,2,1,1,101\n"), Contains("above 100 %"));
  CHECK_THROWS_WITH(read("a,,c,d,e,1,1,2,1,1,1\n"), Contains("workload"));
  CHECK_THROWS_WITH(read("a,b,c,d,,1,1,2,1,1,1\n"), Contains("precision"));
  const PublishedErrors one = read(kRows).at(0);
  CHECK(one.median == Approx(0.163));
  CHECK(one.inside == Approx(0.607));
}

using Names = std::vector<std::string>;

TEST_CASE("the nearest sources are of the model first, then of the device", "[unit]") {
  CHECK(sources({"resnet50", "convolutional", "v100", "fp16"}) == Names{"a"});
  CHECK(sources({"resnet50", "convolutional", "v100", "fp32"}) == Names{"A"});
  CHECK(sources({"resnet50", "convolutional", "v100"}) == Names{"a"});  // of most rows
  CHECK(sources({"vgg16", "convolutional", "p100", "fp32"}) == Names{"e"});
  CHECK(sources({"vgg16", "convolutional", "t4", "fp16"}) == Names{"e"});
  // Models by the name that they share; and what was measured on the chip.
  CHECK(sources({"bert-large", "attention", "v100", "fp16"}) == Names{"b"});
  CHECK(sources({"bert-base", "attention", "t4", "fp32"}) == Names{"B"});
  CHECK(sources({"gpt2-xl", "attention", "v100", "fp16"}) == Names{"c", "b"});
  CHECK(sources({"resnet101", "convolutional", "a100", "fp16"}) == Names{"a", "c"});
  CHECK(sources({"lstm-ptb", "recurrent", "v100", "fp16"}) == Names{"b"});  // of the device alone
  CHECK(sources({"lstm-ptb", "recurrent", "t4", "fp16"}) == Names{"c"});    // of most rows
  CHECK(sources({"resnet50", "convolutional", ""}).empty());                // measured here
}

TEST_CASE("boards with one chip are near, and chips of one generation nearer than others",
          "[unit]") {
  CHECK(sources({"llama2-7b", "attention", "h200", "fp16", 8}) == Names{"d"});
  CHECK(sources({"llama2-7b", "attention", "h100-pcie", "fp16", 8}) == Names{"d"});
  CHECK(sources({"resnet50", "convolutional", "v100-pcie", "fp16"}) == Names{"a"});
  CHECK(sources({"alexnet-grouped", "convolutional", "p40", "fp32"}) == Names{"e"});
  CHECK(device_distance("h200", "h100-pcie") == 1);
  CHECK(device_distance("gtx-1080", "p100") == 2);
  CHECK(device_distance("t4", "v100") == 3);
  CHECK(device_distance("mine", "yours") == 3);
  CHECK(device_distance("mine", "mine") == 0);
}

TEST_CASE("of sources that are alike in all else the one of nearly as many workers is near",
          "[unit]") {
  CHECK(sources({"llama3-8b", "attention", "h100", "fp16", 16}) == Names{"d"});
  CHECK(sources({"llama3-8b", "attention", "h100", "fp16", 64}) == Names{"D"});
}

TEST_CASE("words say the errors, and what none of the sources is of", "[unit]") {
  const auto words_for = [&](const PredictionQuestion& question) {
    return published_errors_words(nearest_published(read(kRows), question), question);
  };
  const std::string words = words_for({"resnet50", "convolutional", "v100", "fp16"});
  CHECK_THAT(words, Contains("resnet50 on v100 in fp16 (a, 16 steps of 1 to 32 GPUs)") &&
                        Contains("16 % in the median, 27 % at worst") &&
                        Contains("61 % of the steps inside"));
  CHECK_THAT(words, !Contains("None of them"));
  CHECK_THAT(words_for({"lstm-ptb", "recurrent", "t4"}),
             Contains("None of them is of this device or this kind of network"));
  CHECK_THAT(words_for({"inception-v3", "convolutional", "p100", "fp32"}),
             Contains("None of them is of this model: expect more"));
  CHECK_THAT(words_for({"vgg16", "convolutional", "p100", "fp32"}),
             Contains("(e, 1 step of 1 GPU) is predicted to 29 %, inside its 90 % range"));
  CHECK(published_errors_words({}, {"resnet50", "convolutional", "v100"}).empty());
}

TEST_CASE("shipped errors answer for models and boards by whatever name", "[unit]") {
  const std::string file = scenarios::share_folder() + "/published/prediction-errors.csv";
  const auto all = read_published_errors(read_file(file), file);
  const auto first = [&](const PredictionQuestion& question) {
    const auto nearest = nearest_published(all, question);
    return nearest.at(0).workload + " " + nearest.at(0).device;
  };
  CHECK(first({"llama3-8b", "attention", "h100", "fp16", 8}) == "llama3-8b h100");
  CHECK(first({"llama3-8b", "attention", "h200", "fp16", 8}) == "llama3-8b h100");
  CHECK(first({"bert-large", "attention", "v100", "fp16", 8}) == "bert-large-pretraining v100");
  CHECK(first({"bert-large-pretraining", "attention", "v100-pcie", "fp16", 8}) ==
        "bert-large-pretraining v100");
  CHECK(first({"vgg16", "convolutional", "p100", "fp32", 8}) == "vgg16 p100");
}

TEST_CASE("the errors that ship can be read", "[unit]") {
  const std::string file = scenarios::share_folder() + "/published/prediction-errors.csv";
  CHECK(read_published_errors(read_file(file), file).size() >= 7);
}

}  // namespace
}  // namespace gradwire::results
