#pragma once
#include <limits>

#include "compressors/cuda/cuda_codecs.h"
#include "compressors/selection.h"

namespace gradwire::compressors {

/// What topk, dgc and stc share: a selection, and then a way to write it.
class CudaSelectingCodec : public CudaPlainCodec {
 public:
  CudaSelectingCodec(std::string name, SelectionRule rule)
      : CudaPlainCodec(std::move(name)), rule_(rule) {}
  std::size_t scratch_size(const TensorSpec& tensor) const override {
    const cuda::SelectionPlan plan = plan_of(tensor.n);
    return cuda::selection_scratch(plan) + writing_scratch(plan);
  }
  bool encodes_one_by_one() const override { return true; }
  void enqueue_encode(std::span<const CudaEncodeJob> jobs, std::byte* scratch,
                      void* stream) const override {
    for (const CudaEncodeJob& job : jobs) encode(job, nullptr, scratch, stream);
  }
  void enqueue_encode_with_residual(std::span<const CudaEncodeJob> jobs,
                                    std::span<float* const> residuals, std::byte* scratch,
                                    void* stream) const override {
    for (std::size_t i = 0; i < jobs.size(); ++i) encode(jobs[i], residuals[i], scratch, stream);
  }
  using CudaCodec::encode;

 protected:
  virtual std::size_t count_of(std::size_t n) const = 0;
  virtual std::size_t writing_scratch(const cuda::SelectionPlan&) const { return 0; }
  /// `residual` (or null) is 0 where something was selected.
  virtual void write(const CudaEncodeJob& job, const cuda::DeviceSelection& selected,
                     const cuda::SelectionPlan& plan, float* residual, std::byte* scratch,
                     void* stream) const = 0;

  std::size_t most_of(std::size_t n) const { return most_selected(n, count_of(n), rule_); }
  cuda::SelectionPlan plan_of(std::size_t n) const {
    const std::size_t k = count_of(n);
    const std::size_t sample = rule_.sampled && n > 0 ? selection_sample_size(n, k, rule_) : 0;
    return {require_u32(name(), n), static_cast<std::uint32_t>(k),
            static_cast<std::uint32_t>(most_selected(n, k, rule_)),
            static_cast<std::uint32_t>(sample)};
  }
  bool sampled() const { return rule_.sampled; }
  /// How many entries a payload of so many bytes has; refuses a size that no number of them gives.
  /// The host knows only the size: the count and the entries are checked on the device.
  template <class LayoutOfEntries>
  std::uint32_t entries_in(std::uint64_t bytes) const {
    const std::uint64_t head = LayoutOfEntries(0).size({});
    const std::uint64_t entry = LayoutOfEntries(1).size({}) - head;
    const std::uint64_t entries = bytes < head ? 0 : (bytes - head) / entry;
    if (bytes != head + entries * entry || entries > std::numeric_limits<std::uint32_t>::max())
      refuse_payload(name(), bytes, "no count of entries gives this size");
    return static_cast<std::uint32_t>(entries);
  }

 private:
  void encode(const CudaEncodeJob& job, float* residual, std::byte* scratch, void* stream) const {
    const cuda::SelectionPlan plan = plan_of(static_cast<std::size_t>(job.n));
    const cuda::DeviceSelection selected =
        cuda::select_entries(source_of(job, stream), residual, plan, scratch);
    write(job, selected, plan, residual, scratch + cuda::selection_scratch(plan), stream);
  }

  SelectionRule rule_;
};

}  // namespace gradwire::compressors
