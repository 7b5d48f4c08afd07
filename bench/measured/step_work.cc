#include "bench/measured/step_work.h"

#include <algorithm>

#include "scenarios/kernels/layer_kernels.h"
#include "scenarios/profiles/profile.h"

namespace gradwire::bench {
namespace {

using scenarios::Kernel;
using Kind = Kernel::Kind;
using scenarios::matrix_kernel;
using scenarios::memory_kernel;
constexpr double kMomentumBytes = 20;     // three reads, two writes of fp32
constexpr double kAdamBytes = 28;         // in one kernel: four reads, three writes of fp32
constexpr double kEagerAdamKernels = 18;  // a tensor
constexpr double kEagerAdamBytes = 120;   // in fourteen kernels, and the norm of each gradient

StepWork from_table(const MeasuredStep& step) {
  const scenarios::WorkloadProfile table = scenarios::load_workload_profile(step.workload, "");
  StepWork work;
  work.parameters = static_cast<double>(table.elements());
  work.update_bytes = kMomentumBytes;
  for (const auto& layer : table.layers) {
    if (layer.elements > 0)
      work.tensors += static_cast<double>(std::max<std::size_t>(1, layer.tensors.size()));
    // Beside the normalisation before it a ReLU adds a read of its output to the backward pass.
    if (step.fused_batch_norm && layer.kind == "relu")
      work.kernels.push_back(
          memory_kernel(0, step.batch * static_cast<double>(layer.activations), 0, 0));
    else
      for (const Kernel& one : scenarios::layer_kernels(layer, step.batch))
        work.kernels.push_back(one);
  }
  return work;
}

/// Elements that kernels of each program read and write, counted operation by operation: a mask of
/// dropout is half an element, a bias is added where the product does not, its gradient is a sum.
class Transformer {
 public:
  explicit Transformer(const MeasuredStep& step)
      : step_(step),
        llama_(step.workload == "llama-8b"),
        bert_(step.workload == "bert-large"),
        tokens_(static_cast<double>(step.batch) * step.sequence),
        hidden_(step.hidden),
        keys_(llama_ ? hidden_ / 4 : hidden_),
        inner_(llama_ ? 3.5 * hidden_ : 4 * hidden_) {}

  StepWork work() {
    add_products();
    if (llama_)
      add_llama();
    else if (bert_)
      add_eager();
    else
      add_fused();
    for (Kernel& one : result_.kernels) one.repeats = step_.layers;
    if (!bert_ || step_.pre_training) add_head();
    add(memory_kernel(3 * state(), 3 * state(), 3, 3));  // embeddings
    result_.parameters = parameters();
    result_.tensors = step_.layers * (bert_ ? 16 : llama_ ? 9 : 12);
    result_.update_bytes = kAdamBytes;
    if (step_.precision == "fp32") {
      result_.update_bytes = kEagerAdamBytes;
      result_.update_launches = kEagerAdamKernels * result_.tensors;
    }
    return std::move(result_);
  }

 private:
  void add(const Kernel& one) { result_.kernels.push_back(one); }
  double state() const { return tokens_ * hidden_; }
  double heads() const { return static_cast<double>(step_.batch) * step_.heads; }
  double scores() const { return heads() * step_.sequence * step_.sequence; }

  void add_products() {
    if (bert_)
      for (int i = 0; i < 3; ++i) add(matrix_kernel(tokens_, hidden_, hidden_));
    else
      add(matrix_kernel(tokens_, hidden_ + 2 * keys_, hidden_));
    add_attention();
    add(matrix_kernel(tokens_, hidden_, hidden_));
    add(matrix_kernel(tokens_, llama_ ? 2 * inner_ : inner_, hidden_));
    add(matrix_kernel(tokens_, hidden_, inner_));
  }

  void add_attention() {
    const double sequence = step_.sequence, width = hidden_ / step_.heads;
    add({.kind = Kind::kAttention,
         .count = heads(),
         .m = sequence,
         .n = llama_ ? sequence / 2 : sequence,  // causal: half of the scores
         .k = width,
         .forward = heads() * 2 * sequence * width + (llama_ ? 0 : scores()),
         .forward_kernels = llama_ ? 1 : 2,
         .backward_kernels = llama_ ? 1 : 4,
         .fused = llama_});
  }

