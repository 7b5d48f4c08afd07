#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/options.h"
#include "base/philox.h"

/// Codecs turn a tensor of floats into packed bytes and back.
///
/// A codec is immutable, shared and thread-safe: what it remembers between calls (residuals,
/// momentum) is a caller-owned span of state_size() bytes; all zero bytes means fresh. Callers own
/// every buffer; encode and decode allocate nothing. On equal input a codec gives the same bytes on
/// one thread or many, and on CPU and CUDA (see base/philox.h for the draws, and
/// compressors/ordered_sum.h for sums). Scratch and state are aligned to 8 bytes (asserted);
/// payloads need no alignment. Bytes on the wire: docs/wire-formats.md.
namespace gradwire {
class ThreadTeam;
}
namespace gradwire::compressors {

/// A tensor that cannot be encoded, or bytes that cannot be decoded: codec, byte or element, why.
class CodecError : public Error {
 public:
  CodecError(std::string_view attempted, std::string_view subject, std::string_view reason)
      : Error(ErrorKind::kFailure, attempted, subject, reason) {}
};

/// A dense tensor: row-major, `data.size()` = product of `shape`. `name` selects per-layer rules.
struct TensorView {
  std::string_view name;
  std::span<const std::int64_t> shape;
  std::span<const float> data;
};

/// What is known of a tensor before its values: enough for sizes and per-layer rules. A plain count
/// means one dimension and no name.
struct TensorSpec {
  TensorSpec(std::size_t count) : n(count) {}  // NOLINT: sizes of flat tensors stay plain numbers
  TensorSpec(const TensorView& tensor)         // NOLINT
      : n(tensor.data.size()), name(tensor.name), shape(tensor.shape) {}
  TensorSpec(std::size_t count, std::string_view tensor_name,
             std::span<const std::int64_t> tensor_shape)
      : n(count), name(tensor_name), shape(tensor_shape) {}

  std::size_t n = 0;
  std::string_view name = {};
  std::span<const std::int64_t> shape = {};  ///< product = n; empty = {n}
  /// All dimensions but the last; 1 for at most one dimension.
  std::size_t rows() const;
  /// The last dimension; n for at most one dimension.
  std::size_t columns() const;
};

/// What both sides know besides the payload.
struct SideInputs {
  /// Scale agreed between workers beforehand (TernGrad's scaler sharing); negative = not shared,
  /// the codec uses the tensor's own and writes it into the payload.
  float shared_scale = -1.0f;
  /// Known mask, one bit an element, LSB first; empty = all ones.
  std::span<const std::uint8_t> mask = {};
};

/// The random draws of one call: element e of the tensor uses draw first_element + e of `stream`.
struct Draws {
  RandomStream stream = {};
  std::uint64_t first_element = 0;
  /// For tests: if not empty, u of element e is injected[e] instead.
  std::span<const float> injected = {};
};

/// How encoded messages of several workers may be combined.
enum class AggregatePolicy {
  kSum,         ///< partial sums stay in coded form (see SumTerms): ring all-reduce
  kGather,      ///< every worker decodes every message: ring all-gather, or a server that decodes
  kRequantize,  ///< the owner of a part decodes, sums and encodes again
  kServer,      ///< only a server can combine them
};
std::string_view name_of(AggregatePolicy policy);

/// One tensor. `written` is set by encode.
struct EncodeJob {
  TensorView tensor;
  SideInputs side = {};
  Draws draws = {};
  /// [state_size(tensor)], updated in place; may be empty if the size is 0.
  std::span<std::byte> state = {};
  std::span<std::byte> payload;  ///< [>= max_encoded_size(tensor)], not overlapping the tensor
  std::size_t written = 0;
  /// Threads that share the work of this one call, the caller's among them; null = the caller's
  /// alone. The bytes are the same.
  ThreadTeam* team = nullptr;
  /// Whether a tensor that is refused leaves the state as it was, which may take a look at all of
  /// it beforehand. False: the caller gives up then, and the state says nothing any more.
  bool keeps_state = true;
};

struct DecodeJob {
  std::span<const std::byte> payload;  ///< exactly the bytes that encode wrote
  SideInputs side = {};
  std::span<float> values;                   ///< [n], overwritten or accumulated into
  std::string_view name = {};                ///< as the encoder's tensor
  std::span<const std::int64_t> shape = {};  ///< as the encoder's tensor; empty = {n}
  ThreadTeam* team = nullptr;                ///< as EncodeJob::team

