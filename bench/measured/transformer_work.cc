#include "bench/measured/transformer_work.h"

#include <cmath>
#include <utility>

#include "bench/measured/transformer_shape.h"
#include "scenarios/kernels/operations.h"

namespace gradwire::bench {
namespace {

using scenarios::Kernel;
using Kind = Kernel::Kind;
using scenarios::matrix_kernel;
using scenarios::memory_kernel;
constexpr double kAdamBytes = 28;         // in one kernel: four reads, three writes of fp32
constexpr double kEagerAdamKernels = 18;  // a tensor
constexpr double kEagerAdamBytes = 120;   // in fourteen kernels, and the norm of each gradient

/// The kernels of each program: products here, the rest as scenarios/kernels/operations.h has it.
class Transformer {
 public:
  explicit Transformer(const MeasuredStep& step)
      : step_(step),
        shape_(shape_of(step)),
        gated_(shape_.kind == TransformerKind::kGated),
        eager_(shape_.kind == TransformerKind::kEager),
        parts_(step.tensor_parallel),
        tokens_(static_cast<double>(step.batch) * shape_.sequence),
        hidden_(shape_.hidden),
        keys_(hidden_ * shape_.key_heads / shape_.heads),
        inner_(shape_.inner) {}

  StepWork work() {
    add_products();
    if (gated_)
      add_gated();
    else if (eager_)
      add_eager();
    else
      add_fused();
    const double stages = step_.pipeline_parallel;
    for (Kernel& one : result_.kernels) one.repeats = std::ceil(shape_.layers / stages);
    add_head();
    const double parameters = all_parameters();
    result_.parameters = parameters / parts_ / stages;
    result_.tensors = shape_.layers / stages * (eager_ ? 16 : gated_ ? 9 : 12);
    result_.update_bytes = kAdamBytes;
    if (step_.precision == "fp32") {
      result_.update_bytes = kEagerAdamBytes;
      result_.update_launches = kEagerAdamKernels * result_.tensors;
    }
    result_.boundary = tokens_ * hidden_;
    return std::move(result_);
  }

 private:
  void add(const Kernel& one) { result_.kernels.push_back(one); }
  double state() const { return tokens_ * hidden_; }
  double heads() const { return static_cast<double>(step_.batch) * shape_.heads / parts_; }
  double scores() const { return heads() * shape_.sequence * shape_.sequence; }

  void add_products() {
    if (eager_)
      for (int i = 0; i < 3; ++i) add(matrix_kernel(tokens_, hidden_ / parts_, hidden_));
    else
      add(matrix_kernel(tokens_, (hidden_ + 2 * keys_) / parts_, hidden_));
    add_attention();
    add(matrix_kernel(tokens_, hidden_, hidden_ / parts_));
    add(matrix_kernel(tokens_, (gated_ ? 2 * inner_ : inner_) / parts_, hidden_));
    add(matrix_kernel(tokens_, hidden_, inner_ / parts_));
  }

  void add_attention() {
    const double sequence = shape_.sequence, width = hidden_ / shape_.heads;
    add({.kind = Kind::kAttention,
         .count = heads(),
         .m = sequence,
         .n = gated_ ? sequence / 2 : sequence,  // causal: half of the scores
         .k = width,
         .forward = heads() * 2 * sequence * width + (gated_ ? 0 : scores()),
         .forward_kernels = gated_ ? 1 : 2,
         .backward_kernels = gated_ ? 1 : 4,
         .fused = gated_});
  }

  void add(std::string_view operation, double elements) {
    add(scenarios::operation_kernel(operation, elements));
  }

  /// Every operation of the formula a kernel, but LayerNorm.
  void add_eager() {
    add("eager-softmax", scores());
    add("eager-heads", state() / parts_);
    add_twice("eager-dropout-add");
    add("eager-gelu", tokens_ * inner_ / parts_);
  }

  /// Softmax with scale and mask, GELU with its bias, and dropout with bias and sum are one kernel
  /// each, as in Megatron-LM.
  void add_fused() {
    add("fused-softmax", scores());
    add("fused-heads", state() / parts_);
    add_twice("fused-dropout-add");
    add("fused-gelu", tokens_ * inner_ / parts_);
  }

  void add_twice(std::string_view sum) {
    for (int i = 0; i < 2; ++i) {
      add(sum, state());
      add("layer-norm", state());
    }
  }

  void add_gated() {
    const double turned = tokens_ * (hidden_ + keys_) / parts_;
    add("eager-rotation", turned);
    if (keys_ < hidden_) add("repeat-heads", turned);
    add("eager-gate", tokens_ * inner_ / parts_);
    for (int i = 0; i < 2; ++i) {
      add("eager-rms-norm", state() / parts_);
      add(memory_kernel(3 * state() / parts_, state() / parts_));  // the sum
    }
  }

  /// BERT's is that of pre-training, where the row says that it is.
  void add_head() {
    const double vocabulary = shape_.vocabulary / parts_;
    const auto head = [this](const Kernel& one) { result_.head.push_back(one); };
    if (!is_bert() || step_.pre_training) {
      if (is_bert()) {  // dense, GELU and LayerNorm of each token before
        head(matrix_kernel(tokens_, hidden_, hidden_));
        head(memory_kernel(13 * state(), 30 * state(), 8, 12));
      }
      head(matrix_kernel(tokens_, vocabulary, hidden_));
      head(scenarios::operation_kernel("cross-entropy", tokens_ * vocabulary));
    }
    head(memory_kernel(3 * state(), 3 * state(), 3, 3));  // embeddings
  }

  bool is_bert() const { return step_.workload.starts_with("bert"); }

  double all_parameters() const {
    const double layers = shape_.layers, vocabulary = shape_.vocabulary;
    if (gated_)
      return layers * (hidden_ * (2 * hidden_ + 2 * keys_) + 3 * hidden_ * inner_ + 2 * hidden_) +
             2 * vocabulary * hidden_ + hidden_;
    return layers * (4 * hidden_ * hidden_ + 2 * hidden_ * inner_ + 9 * hidden_ + inner_) +
           (vocabulary + shape_.sequence + 2) * hidden_;  // final normalisation, or BERT's segments
  }

  const MeasuredStep& step_;
  const TransformerShape shape_;
  bool gated_, eager_;
  double parts_;  ///< of a layer, each on a worker
  double tokens_, hidden_, keys_, inner_;
  StepWork result_;
};

}  // namespace

StepWork transformer_work(const MeasuredStep& step) {
  return Transformer(step).work();
}

}  // namespace gradwire::bench
