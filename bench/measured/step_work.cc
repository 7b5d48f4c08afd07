#include "bench/measured/step_work.h"

#include <algorithm>

#include "scenarios/kernels/layer_kernels.h"
#include "scenarios/profile.h"

namespace gradwire::bench {
namespace {

using scenarios::Kernel;
using Kind = Kernel::Kind;
using scenarios::matrix_kernel;
using scenarios::memory_kernel;
constexpr double kMomentumBytes = 20;  // three reads, two writes of fp32
constexpr double kAdamBytes = 28;

StepWork from_table(const MeasuredStep& step) {
  const scenarios::WorkloadProfile table = scenarios::load_workload_profile(step.workload, "");
  StepWork work;
  work.parameters = static_cast<double>(table.elements());
  work.update_bytes = kMomentumBytes;
  for (const auto& layer : table.layers)
    for (const Kernel& one : scenarios::layer_kernels(layer, step.batch))
      work.kernels.push_back(one);
  return work;
}

class Transformer {
 public:
  explicit Transformer(const MeasuredStep& step)
      : step_(step),
        llama_(step.workload == "llama-8b"),
        tokens_(static_cast<double>(step.batch) * step.sequence),
        hidden_(step.hidden),
        keys_(llama_ ? hidden_ / 4 : hidden_),
        inner_(llama_ ? 3.5 * hidden_ : 4 * hidden_) {}

  StepWork work() {
    add_attention();
    add_feed_forward();
    for (Kernel& one : result_.kernels) one.repeats = step_.layers;
    if (step_.workload != "bert-large") add_head();
    add(memory_kernel(3 * state(), 3 * state(), 3, 3));  // embeddings
    result_.parameters = parameters();
    result_.update_bytes = kAdamBytes;
    return std::move(result_);
  }

 private:
  void add(const Kernel& one) { result_.kernels.push_back(one); }
  double state() const { return tokens_ * hidden_; }

  void add_attention() {
    if (step_.workload == "bert-large")
      for (int i = 0; i < 3; ++i) add(matrix_kernel(tokens_, hidden_, hidden_));
    else
      add(matrix_kernel(tokens_, hidden_ + 2 * keys_, hidden_));
    const double heads = static_cast<double>(step_.batch) * step_.heads;
    const double sequence = step_.sequence;
    const double scores = llama_ ? 0 : heads * sequence * sequence;
    const double width = hidden_ / step_.heads;
    add({.kind = Kind::kAttention,
         .count = heads,
         .m = sequence,
         .n = llama_ ? sequence / 2 : sequence,  // causal: half of the scores
         .k = width,
         .forward = heads * 2 * sequence * width + scores,
         .forward_kernels = llama_ ? 1 : 2,
         .backward_kernels = llama_ ? 1 : 4,
         .fused = llama_});
    if (llama_)
      add(memory_kernel(6 * tokens_ * (hidden_ + keys_), 6 * tokens_ * (hidden_ + keys_), 2, 4));
    else
      add(memory_kernel(8 * scores, 10 * scores, 3, 4));  // scale and mask, softmax, dropout
    add(memory_kernel(4 * state(), 4 * state(), 2, 2));   // heads apart and together
    add(matrix_kernel(tokens_, hidden_, hidden_));
  }

  void add_feed_forward() {
    add(matrix_kernel(tokens_, llama_ ? 2 * inner_ : inner_, hidden_));
    if (llama_)
      add(memory_kernel(5 * tokens_ * inner_, 8 * tokens_ * inner_, 2, 4));
    else
      add(memory_kernel(2 * tokens_ * inner_, 3 * tokens_ * inner_, 1, 2));
    add(matrix_kernel(tokens_, hidden_, inner_));
    // Twice dropout, addition and normalisation; RMSNorm is written as six operations.
    if (llama_)
      add(memory_kernel(18 * state(), 22 * state(), 12, 20));
    else
      add(memory_kernel(17 * state(), 18 * state(), 6, 8));
  }

  void add_head() {
    const double vocabulary = step_.vocabulary;
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
  bool llama_;
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
