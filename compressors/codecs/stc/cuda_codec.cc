#include "compressors/codecs/sparse_values.h"
#include "compressors/codecs/stc/cuda.h"
#include "compressors/coding/golomb_rice.h"
#include "compressors/cuda/cuda_selecting_codec.h"

namespace gradwire::compressors {
namespace {

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

}  // namespace

CudaCodecPtr make_cuda_stc(const OptionValues& options) {
  return std::make_shared<CudaStc>(options.number("ratio"), options.text("count") == "ceil",
                                   options.boolean("stored_count"));
}

}  // namespace gradwire::compressors
