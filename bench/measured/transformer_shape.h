#pragma once
#include <string>
#include <vector>

#include "bench/measured/table.h"

/// Transformers by name and by shape.
namespace gradwire::bench {

/// How the usual program of a family runs its layers.
enum class TransformerKind {
  kEager,  ///< BERT, GPT-2: an operation of the formula a kernel
  kFused,  ///< GPT of Megatron-LM: softmax, GELU and dropout with what stands beside them
  kGated,  ///< Llama: RMSNorm, turned positions, grouped keys and values, SwiGLU, fused attention
};

struct TransformerShape {
  TransformerKind kind = TransformerKind::kFused;
  int layers = 0, hidden = 0, heads = 0;
  int key_heads = 0;  ///< heads of keys and values
  int inner = 0;      ///< width of the feed-forward layer
  int sequence = 0, vocabulary = 0;
  /// Nothing that a step needs is missing.
  bool is_whole() const { return layers && hidden && heads && sequence && vocabulary; }
};

/// gpt, bert and llama (their shape is the row's) and models of known shape.
std::vector<std::string> transformer_names();
bool is_transformer(const std::string& workload);

/// What the row says, and what it leaves open as the named model has it; `sequence` is then the
/// longest that the model was published with, but for BERT, which trains on several. The inner
/// width of a llama whose shape none of the named ones has is 8/3 of the hidden one, up to a
/// multiple of 256. Precondition: is_transformer(step.workload).
TransformerShape shape_of(const MeasuredStep& step);

}  // namespace gradwire::bench