  /// Every operation of the formula a kernel, but LayerNorm.
  void add_eager() {
    add(memory_kernel(8.5 * scores(), 7.5 * scores(), 4, 3));  // scale, mask, softmax, dropout
    add(memory_kernel(14 * state(), 11 * state(), 7, 8));      // biases; heads apart and together
    add(memory_kernel(19 * state(), 23 * state(), 8, 10));   // twice bias, dropout, sum, LayerNorm
    add(memory_kernel(52 * state(), 100 * state(), 6, 13));  // bias; GELU by erf of 4 hidden
  }

  /// Softmax with scale and mask, GELU with its bias, and dropout with bias and sum are one kernel
  /// each, as in Megatron-LM.
  void add_fused() {
    add(memory_kernel(4.5 * scores(), 5.5 * scores(), 2, 2));  // softmax, dropout
    add(memory_kernel(2 * state(), 8 * state(), 1, 2));        // heads together; their gradients
    add(memory_kernel(11 * state(), 26 * state(), 4, 10));     // twice dropout, LayerNorm
    add(memory_kernel(8 * state(), 16 * state(), 1, 2));       // GELU of 4 hidden
  }

  void add_llama() {
    const double turned = tokens_ * (hidden_ + keys_);
    add(memory_kernel(10 * turned, 10 * turned, 6, 8));  // positions turned, in fp32
    add(memory_kernel(2 * turned, 2 * turned, 2, 2));    // keys and values repeated
    add(memory_kernel(5 * tokens_ * inner_, 8 * tokens_ * inner_, 2, 4));  // SiLU, gate
    // Twice RMSNorm, written as six operations in fp32, and the sum.
    add(memory_kernel(42 * state(), 52 * state(), 16, 24));
  }

  void add_head() {
    const double vocabulary = step_.vocabulary;
    if (bert_) {  // dense, GELU and LayerNorm of each token before
      add(matrix_kernel(tokens_, hidden_, hidden_));
      add(memory_kernel(13 * state(), 30 * state(), 8, 12));
    }
    add(matrix_kernel(tokens_, vocabulary, hidden_));
    add(memory_kernel(8 * tokens_ * vocabulary, 6 * tokens_ * vocabulary, 4, 3));  // loss in fp32
  }

  double parameters() const {
    const double layers = step_.layers, vocabulary = step_.vocabulary;
    if (llama_)
      return layers * (hidden_ * (2 * hidden_ + 2 * keys_) + 3 * hidden_ * inner_ + 2 * hidden_) +
             2 * vocabulary * hidden_ + hidden_;
    return layers * (12 * hidden_ * hidden_ + 13 * hidden_) +
           (vocabulary + step_.sequence + 2) * hidden_;
  }

  const MeasuredStep& step_;
  bool llama_, bert_;
  double tokens_, hidden_, keys_, inner_;
  StepWork result_;
};

bool is_transformer(const std::string& workload) {
  return workload == "gpt" || workload == "bert-large" || workload == "llama-8b";
}

}  // namespace

std::string why_no_work(const MeasuredStep& step) {
  if (is_transformer(step.workload)) {
    if (step.layers && step.hidden && step.heads && step.sequence && step.vocabulary) return "";
    return "its shape is not stated (layers, hidden, heads, sequence, vocabulary)";
  }
  const std::vector<std::string> tables = scenarios::shipped_profiles("workload");
  if (std::find(tables.begin(), tables.end(), step.workload) == tables.end())
    return "there is no layer table " + step.workload;
  for (const auto& layer : scenarios::load_workload_profile(step.workload, "").layers)
    if (layer.has_times) return "layer table " + step.workload + " has times of its own";
  return "";
}

StepWork work_of(const MeasuredStep& step) {
  return is_transformer(step.workload) ? Transformer(step).work() : from_table(step);
}

}  // namespace gradwire::bench
