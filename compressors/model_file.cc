#include "compressors/model_file.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "compressors/crc32c.h"
#include "compressors/payload.h"

namespace gradwire::compressors {
namespace {

constexpr char kMagic[4] = {'G', 'R', 'W', 'M'};
constexpr std::uint16_t kVersion = 1;
constexpr std::size_t kFixedBytes = 24, kCrcBytes = 4;
/// Those whose payloads need no options to be read.
constexpr std::string_view kCodecs[] = {"none", "lowbit"};

bool is_held(std::string_view codec) {
  return std::ranges::find(kCodecs, codec) != std::end(kCodecs);
}

template <class T>
void put(std::vector<std::byte>& out, T value) {
  const auto* const bytes = reinterpret_cast<const std::byte*>(&value);
  out.insert(out.end(), bytes, bytes + sizeof value);
}

template <class T>
T counted(std::uint64_t count, const char* what) {
  if (count > std::numeric_limits<T>::max())
    throw CodecError(
        "write", "a model file",
        std::string(what) + " is more than " + std::to_string(std::numeric_limits<T>::max()));
  return static_cast<T>(count);
}

void put_text(std::vector<std::byte>& out, std::string_view text) {
  put(out, counted<std::uint8_t>(text.size(), "the length of a name"));
  const auto bytes = std::as_bytes(std::span(text));
  out.insert(out.end(), bytes.begin(), bytes.end());
}

/// Fields in order, never beyond the end.
class Reader {
 public:
  Reader(std::span<const std::byte> bytes, std::string_view subject)
      : bytes_(bytes), subject_(subject) {}

  [[noreturn]] void refuse(std::size_t at, const std::string& reason) const {
    throw Error(ErrorKind::kFailure, "read model file", subject_,
                "byte " + std::to_string(at) + " " + reason, "export the model again");
  }
  std::span<const std::byte> take(std::uint64_t count) {
    if (count > bytes_.size() - at_)
      refuse(at_, "begins a field of " + std::to_string(count) + " bytes, and " +
                      std::to_string(bytes_.size() - at_) + " are left");
    const auto part = bytes_.subspan(at_, count);
    at_ += count;
    return part;
  }
  template <class T>
  T get() {
    return load_field<T>(take(sizeof(T)), 0);
  }
  std::string text() {
    const auto part = take(get<std::uint8_t>());
    return {reinterpret_cast<const char*>(part.data()), part.size()};
  }
  std::size_t at() const { return at_; }
  std::size_t left() const { return bytes_.size() - at_; }

