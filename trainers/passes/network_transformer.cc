#include <cmath>

#include "trainers/passes/network.h"
#include "trainers/trainer_error.h"

namespace gradwire::trainers {
namespace {

/// A causal transformer over characters or tokens (Vaswani et al., "Attention is all you need",
/// arXiv 1706.03762, its decoder alone, with layers normalised before they compute, as GPT-2 has
/// it; relu between the two dense layers of a block). It predicts each next one.
///
///   x = embedding of the token + embedding of its place
///   block: x = x + project(attention(qkv(norm(x))));  x = x + second(relu(first(norm(x))))
///   results = output(norm(x))
///
/// Nothing is dropped out: equal samples give equal activations. Width 128, 4 heads and four
/// blocks of 512 units on 65 characters and 32 places: 814,145 parameters.
class Transformer final : public Network {
 public:
  Transformer(const DataSet& data, std::int64_t width, std::int64_t heads,
              const std::vector<std::int64_t>& hidden)
      : heads_(heads), blocks_(hidden.size()) {
    begin_stage();
    add("token.weight", {data.classes, width}, 0, kEmbeddingBound);
    add("place.weight", {data.sequence, width}, 0, kEmbeddingBound);
    for (std::size_t block = 0; block < blocks_; ++block)
      add_block("block" + std::to_string(block + 1), width, hidden[block]);
    begin_stage();
    add_norm("norm", width);
    add_linear("output", width, data.classes);
  }

  /// The embeddings, the blocks, the dense layer at the end.
  at::Tensor stage(std::size_t stage, const at::Tensor& x, const Layers& layers) const override {
    const std::size_t first = first_parameter(stage);
    if (stage == 0) return layers.embedding(x, first) + layers.parameters()[first + 1];
    if (stage <= blocks_) return block(x, first, layers);
    const at::Tensor y = layers.layer_norm(x, first);
    return layers.linear(y.reshape({-1, y.size(2)}), first + 2);
  }

 private:
  static constexpr double kEmbeddingBound = 0.1;

  void add_norm(const std::string& name, std::int64_t width) {
    add(name + ".scale", {width}, 1, 0);
    add(name + ".shift", {width}, 0, 0);
  }
  void add_block(const std::string& name, std::int64_t width, std::int64_t hidden) {
    begin_stage();
    add_norm(name + ".norm1", width);
    add_linear(name + ".qkv", width, 3 * width);
    add_linear(name + ".project", width, width);
    add_norm(name + ".norm2", width);
    add_linear(name + ".first", width, hidden);
    add_linear(name + ".second", hidden, width);
  }

  at::Tensor block(const at::Tensor& x, std::size_t first, const Layers& layers) const {
    at::Tensor y = layers.linear(layers.layer_norm(x, first), first + 2);
    y = x + layers.linear(layers.causal_attention(y, heads_), first + 4);
    const at::Tensor z = layers.linear(layers.layer_norm(y, first + 6), first + 8);
    return y + layers.linear(layers.relu(z), first + 10);
  }

  std::int64_t heads_;
  std::size_t blocks_;
};

}  // namespace

std::unique_ptr<Network> make_transformer(const ModelChoice& choice, const DataSet& data) {
  const std::int64_t width = choice.embedding.value_or(128);
  if (width % choice.heads != 0)
    throw TrainerError("make model", "transformer",
                       std::to_string(choice.heads) + " heads cannot share a width of " +
                           std::to_string(width) + " equally",
                       "a width that is a multiple of the heads");
  const auto hidden = choice.hidden.value_or(std::vector<std::int64_t>(4, 4 * width));
  return std::make_unique<Transformer>(data, width, choice.heads, hidden);
}

}  // namespace gradwire::trainers