  TensorSpec spec() const { return {values.size(), name, shape}; }
};

/// One tensor of a sum: encode_terms's job.
struct TermsJob {
  TensorView tensor;
  SideInputs side = {};
  Draws draws = {};
  std::span<std::byte> state = {};   ///< as EncodeJob::state
  std::span<std::uint32_t> terms{};  ///< [n], overwritten
};

/// One field of a payload, for people: `gradwire codec inspect`.
struct PayloadField {
  std::size_t offset = 0;  ///< in bytes
  std::size_t bytes = 0;   ///< bit fields take the bytes of their whole section
  std::string name;        ///< as docs/wire-formats.md calls it
  std::string type;        ///< "u32", "f32", "u2[n]", "Golomb-Rice", ...
  std::string value;       ///< the number, or the first few of many
};

/// A payload whose elements lie one after the other: `head` bytes, then `bits` bits an element, on
/// which nothing else depends. All depend on the whole head; or, with `bucket` > 0, each bucket of
/// so many elements on its own part of it, one of ceil(n / bucket) equal ones.
struct PackedElements {
  std::size_t head = 0;
  int bits = 0;
  std::size_t bucket = 0;
};

/// A sum-compatible codec's part in a ring all-reduce. Terms are 4-byte words, opaque to callers
/// (float bits for dense codecs, int32 for ternary sums), one an element. On a hop, a partial sum
/// of `contributors` workers is packed at width_bits(contributors) bits an element, LSB first,
/// ceil(n * width / 8) bytes.
class SumTerms {
 public:
  virtual ~SumTerms() = default;
  /// Bits an element of a partial sum over `contributors` >= 1 workers.
  virtual int width_bits(int contributors) const = 0;
  /// This worker's own term of each element; terms[n] is overwritten. Throws CodecError on NaN or
  /// Inf, and where wants_shared_scale() holds and side.shared_scale is not given.
  virtual void to_terms(const TensorView& tensor, const SideInputs& side, const Draws& draws,
                        std::span<std::uint32_t> terms) const = 0;
  virtual void pack(std::span<const std::uint32_t> terms, int contributors,
                    std::span<std::byte> payload) const = 0;
  /// `payload` holds packed_size(terms.size(), contributors) bytes. Any bytes are safe: throws
  /// CodecError naming the byte; terms may be partly updated then.
  virtual void unpack_add(std::span<const std::byte> payload, int contributors,
                          std::span<std::uint32_t> terms) const = 0;
  virtual void unpack_store(std::span<const std::byte> payload, int contributors,
                            std::span<std::uint32_t> terms) const = 0;
  /// Replaces each term by what pack and unpack_store would make of it. The owner of a reduced
  /// part calls this before it sends the part on, or its replica differs from the receivers'.
  /// Nothing to do (the default) where packing loses nothing.
  virtual void round_as_packed(std::span<std::uint32_t> /*terms*/, int /*contributors*/) const {}
  /// values[e] = factor * decoded sum.
  virtual void to_values(std::span<const std::uint32_t> terms, const SideInputs& side, float factor,
                         std::span<float> values) const = 0;
  std::size_t packed_size(std::size_t n, int contributors) const {
    return (n * static_cast<std::size_t>(width_bits(contributors)) + 7) / 8;
  }
};

class Codec {
 public:
  virtual ~Codec() = default;

  virtual std::string_view name() const = 0;
  virtual AggregatePolicy policy() const = 0;
  /// True if workers must agree on shared_scale (max over workers of local_scale) before encoding.
  virtual bool wants_shared_scale() const { return false; }
  /// True if tensors that travel together have one scale, the largest of theirs. Says nothing
  /// unless wants_shared_scale() holds.
  virtual bool one_scale_for_all() const { return false; }
  /// The scale this worker proposes. Throws CodecError on NaN or Inf, naming the element.
  virtual float local_scale(const TensorView& tensor) const;
  /// local_scale of what the next encode or encode_terms with this state will encode, for codecs
  /// that change the tensor first (clipping, feedback). `state`: as EncodeJob::state, not changed.
  /// Precondition: wants_shared_scale().
  virtual float proposed_scale(const TensorView& tensor, std::span<const std::byte> state,
                               std::span<std::byte> scratch) const;

  /// Upper bound, in bytes, on what encode writes for this tensor, whatever its values.
  virtual std::size_t max_encoded_size(const TensorSpec& tensor) const = 0;
  /// Bytes of scratch that encode, encode_terms, proposed_scale and decode need for this tensor.
  virtual std::size_t scratch_size(const TensorSpec&) const { return 0; }
  virtual std::size_t state_size(const TensorSpec&) const { return 0; }

  /// Encodes one tensor; returns the number of bytes written to job.payload. Throws CodecError on
  /// NaN or Inf (naming codec, tensor and element) and where n is beyond the format's limit.
  virtual std::size_t encode(EncodeJob& job, std::span<std::byte> scratch) const = 0;
  /// Error feedback's step: encodes job.tensor + residual and leaves in residual[n] what was not
  /// sent. job.state is the codec's own. The default adds, encodes and decode-accumulates with
  /// factor -1; codecs that can do it in fewer passes over memory override it. Where
  /// job.keeps_state, a tensor with NaN or Inf is refused before the residual changes, at any size
  /// and with any threads.
  virtual std::size_t encode_with_residual(EncodeJob& job, std::span<float> residual,
                                           std::span<std::byte> scratch) const;
  /// values = decoded. Any bytes are safe: throws CodecError naming the byte and the reason.
  virtual void decode(const DecodeJob& job, std::span<std::byte> scratch) const = 0;
  /// values += factor * decoded, without a temporary tensor. Same errors as decode; on error,
  /// values may be partly updated.
  virtual void decode_accumulate(const DecodeJob& job, float factor,
                                 std::span<std::byte> scratch) const = 0;

