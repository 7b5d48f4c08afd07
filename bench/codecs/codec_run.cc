#include "bench/codecs/codec_run.h"

#include <algorithm>
#include <bit>

namespace gradwire::bench {
namespace {

using namespace compressors;

std::vector<std::int64_t> shape_of(std::size_t n, bool square) {
  std::size_t columns = square ? std::size_t{1} << (std::bit_width(n) / 2) : 1024;
  while (columns > 1 && n % columns != 0) columns /= 2;
  return {static_cast<std::int64_t>(n / columns), static_cast<std::int64_t>(columns)};
}

constexpr std::size_t kStagger = 17 * 64;  // bytes into a page, times the array's number

}  // namespace

Tensors::Tensors(std::size_t n, std::uint64_t seed)
    : seed_(seed), input_(4 * n, 0), values_(4 * n, kStagger) {}

std::span<const float> Tensors::input(TensorKind kind, ThreadTeam* team) {
  if (!filled_ || kind_ != kind) fill_tensor(kind, seed_, input_.as<float>(), team);
  filled_ = true;
  kind_ = kind;
  return input_.as<float>();
}

std::span<const std::uint8_t> Tensors::mask() {
  if (mask_.empty()) mask_ = sparse_mask(seed_, elements());
  return mask_;
}

CodecRun::CodecRun(const CodecCase& codec_case, Tensors& tensors, ThreadTeam* team)
    : case_(codec_case),
      codec_(make_codec(codec_case.codec, codec_case.options)),
      values_(tensors.values()),
      shape_(shape_of(tensors.elements(), codec_case.square)) {
  job_.tensor = {.name = "layer", .shape = shape_, .data = tensors.input(codec_case.tensor, team)};
  const TensorSpec spec(job_.tensor);
  payload_ = PageBuffer(codec_->max_encoded_size(spec), 2 * kStagger);
  scratch_ = PageBuffer(codec_->scratch_size(spec), kStagger / 2 / 8 * 8);
  state_ = PageBuffer(codec_->state_size(spec), 3 * kStagger / 2 / 8 * 8);
  residual_ = PageBuffer(codec_case.feedback ? 4 * spec.n : 0, 3 * kStagger);
  if (codec_case.shared_scale) job_.side.shared_scale = codec_->local_scale(job_.tensor);
  if (find_codec(codec_case.codec)->needs_mask) job_.side.mask = tensors.mask();
  job_.draws = {.stream = {.seed = 1, .step = 0, .worker = 0, .tensor = 0}};
  job_.state = state_.bytes();
  job_.payload = payload_.bytes();
  job_.team = team;
}

void CodecRun::encode() {
  job_.written = case_.feedback
                     ? codec_->encode_with_residual(job_, residual_.as<float>(), scratch_.bytes())
                     : codec_->encode(job_, scratch_.bytes());
}

DecodeJob CodecRun::decode_job() const {
  return {.payload = payload(),
          .side = job_.side,
          .values = values_,
          .name = job_.tensor.name,
          .shape = shape_,
          .team = job_.team};
}

void CodecRun::decode() {
  codec_->decode(decode_job(), scratch_.bytes());
}

void CodecRun::accumulate() {
  codec_->decode_accumulate(decode_job(), 0.5f, scratch_.bytes());
}

void CodecRun::call(CodecOperation operation) {
  switch (operation) {
    case CodecOperation::kEncode:
      return encode();
    case CodecOperation::kDecode:
      return decode();
    case CodecOperation::kAccumulate:
      return accumulate();
  }
}

double CodecRun::payload_bytes_per_element() const {
  return static_cast<double>(job_.written) / static_cast<double>(values_.size());
}

double CodecRun::density() const {
  const auto zeros = std::count(values_.begin(), values_.end(), 0.0f);
  return 1.0 - static_cast<double>(zeros) / static_cast<double>(values_.size());
}

}  // namespace gradwire::bench
