#include "bench/measured/transformer_shape.h"

#include <algorithm>
#include <map>

namespace gradwire::bench {
namespace {

using Kind = TransformerKind;

/// Layers, hidden, heads, heads of keys, inner width, longest sequence, words. BERT: arXiv
/// 1810.04805; GPT-2: Radford et al. 2019, table 2; GPT-3: arXiv 2005.14165, table 2.1; Llama:
/// arXiv 2302.13971, table 2, 2307.09288 and 2407.21783, table 3.
const std::map<std::string, TransformerShape>& shapes() {
  static const std::map<std::string, TransformerShape> known = {
      {"bert", {Kind::kEager}},
      {"bert-base", {Kind::kEager, 12, 768, 12, 12, 3072, 0, 30522}},
      {"bert-large", {Kind::kEager, 24, 1024, 16, 16, 4096, 0, 30522}},
      {"gpt2-small", {Kind::kEager, 12, 768, 12, 12, 3072, 1024, 50257}},
      {"gpt2-medium", {Kind::kEager, 24, 1024, 16, 16, 4096, 1024, 50257}},
      {"gpt2-large", {Kind::kEager, 36, 1280, 20, 20, 5120, 1024, 50257}},
      {"gpt2-xl", {Kind::kEager, 48, 1600, 25, 25, 6400, 1024, 50257}},
      {"gpt", {Kind::kFused}},
      {"gpt3-125m", {Kind::kFused, 12, 768, 12, 12, 3072, 2048, 50257}},
      {"gpt3-350m", {Kind::kFused, 24, 1024, 16, 16, 4096, 2048, 50257}},
      {"gpt3-760m", {Kind::kFused, 24, 1536, 16, 16, 6144, 2048, 50257}},
      {"gpt3-1.3b", {Kind::kFused, 24, 2048, 16, 16, 8192, 2048, 50257}},
      {"gpt3-2.7b", {Kind::kFused, 32, 2560, 32, 32, 10240, 2048, 50257}},
      {"gpt3-6.7b", {Kind::kFused, 32, 4096, 32, 32, 16384, 2048, 50257}},
      {"gpt3-13b", {Kind::kFused, 40, 5120, 40, 40, 20480, 2048, 50257}},
      {"gpt3-175b", {Kind::kFused, 96, 12288, 96, 96, 49152, 2048, 50257}},
      {"llama", {Kind::kGated}},
      {"llama-7b", {Kind::kGated, 32, 4096, 32, 32, 11008, 4096, 32000}},
      {"llama-8b", {Kind::kGated, 32, 4096, 32, 8, 14336, 8192, 128256}},
      {"llama-13b", {Kind::kGated, 40, 5120, 40, 40, 13824, 4096, 32000}},
      {"llama-30b", {Kind::kGated, 60, 6656, 52, 52, 17920, 2048, 32000}},
      {"llama-65b", {Kind::kGated, 80, 8192, 64, 64, 22016, 2048, 32000}},
      {"llama2-70b", {Kind::kGated, 80, 8192, 64, 8, 28672, 4096, 32000}},
      {"llama3-70b", {Kind::kGated, 80, 8192, 64, 8, 28672, 8192, 128256}},
      {"llama3-405b", {Kind::kGated, 126, 16384, 128, 8, 53248, 8192, 128256}},
  };
  return known;
}

void take(int& into, int stated) {
  if (stated > 0) into = stated;
}

/// Of a llama by its shape: that of the named one which has it, else as the first Llama.
void complete_gated(TransformerShape& shape) {
  for (const auto& [name, known] : shapes())
    if (known.kind == Kind::kGated && known.layers == shape.layers &&
        known.hidden == shape.hidden && known.vocabulary == shape.vocabulary) {
      shape.inner = known.inner;
      shape.key_heads = known.key_heads;
      return;
    }
  shape.key_heads = shape.heads;
  shape.inner = (shape.hidden * 8 / 3 + 255) / 256 * 256;
}

}  // namespace

std::vector<std::string> transformer_names() {
  std::vector<std::string> names;
  for (const auto& [name, shape] : shapes()) names.push_back(name);
  return names;
}

bool is_transformer(const std::string& workload) {
  return shapes().contains(workload);
}

TransformerShape shape_of(const MeasuredStep& step) {
  const TransformerShape& named = shapes().at(step.workload);
  TransformerShape shape = named;
  take(shape.layers, step.layers);
  take(shape.hidden, step.hidden);
  take(shape.heads, step.heads);
  take(shape.sequence, step.sequence);
  take(shape.vocabulary, step.vocabulary);
  if (shape.hidden == named.hidden && shape.heads == named.heads && named.inner > 0) return shape;
  if (shape.kind == Kind::kGated) {
    complete_gated(shape);
  } else {
    shape.key_heads = shape.heads;
    shape.inner = 4 * shape.hidden;
  }
  return shape;
}

}  // namespace gradwire::bench