 private:
  std::span<const std::byte> bytes_;
  std::string_view subject_;
  std::size_t at_ = 0;
};

/// The bytes before the checksum.
std::span<const std::byte> checked(std::span<const std::byte> bytes, std::string_view subject) {
  const Reader whole(bytes, subject);
  if (bytes.size() < sizeof kMagic || std::memcmp(bytes.data(), kMagic, sizeof kMagic) != 0)
    whole.refuse(0, "does not begin a model: the first four are not \"GRWM\"");
  if (bytes.size() < kFixedBytes + kCrcBytes)
    whole.refuse(bytes.size(), "is the end, within the first " +
                                   std::to_string(kFixedBytes + kCrcBytes) + ": it is cut off");
  const auto version = load_field<std::uint16_t>(bytes, 4);
  if (version != kVersion)
    whole.refuse(4, "says version " + std::to_string(version) + "; this program reads version 1");
  const auto content = bytes.first(bytes.size() - kCrcBytes);
  if (crc32c(content) != load_field<std::uint32_t>(bytes, content.size()))
    whole.refuse(content.size(),
                 "begins a checksum that the rest does not have: the file is damaged or cut off");
  return content;
}

/// A payload of P bytes has 8 P elements at most: no codec here takes less than a bit.
void check_elements(const Reader& in, std::size_t at, const StoredTensor& tensor,
                    std::uint64_t payload) {
  std::uint64_t elements = 1;
  for (const std::int64_t size : tensor.shape)
    if (__builtin_mul_overflow(elements, static_cast<std::uint64_t>(size), &elements) ||
        elements / 8 > payload)
      in.refuse(at, "begins a shape of more elements than the payload can hold");
}

StoredTensor read_tensor(Reader& in) {
  StoredTensor tensor;
  tensor.name = in.text();
  const std::size_t shape_at = in.at();
  for (int left = in.get<std::uint8_t>(); left > 0; --left)
    tensor.shape.push_back(in.get<std::uint32_t>());
  const std::size_t codec_at = in.at();
  tensor.codec = in.text();
  if (!is_held(tensor.codec)) in.refuse(codec_at, "names a codec that model files do not hold");
  const auto size = in.get<std::uint64_t>();
  check_elements(in, shape_at, tensor, size);
  const auto payload = in.take(size);
  tensor.payload.assign(payload.begin(), payload.end());
  return tensor;
}

std::vector<std::uint64_t> scratch_of(const Codec& codec, const TensorSpec& spec) {
  return std::vector<std::uint64_t>((codec.scratch_size(spec) + 7) / 8);
}

}  // namespace

std::size_t StoredTensor::elements() const {
  std::size_t all = 1;
  for (const std::int64_t size : shape) all *= static_cast<std::size_t>(size);
  return all;
}

StoredTensor store_tensor(const TensorView& tensor, const CodecChoice& choice) {
  GRADWIRE_ASSERT(is_held(choice.name));
  const CodecPtr codec = make_codec(choice.name, choice.options);
  StoredTensor stored{.name = std::string(tensor.name),
                      .shape = {tensor.shape.begin(), tensor.shape.end()},
                      .codec = choice.name};
  stored.payload.resize(codec->max_encoded_size(tensor));
  std::vector<std::uint64_t> scratch = scratch_of(*codec, tensor);
  EncodeJob job{.tensor = tensor, .payload = stored.payload};
  stored.payload.resize(codec->encode(job, std::as_writable_bytes(std::span(scratch))));
  return stored;
}

void load_tensor(const StoredTensor& tensor, std::span<float> values) {
  GRADWIRE_ASSERT(values.size() == tensor.elements());
  const CodecPtr codec = make_codec(tensor.codec);
  const TensorSpec spec(values.size(), tensor.name, tensor.shape);
  std::vector<std::uint64_t> scratch = scratch_of(*codec, spec);
  codec->decode(
      {.payload = tensor.payload, .values = values, .name = tensor.name, .shape = tensor.shape},
      std::as_writable_bytes(std::span(scratch)));
}

std::vector<std::byte> write_model_file(const ModelFile& file) {
  std::vector<std::byte> out;
  const auto magic = std::as_bytes(std::span(kMagic));
  out.insert(out.end(), magic.begin(), magic.end());
  put(out, kVersion);
  put(out, counted<std::uint16_t>(file.tensors.size(), "the number of tensors"));
  put(out, file.seed);
  put(out, file.scenario);
  for (const StoredTensor& tensor : file.tensors) {
    put_text(out, tensor.name);
    put(out, counted<std::uint8_t>(tensor.shape.size(), "the number of dimensions"));
    for (const std::int64_t size : tensor.shape)
      put(out, counted<std::uint32_t>(static_cast<std::uint64_t>(size), "a dimension"));
    put_text(out, tensor.codec);
    put(out, std::uint64_t{tensor.payload.size()});
    out.insert(out.end(), tensor.payload.begin(), tensor.payload.end());
  }
  put(out, crc32c(out));
  return out;
}

ModelFile read_model_file(std::span<const std::byte> bytes, std::string_view subject) {
  Reader in(checked(bytes, subject), subject);
  in.take(6);  // magic and version
  ModelFile file;
  const int tensors = in.get<std::uint16_t>();
  file.seed = in.get<std::uint64_t>();
  file.scenario = in.get<std::uint64_t>();
  for (int left = tensors; left > 0; --left) file.tensors.push_back(read_tensor(in));
  if (in.left() > 0) in.refuse(in.at(), "is beyond the last tensor");
  return file;
}

}  // namespace gradwire::compressors