  /// Where elements lie, for those who have received a part of a payload only. None (the default)
  /// where an element's value may depend on bytes all over the payload.
  virtual std::optional<PackedElements> packed_elements(const TensorSpec&) const { return {}; }

  /// The payload field by field, in order, covering every byte. Same errors as decode. The default
  /// calls all of it one field.
  virtual std::vector<PayloadField> explain(std::span<const std::byte> payload,
                                            const TensorSpec& tensor, const SideInputs& side) const;

  /// How terms are packed and added: null unless policy() is kSum. Rules have none of their own:
  /// chosen_codec (compressors/decorators/rules.h) gives the codec that has a tensor's.
  virtual const SumTerms* sum_terms() const { return nullptr; }
  /// encode's counterpart where messages are summed: this worker's terms of the tensor, after what
  /// decorators do to it; job.state changes as encode changes it. Same errors as
  /// SumTerms::to_terms, which is the default. Precondition: policy() is kSum.
  virtual void encode_terms(const TermsJob& job, std::span<std::byte> scratch) const;
};

using CodecPtr = std::shared_ptr<const Codec>;

/// What a codec is made for. Gradient codecs (dense and sparse) can be a scenario's method.
enum class CodecFamily { kDense, kSparse, kWeights, kActivations };
std::string_view name_of(CodecFamily family);

/// What `gradwire codec list` and the scenario's option tables show about a codec.
struct CodecInfo {
  std::string name;
  std::string summary;
  std::string source;  ///< paper or standard
  AggregatePolicy policy;
  bool unbiased;
  OptionTable options;
  CodecFamily family = CodecFamily::kDense;
  bool needs_mask = false;   ///< SideInputs::mask must be given to both sides
  bool needs_shape = false;  ///< the shape changes the bytes: decoders must be told
  int float_bits = 0;        ///< sends each value as a float of so many bits; 0 = as a code
};

/// All codecs, in the order in which they are listed.
const std::vector<CodecInfo>& codec_catalogue();
/// The catalogue's row of a codec; null if there is none of that name.
const CodecInfo* find_codec(std::string_view name);
/// Whether it sends some elements only; false for an unknown name.
bool is_sparse_codec(std::string_view name);
/// Whether it sends the values as they are; false for an unknown name.
bool is_plain_codec(std::string_view name);

/// Throws Error(kUsage) for an unknown name (with the nearest) or bad options.
CodecPtr make_codec(std::string_view name, const std::map<std::string, std::string>& options = {});

/// Error feedback (residual accumulation) around any codec: encodes tensor + residual, keeps what
/// was not sent:  c = C(g + e), e <- g + e - c  (arXiv 1901.09847). State: the residual (n floats,
/// padded to 8 bytes), then the inner codec's state. A NaN or Inf in the tensor is refused before
/// the residual is touched (EncodeJob::keeps_state). Where messages are summed, c is what the
/// packed terms of one worker say: what later hops round away is not fed back.
/// Policy: the inner one.
/// Name: the inner name and "+ef".
CodecPtr with_error_feedback(CodecPtr inner);

/// Local momentum as DGC corrects it (arXiv 1712.01887, section 3.2 and eq. 7; Nesterov's form as
/// its released code has it).
struct MomentumCorrection {
  double momentum = 0.9;  ///< m, in [0, 1); 0 is error feedback
  bool nesterov = false;  ///< u <- m (u + g), v <- v + u + g
  bool masking = true;    ///< momentum factor masking: u <- 0 where an element was sent
  double clip = 0;        ///< >= 0: the tensor's norm is cut to clip / sqrt(workers); 0 = off
  int workers = 1;        ///< >= 1, see clip
};

/// Sends from accumulated velocities instead of gradients:  u <- m u + g, v <- v + u, c = C(v),
/// v <- v - c. With masking, the inner codec must be a sparse one (an element that a codec other
/// than ours sends as 0 counts as not sent); without, any may be. The optimiser must then apply no
/// momentum of its own. State: u, then v (n floats each, padded to 8 bytes), then the inner
/// codec's. A NaN or Inf in the tensor is refused before the state changes
/// (EncodeJob::keeps_state). Policy as with_error_feedback. Name: the inner name and "+momentum"
/// (and "+clip"). Throws Error(kUsage) for options out of range.
CodecPtr with_momentum_correction(CodecPtr inner, const MomentumCorrection& options);

}  // namespace gradwire::compressors
