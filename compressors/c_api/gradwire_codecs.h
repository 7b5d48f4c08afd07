#ifndef GRADWIRE_CODECS_H
#define GRADWIRE_CODECS_H
/* Gradwire's codecs for other languages: libgradwire_codecs.so. The bytes are those of the program
 * (docs/wire-formats.md). Every function is safe to call from several threads; a codec is
 * immutable, and what it remembers between calls is the caller's `state`.
 *
 * Functions that can fail return 0, or 1 with a message in error[error_size], which ends with a
 * zero and may be cut off; error may be null. Sizes are in bytes. `scratch` and `state` are aligned
 * to 8 bytes. Nothing is kept of any pointer after a call, and nothing is allocated in encode and
 * decode. */
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Changes whenever a program that was built with this header would no longer work. */
#define GRADWIRE_CODECS_ABI 1
int gradwire_codecs_abi(void);

typedef struct gradwire_codec gradwire_codec;

/* A tensor of float32, row-major. */
typedef struct gradwire_tensor {
  const char* name;     /* may be null */
  const int64_t* shape; /* [dimensions]; null: one dimension */
  size_t dimensions;
  size_t elements; /* the product of the shape */
} gradwire_tensor;

/* The random draws of one call (docs/wire-formats.md): other numbers, other draws. */
typedef struct gradwire_draws {
  uint64_t seed;
  uint32_t step, worker, tensor;
} gradwire_draws;

/* Makes a codec from its name and its options, as in a scenario: keys[i] = "clip", values[i] =
 * "2.5". Around it, if error_feedback is not 0, error feedback (arXiv 1901.09847). Null where it
 * fails. */
gradwire_codec* gradwire_codec_make(const char* name, const char* const* keys,
                                    const char* const* values, size_t options, int error_feedback,
                                    char* error, size_t error_size);
void gradwire_codec_free(gradwire_codec* codec);

/* Valid as long as the codec. */
const char* gradwire_codec_name(const gradwire_codec* codec);
/* Whether workers must agree on a scale before they encode: the largest of their local scales. */
int gradwire_codec_wants_shared_scale(const gradwire_codec* codec);

/* What buffers a tensor needs. All state bytes zero: a fresh state. */
size_t gradwire_codec_max_encoded_size(const gradwire_codec* codec, const gradwire_tensor* tensor);
size_t gradwire_codec_scratch_size(const gradwire_codec* codec, const gradwire_tensor* tensor);
size_t gradwire_codec_state_size(const gradwire_codec* codec, const gradwire_tensor* tensor);

/* The scale that this worker proposes for what the next encode with this state will encode. */
int gradwire_codec_local_scale(const gradwire_codec* codec, const gradwire_tensor* tensor,
                               const float* values, const void* state, void* scratch, float* scale,
                               char* error, size_t error_size);

/* Encodes values[elements]; updates the state. `shared_scale`: what workers agreed on; negative:
 * nothing. payload[max_encoded_size]; *written: bytes of it. */
int gradwire_codec_encode(const gradwire_codec* codec, const gradwire_tensor* tensor,
                          const float* values, const gradwire_draws* draws, float shared_scale,
                          void* state, void* scratch, void* payload, size_t* written, char* error,
                          size_t error_size);

/* values = decoded, or, if `accumulate` is not 0, values += factor * decoded. Any bytes are safe.
 * On an error, values may be partly updated. */
int gradwire_codec_decode(const gradwire_codec* codec, const gradwire_tensor* tensor,
                          const void* payload, size_t size, float shared_scale, int accumulate,
                          float factor, void* scratch, float* values, char* error,
                          size_t error_size);

#ifdef __cplusplus
}
#endif
#endif
