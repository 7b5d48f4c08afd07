#include "compressors/c_api/gradwire_codecs.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "compressors/codec.h"

#define GRADWIRE_API extern "C" __attribute__((visibility("default")))

using namespace gradwire;
using namespace gradwire::compressors;

struct gradwire_codec {
  CodecPtr codec;
  std::string name;
};

namespace {

void tell(const char* message, char* error, std::size_t error_size) {
  if (error == nullptr || error_size == 0) return;
  const std::size_t length = std::min(std::strlen(message), error_size - 1);
  std::memcpy(error, message, length);
  error[length] = '\0';
}

/// No exception leaves the library.
template <class Body>
int guarded(char* error, std::size_t error_size, Body&& body) {
  try {
    body();
    return 0;
  } catch (const std::bad_alloc&) {
    tell("there is not enough memory", error, error_size);
  } catch (const std::exception& failure) {
    tell(failure.what(), error, error_size);
  }
  return 1;
}

TensorSpec spec_of(const gradwire_tensor& tensor) {
  return {tensor.elements,
          tensor.name == nullptr ? "" : tensor.name,
          {tensor.shape, tensor.shape == nullptr ? 0 : tensor.dimensions}};
}

TensorView view_of(const gradwire_tensor& tensor, const float* values) {
  const TensorSpec spec = spec_of(tensor);
  return {spec.name, spec.shape, {values, tensor.elements}};
}

/// Throws for a tensor whose shape has not so many elements.
void require_shape(const gradwire_tensor& tensor) {
  if (tensor.shape == nullptr) return;
  std::uint64_t product = 1;
  for (std::size_t i = 0; i < tensor.dimensions; ++i) {
    if (tensor.shape[i] < 0 ||
        __builtin_mul_overflow(product, static_cast<std::uint64_t>(tensor.shape[i]), &product))
      product = ~std::uint64_t{0};
  }
  if (product != tensor.elements)
    throw Error(ErrorKind::kUsage, "use", "a tensor", "its shape has not its number of elements");
}

std::span<std::byte> bytes_at(void* at, std::size_t size) {
  return {static_cast<std::byte*>(at), size};
}

}  // namespace

GRADWIRE_API int gradwire_codecs_abi(void) {
  return GRADWIRE_CODECS_ABI;
}

GRADWIRE_API gradwire_codec* gradwire_codec_make(const char* name, const char* const* keys,
                                                 const char* const* values, size_t options,
                                                 int error_feedback, char* error,
                                                 size_t error_size) {
  gradwire_codec* made = nullptr;
  guarded(error, error_size, [&] {
    std::map<std::string, std::string> chosen;
    for (std::size_t i = 0; i < options; ++i) chosen[keys[i]] = values[i];
    CodecPtr codec = make_codec(name, chosen);
    const CodecInfo* info = find_codec(name);
    if (info != nullptr && info->needs_mask)
      throw Error(ErrorKind::kCapability, "make codec", name, "masks are not passed this way");
    if (error_feedback != 0) codec = with_error_feedback(std::move(codec));
    std::string own(codec->name());
    made = new gradwire_codec{std::move(codec), std::move(own)};
  });
  return made;
}

GRADWIRE_API void gradwire_codec_free(gradwire_codec* codec) {
  delete codec;
}

GRADWIRE_API const char* gradwire_codec_name(const gradwire_codec* codec) {
  return codec->name.c_str();
}

GRADWIRE_API int gradwire_codec_wants_shared_scale(const gradwire_codec* codec) {
  return codec->codec->wants_shared_scale() ? 1 : 0;
}

GRADWIRE_API size_t gradwire_codec_max_encoded_size(const gradwire_codec* codec,
                                                    const gradwire_tensor* tensor) {
  return codec->codec->max_encoded_size(spec_of(*tensor));
}

GRADWIRE_API size_t gradwire_codec_scratch_size(const gradwire_codec* codec,
                                                const gradwire_tensor* tensor) {
  return codec->codec->scratch_size(spec_of(*tensor));
}

GRADWIRE_API size_t gradwire_codec_state_size(const gradwire_codec* codec,
                                              const gradwire_tensor* tensor) {
  return codec->codec->state_size(spec_of(*tensor));
}

GRADWIRE_API int gradwire_codec_local_scale(const gradwire_codec* codec,
                                            const gradwire_tensor* tensor, const float* values,
                                            const void* state, void* scratch, float* scale,
                                            char* error, size_t error_size) {
  return guarded(error, error_size, [&] {
    require_shape(*tensor);
    if (!codec->codec->wants_shared_scale())
      throw Error(ErrorKind::kUsage, "propose a scale of", codec->name, "it shares none");
    const TensorSpec spec = spec_of(*tensor);
    *scale = codec->codec->proposed_scale(
        view_of(*tensor, values),
        {static_cast<const std::byte*>(state), codec->codec->state_size(spec)},
        bytes_at(scratch, codec->codec->scratch_size(spec)));
  });
}

GRADWIRE_API int gradwire_codec_encode(const gradwire_codec* codec, const gradwire_tensor* tensor,
                                       const float* values, const gradwire_draws* draws,
                                       float shared_scale, void* state, void* scratch,
                                       void* payload, size_t* written, char* error,
                                       size_t error_size) {
  return guarded(error, error_size, [&] {
    require_shape(*tensor);
    const TensorSpec spec = spec_of(*tensor);
    EncodeJob job{.tensor = view_of(*tensor, values),
                  .side = {.shared_scale = shared_scale},
                  .draws = {.stream = {draws->seed, draws->step, draws->worker, draws->tensor}},
                  .state = bytes_at(state, codec->codec->state_size(spec)),
                  .payload = bytes_at(payload, codec->codec->max_encoded_size(spec))};
    *written = codec->codec->encode(job, bytes_at(scratch, codec->codec->scratch_size(spec)));
  });
}

GRADWIRE_API int gradwire_codec_decode(const gradwire_codec* codec, const gradwire_tensor* tensor,
                                       const void* payload, size_t size, float shared_scale,
                                       int accumulate, float factor, void* scratch, float* values,
                                       char* error, size_t error_size) {
  return guarded(error, error_size, [&] {
    require_shape(*tensor);
    const TensorSpec spec = spec_of(*tensor);
    const DecodeJob job{.payload = {static_cast<const std::byte*>(payload), size},
                        .side = {.shared_scale = shared_scale},
                        .values = {values, tensor->elements},
                        .name = spec.name,
                        .shape = spec.shape};
    const auto room = bytes_at(scratch, codec->codec->scratch_size(spec));
    if (accumulate != 0)
      codec->codec->decode_accumulate(job, factor, room);
    else
      codec->codec->decode(job, room);
  });
}
