#include "compressors/codecs/stc/cuda.h"
#include "compressors/codecs/stc/layout.h"
#include "compressors/cuda/cuda_selecting_codec.h"

namespace gradwire::compressors {
namespace {

class CudaStc final : public CudaSelectingCodec {
 public:
  explicit CudaStc(const StcOptions& options) : CudaSelectingCodec("stc", {}), rule_{options} {}
  std::size_t max_encoded_size(const TensorSpec& tensor) const override {
    return rule_.most_bytes(tensor.n);
  }
  bool has_fixed_size() const override { return false; }
  bool decodes() const override { return false; }

 protected:
  std::size_t count_of(std::size_t n) const override { return rule_.entries(n); }
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
    const StcLayout longest = rule_.longest(n);
    return {StcRule::gaps(n, count_of(n)).b,
            static_cast<std::size_t>(longest.at<StcLayout::kGaps>({})),
            static_cast<std::size_t>(longest.section<StcLayout::kGaps>().size)};
  }

  StcRule rule_;
};

}  // namespace

CudaCodecPtr make_cuda_stc(const OptionValues& options) {
  return std::make_shared<CudaStc>(StcOptions{
      options.number("ratio"), options.text("count") == "ceil", options.boolean("stored_count")});
}

}  // namespace gradwire::compressors
