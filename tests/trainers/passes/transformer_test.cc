#include "trainers/passes/network.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "trainers/data/generated.h"

/// The transformer's layers against their formulas.
namespace gradwire::trainers {
namespace {

/// [1, places, 3 width], reproducible.
at::Tensor drawn(std::int64_t places, std::int64_t width, std::uint32_t number) {
  std::vector<float> values(static_cast<std::size_t>(places * 3 * width));
  for (std::size_t e = 0; e < values.size(); ++e) values[e] = 4 * uniform({7, 0, number, 0}, e) - 2;
  return at::tensor(values).view({1, places, 3 * width});
}

/// softmax(q k^T / sqrt(d)) v, place by place, in doubles.
double attended(const at::Tensor& x, std::int64_t heads, std::int64_t place, std::int64_t feature) {
  const std::int64_t width = x.size(2) / 3, part = width / heads, head = feature / part;
  const auto at = [&](std::int64_t row, std::int64_t which, std::int64_t column) {
    return static_cast<double>(x[0][row][which * width + column].item<float>());
  };
  double sum = 0, weights = 0;
  for (std::int64_t before = 0; before <= place; ++before) {
    double score = 0;
    for (std::int64_t f = head * part; f < (head + 1) * part; ++f)
      score += at(place, 0, f) * at(before, 1, f);
    const double weight = std::exp(score / std::sqrt(static_cast<double>(part)));
    weights += weight;
    sum += weight * at(before, 2, feature);
  }
  return sum / weights;
}

TEST_CASE("causal attention is that of its formula", "[transformer]") {
  const std::vector<at::Tensor> none;
  const Statistics statistics;
  const LayerRules rules;
  const Layers layers(none, statistics, rules);
  const at::Tensor x = drawn(5, 6, 1);
  for (const std::int64_t heads : {1, 2, 3}) {
    const at::Tensor y = layers.causal_attention(x, heads);
    REQUIRE(y.sizes() == at::IntArrayRef({1, 5, 6}));
    for (std::int64_t place = 0; place < 5; ++place)
      for (std::int64_t feature = 0; feature < 6; ++feature)
        CHECK(y[0][place][feature].item<float>() ==
              Approx(attended(x, heads, place, feature)).margin(1e-6));
  }
}

/// Results of the markov tokens with the number of the token at `place` changed, if any.
at::Tensor results(const Network& network, const std::vector<at::Tensor>& weights,
                   const DataSet& data, std::int64_t place = -1) {
  Batch batch;
  gather(data, std::span(data.train).first(2), batch);
  if (place >= 0) {
    std::int64_t& token = batch.tokens[static_cast<std::size_t>(place)];
    token = (token + 1) % data.classes;
  }
  return network.forward(weights, input_tensor(data, batch), {}).view({2, data.sequence, -1});
}

TEST_CASE("a transformer sees what came before and nothing else", "[transformer]") {
  const DataSet data = make_markov(640, 32, 1);
  const auto network = make_network("transformer", data);
  const Layout layout(network->parameters(), Bytes(1));
  std::vector<float> flat(static_cast<std::size_t>(layout.elements()));
  initialise(network->parameters(), layout, 1, flat);
  std::vector<at::Tensor> weights;
  for (std::size_t p = 0; p < network->parameters().size(); ++p) {
    const TensorSlot& slot = layout.tensors()[layout.tensor_of(static_cast<int>(p))];
    weights.push_back(at::from_blob(flat.data() + slot.first, slot.shape, at::kFloat));
  }
  const at::Tensor plain = results(*network, weights, data);
  for (const std::int64_t place : {0, 13, 31}) {
    const at::Tensor other = results(*network, weights, data, place);
    for (std::int64_t p = 0; p < data.sequence; ++p)
      CHECK(at::equal(plain[0][p], other[0][p]) == (p < place));
    CHECK(at::equal(plain[1], other[1]));  // another sample
  }
}

}  // namespace
}  // namespace gradwire::trainers
