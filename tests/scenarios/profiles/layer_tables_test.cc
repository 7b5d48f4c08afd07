#include <catch2/catch.hpp>
#include <map>

#include "scenarios/profiles/profile.h"

using namespace gradwire;
using namespace gradwire::scenarios;

namespace {

struct Count {
  std::int64_t matrices = 0;  ///< entries of tensors with two or more dimensions
  std::int64_t vectors = 0;   ///< entries of tensors with one
  std::int64_t total() const { return matrices + vectors; }
};

/// Recomputed from shapes alone, not from the column `elements`.
Count count(const WorkloadProfile& profile) {
  Count sum;
  for (const auto& layer : profile.layers)
    for (const auto& tensor : layer.tensors) {
      std::int64_t product = 1;
      for (const std::int64_t extent : tensor.shape) product *= extent;
      (tensor.shape.size() > 1 ? sum.matrices : sum.vectors) += product;
    }
  return sum;
}

/// Multiply-adds of the layers that multiply matrices.
double multiply_adds(const WorkloadProfile& profile) {
  double flops = 0;
  for (const auto& layer : profile.layers)
    if (layer.kind == "convolution" || layer.kind == "linear" || layer.kind == "matrix-product")
      flops += static_cast<double>(layer.flops);
  return flops / 2;
}

}  // namespace

TEST_CASE("layer tables have the parameters that their variant is known for", "[unit]") {
  // Published, or the sum that the model's authors' code reports; the variant is what decides it.
  const std::map<std::string, std::int64_t> known{
      {"alexnet-grouped", 60'965'224},          // two groups in convolutions 2, 4, 5
      {"vgg-a", 132'863'336},                   // 11 layers, no batch normalisation
      {"vgg16", 138'357'544},                   // column D, no batch normalisation
      {"vgg19", 143'667'240},                   // column E, no batch normalisation
      {"googlenet", 6'998'552},                 // biases, 5 x 5 branches, no auxiliary heads
      {"googlenet-aux", 13'378'280},            // the same with both heads
      {"resnet18", 11'689'512},                 // basic blocks
      {"resnet34", 21'797'672},                 //
      {"resnet50", 25'557'032},                 // batch normalisation's scale and shift counted
      {"resnet101", 44'549'160},                //
      {"resnet152", 60'192'808},                //
      {"inception-v3", 23'834'568},             // no auxiliary head
      {"inception-v3-aux", 27'161'264},         // with it
      {"lstm-ptb", 51'034'000},                 // decoder tied to the embedding
      {"bert-base", 109'482'240},               // uncased, encoder and pooler
      {"bert-large", 335'141'888},              // uncased, encoder and pooler
      {"bert-large-pretraining", 336'226'108},  // and both heads, decoder tied
      {"gpt2-small", 124'439'808},              // output tied to the embedding, all sizes
      {"gpt2-medium", 354'823'168},             //
      {"gpt2-large", 774'030'080},              //
      {"gpt2-xl", 1'557'611'200},               //
      {"llama2-7b", 6'738'415'616},             // Meta's checkpoints
      {"llama2-13b", 13'015'864'320},           //
      {"llama3-8b", 8'030'261'248}};
  for (const auto& [name, parameters] : known) {
    INFO(name);
    const WorkloadProfile profile = load_workload_profile(name, "");
    CHECK(profile.origin.source == "computed");
    CHECK(count(profile).total() == parameters);
    CHECK(profile.elements() == parameters);
  }
  // The one-tower variant (64, 192, 384, 256, 256 channels, no groups) is another model.
  CHECK(load_workload_profile("alexnet", "").elements() == 61'100'840);
}

TEST_CASE("entries of matrices and of vectors are those behind published message sizes", "[unit]") {
  const Count alexnet = count(load_workload_profile("alexnet-grouped", ""));
  CHECK(alexnet.matrices == 60'954'656);
  CHECK(alexnet.vectors == 10'568);
  const Count resnet = count(load_workload_profile("resnet50", ""));
  CHECK(resnet.matrices == 25'502'912);
  CHECK(resnet.vectors == 54'120);
  const Count lstm = count(load_workload_profile("lstm-ptb", ""));
  CHECK(lstm.matrices == 51'000'000);
  CHECK(lstm.vectors == 34'000);
}

TEST_CASE("layer tables have the multiply-adds that are known", "[unit]") {
  // In thousand millions, to the digits in which torchvision's table of models prints them.
  const std::map<std::string, double> known{{"vgg-a", 7.61},
                                            {"vgg16", 15.47},
                                            {"resnet50", 4.09},
                                            {"resnet152", 11.51},
                                            {"inception-v3", 5.71}};
  for (const auto& [name, billions] : known) {
    INFO(name);
    CHECK(multiply_adds(load_workload_profile(name, "")) / 1e9 == Approx(billions).margin(0.005));
  }
  // A transformer's forward pass: a multiply-add for each weight that is not a table (blocks: 12
  // d^2 each, the tied output: words x d) and each token, and 2 t^2 d a block for attention. GPT-2
  // small: t = 1024, d = 768, 12 blocks, 50,257 words.
  const double t = 1024, d = 768;
  CHECK(multiply_adds(load_workload_profile("gpt2-small", "")) ==
        Approx(12 * (t * 12 * d * d + 2 * t * t * d) + t * d * 50257).epsilon(1e-12));
}

TEST_CASE("every layer of a computed table has counts, and none has times", "[unit]") {
  int tables = 0;
  for (const std::string& name : shipped_profiles("workload")) {
    const WorkloadProfile profile = load_workload_profile(name, "");
    if (profile.origin.source != "computed") continue;
    ++tables;
    for (const auto& layer : profile.layers) {
      INFO(name << ": " << layer.name);
      CHECK(!layer.has_times);
      CHECK(!layer.kind.empty());
      CHECK(layer.inputs > 0);
      CHECK(layer.activations > 0);
      // What multiplies does so at least once for each weight.
      const bool product = layer.kind == "convolution" || layer.kind == "linear";
      CHECK(layer.flops >= (product ? layer.elements : 0));
    }
  }
  CHECK(tables == 24);
}
