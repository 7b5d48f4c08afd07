#include "compressors/codecs/codecs.h"
#include "compressors/codecs/sparse/sparse_values.h"
#include "compressors/codecs/sparse/walked_codec.h"
#include "compressors/coding/golomb_rice.h"
#include "compressors/cuda/cuda_codecs.h"

/// topk, randomk, dgc and stc.
namespace gradwire::compressors {
namespace {

constexpr std::uint64_t kCountBytes = 4, kPairBytes = 8, kRunBytes = 6;

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

 private:
  void encode(const CudaEncodeJob& job, float* residual, std::byte* scratch, void* stream) const {
    const cuda::SelectionPlan plan = plan_of(static_cast<std::size_t>(job.n));
    const cuda::DeviceSelection selected =
        cuda::select_entries(source_of(job, stream), residual, plan, scratch);
    write(job, selected, plan, residual, scratch + cuda::selection_scratch(plan), stream);
  }

  SelectionRule rule_;
};

class CudaTopk final : public CudaSelectingCodec {
 public:
  CudaTopk(SparseCount count, SelectionRule rule)
      : CudaSelectingCodec("topk", rule), count_(count) {}
  std::size_t max_encoded_size(const TensorSpec& tensor) const override {
    return kCountBytes + kPairBytes * most_of(tensor.n);
  }
  // Payloads of any number of entries are decoded.
  bool has_fixed_size() const override { return false; }

 protected:
  std::size_t count_of(std::size_t n) const override { return count_.of(n); }
  void write(const CudaEncodeJob& job, const cuda::DeviceSelection& selected,
             const cuda::SelectionPlan& plan, float*, std::byte*, void* stream) const override {
    cuda::pairs_encode(selected, plan.most, job.payload, job.report, stream);
  }
  // The host knows only the size; the count and the entries are checked on the device.
  void decode_to(cuda::Decodes to) const override {
    for (const cuda::DecodeTensor& tensor : to) {
      const std::uint64_t bytes = tensor.payload_bytes;
      if (bytes < kCountBytes || bytes % kPairBytes != kCountBytes ||
          bytes / kPairBytes > require_u32(name(), tensor.sink.n))
        refuse_payload(name(), bytes, "no count of entries gives this size");
      cuda::pairs_decode(tensor.payload, static_cast<std::uint32_t>(bytes / kPairBytes),
                         tensor.sink);
    }
  }

 private:
  SparseCount count_;
};

class CudaDgc final : public CudaSelectingCodec {
 public:
  CudaDgc(SparseCount count, SelectionRule rule) : CudaSelectingCodec("dgc", rule), count_(count) {}
  std::size_t max_encoded_size(const TensorSpec& tensor) const override {
    const std::size_t most = most_of(tensor.n);
    return kCountBytes + kRunBytes * (most + (tensor.n - most) / 65536 + 1);
  }
  bool has_fixed_size() const override { return false; }

 protected:
  std::size_t count_of(std::size_t n) const override { return count_.of(n); }
  std::size_t writing_scratch(const cuda::SelectionPlan& plan) const override {
    return cuda::runs_scratch(plan.most);
  }
  void write(const CudaEncodeJob& job, const cuda::DeviceSelection& selected,
             const cuda::SelectionPlan& plan, float*, std::byte* scratch,
             void* stream) const override {
    cuda::runs_encode(selected, plan.most, job.payload, scratch, job.report, stream);
  }
  void decode_to(cuda::Decodes to) const override {
    for (const cuda::DecodeTensor& tensor : to) {
      const std::uint64_t bytes = tensor.payload_bytes, entries = (bytes - kCountBytes) / kRunBytes;
      if (bytes < kCountBytes || kCountBytes + kRunBytes * entries != bytes ||
          entries > std::numeric_limits<std::uint32_t>::max())
        refuse_payload(name(), bytes, "no count of entries gives this size");
      cuda::runs_decode(tensor.payload, static_cast<std::uint32_t>(entries), tensor.sink);
    }
  }

 private:
  SparseCount count_;
};

class CudaStc final : public CudaSelectingCodec {
 public:
  CudaStc(double ratio, bool round_up, bool stored_count)
      : CudaSelectingCodec("stc", {}),
        ratio_(ratio),
        round_up_(round_up),
        header_(stored_count ? 8 : 4) {}
  std::size_t max_encoded_size(const TensorSpec& tensor) const override {
    const cuda::StcFormat format = format_of(tensor.n);
    return static_cast<std::size_t>(format.header + format.most_bytes);
  }
  bool has_fixed_size() const override { return false; }
  bool decodes() const override { return false; }

 protected:
  std::size_t count_of(std::size_t n) const override {
    return round_up_ ? topk_count(n, ratio_) : floor_count(n, ratio_);
  }
  std::size_t writing_scratch(const cuda::SelectionPlan& plan) const override {
    return cuda::stc_scratch(plan.k, format_of(plan.n).most_bytes);
  }
  void write(const CudaEncodeJob& job, const cuda::DeviceSelection& selected,
             const cuda::SelectionPlan& plan, float* residual, std::byte* scratch,
             void* stream) const override {
    cuda::stc_encode(selected, plan.k, format_of(plan.n), job.payload, scratch, job.report, stream);
    if (residual != nullptr)
      cuda::stc_subtract(selected, plan.k, scratch, residual, job.report, stream);
  }
  void decode_to(cuda::Decodes) const override {
    throw Error(ErrorKind::kCapability, "decode on the device", name(),
                "its Golomb-Rice codes are read on the CPU");
  }

 private:
  cuda::StcFormat format_of(std::size_t n) const {
    const std::size_t k = count_of(n);
    const GolombRule rule{golomb_parameter(n, k), 1};
    return {rule.b, header_, (golomb_max_bits(n, k, rule) + 7) / 8};
  }

  double ratio_;
  bool round_up_;
  std::uint64_t header_;
};

/// k values at places that follow from a key.
class CudaRandomk final : public CudaStreamingCodec {
 public:
  CudaRandomk(SparseCount count, bool shared, bool unbiased)
      : CudaStreamingCodec("randomk"), count_(count), shared_(shared), unbiased_(unbiased) {}
  std::size_t max_encoded_size(const TensorSpec& tensor) const override {
    return 8 + 4 * count_.of(tensor.n);
  }

 protected:
  void encode_from(cuda::Encodes from) const override {
    cuda::TensorList<std::uint32_t> counts;
    for (const cuda::EncodeTensor& tensor : from) counts.push_back(entries_of(tensor.source.n));
    cuda::randomk_encode(from, counts.span(), shared_, unbiased_);
  }
  void decode_to(cuda::Decodes to) const override {
    cuda::TensorList<std::uint32_t> counts;
    for (const cuda::DecodeTensor& tensor : to) counts.push_back(entries_of(tensor.sink.n));
    cuda::randomk_decode(to, counts.span());
  }

 private:
  std::uint32_t entries_of(std::uint64_t n) const {
    return static_cast<std::uint32_t>(count_.of(require_u32(name(), n)));
  }

  SparseCount count_;
  bool shared_, unbiased_;
};

CudaCodecPtr make_topk(const OptionValues& options) {
  if (options.text("indices") != "u32" || options.text("values") != "f32")
    throw Error(ErrorKind::kCapability, "make codec", "topk",
                "only indices as u32 with values as f32 have a CUDA version");
  return std::make_shared<CudaTopk>(sparse_count(options), selection_rule(options));
}

}  // namespace

CudaCodecPtr make_cuda_sparse_codec(std::string_view name, const OptionValues& options) {
  if (name == "topk") return make_topk(options);
  if (name == "dgc")
    return std::make_shared<CudaDgc>(sparse_count(options), selection_rule(options));
  if (name == "randomk")
    return std::make_shared<CudaRandomk>(sparse_count(options), options.boolean("shared"),
                                         options.boolean("unbiased"));
  if (name == "stc")
    return std::make_shared<CudaStc>(options.number("ratio"), options.text("count") == "ceil",
                                     options.boolean("stored_count"));
  return nullptr;
}

}  // namespace gradwire::compressors
