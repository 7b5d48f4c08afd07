#include "compressors/frame.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "compressors/crc32c.h"
#include "compressors/payload.h"

namespace gradwire::compressors {
namespace {

constexpr char kMagic[kFrameMagicBytes] = {'G', 'R', 'W', 'F'};
constexpr std::uint16_t kVersion = 1;
constexpr std::uint8_t kBinary32 = 1;
constexpr std::uint8_t kSharedScale = 1;
constexpr std::size_t kFixedBytes = 64;
constexpr std::size_t kCrcBytes = 4;

class Writer {
 public:
  template <class T>
  void put(T value) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), bytes, bytes + sizeof value);
  }
  void put_bytes(std::span<const std::byte> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  /// Its length as a Length, then the text.
  template <class Length>
  void put_text(const std::string& text, const char* what) {
    if (text.size() > std::numeric_limits<Length>::max())
      throw CodecError("write", "a frame",
                       std::string("the ") + what + " is longer than " +
                           std::to_string(std::numeric_limits<Length>::max()) + " bytes");
    put(static_cast<Length>(text.size()));
    put_bytes(std::as_bytes(std::span(text)));
  }
  std::vector<std::byte>& bytes() { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

[[noreturn]] void refuse(std::size_t at, const std::string& reason) {
  throw CodecError("read", "a frame", "byte " + std::to_string(at) + " " + reason);
}

/// Fields in order, never beyond the end.
class Reader {
 public:
  Reader(std::span<const std::byte> bytes, std::size_t at) : bytes_(bytes), at_(at) {}
  template <class T>
  T get() {
    need(sizeof(T));
    const T value = load_field<T>(bytes_, at_);
    at_ += sizeof(T);
    return value;
  }
  template <class Length>
  std::string text() {
    const std::size_t length = get<Length>();
    need(length);
    std::string text(length, '\0');
    std::memcpy(text.data(), bytes_.data() + at_, length);
    at_ += length;
    return text;
  }
  std::size_t at() const { return at_; }

 private:
  void need(std::size_t count) const {
    if (count > bytes_.size() - at_)
      refuse(at_, "begins a field of " + std::to_string(count) + " bytes, but the header ends at " +
                      std::to_string(bytes_.size()));
  }
  std::span<const std::byte> bytes_;
  std::size_t at_;
};

void put_strings(const FrameHeader& header, Writer& out) {
  out.put_text<std::uint8_t>(header.codec, "codec's name");
  out.put_text<std::uint16_t>(header.tensor, "tensor's name");
  out.put(static_cast<std::uint16_t>(header.options.size()));
  for (const auto& [name, value] : header.options) {
    out.put_text<std::uint8_t>(name, "name of an option");
    out.put_text<std::uint16_t>(value, "value of an option");
  }
}

/// The header's bytes without its CRC, or why they are none.
std::span<const std::byte> checked_header(std::span<const std::byte> bytes) {
  if (!begins_frame(bytes)) refuse(0, "does not begin a frame: the first four are not \"GRWF\"");
  if (bytes.size() < kFixedBytes)
    refuse(bytes.size(), "is the end, within the frame's first " + std::to_string(kFixedBytes));
  const auto version = load_field<std::uint16_t>(bytes, 4);
  if (version != kVersion)
    refuse(4, "says version " + std::to_string(version) + "; this program reads version 1");
  const std::size_t size = load_field<std::uint32_t>(bytes, 8);
  if (size < kFixedBytes + kCrcBytes || size > bytes.size())
    refuse(8, "says that the header has " + std::to_string(size) + " bytes, of " +
                  std::to_string(bytes.size()));
  const auto header = bytes.first(size - kCrcBytes);
  if (crc32c(header) != load_field<std::uint32_t>(bytes, header.size()))
    refuse(header.size(), "begins a checksum that the header does not have: it is damaged");
  return header;
}

void read_shape(Reader& in, FrameHeader& header) {
  const std::size_t at = in.at();
  std::uint64_t product = 1;
  const int dimensions = in.get<std::uint8_t>();
  bool fits = true;
  for (int d = 0; d < dimensions; ++d) {
    const auto size = in.get<std::uint64_t>();
    fits = fits && size <= std::numeric_limits<std::int64_t>::max() &&
           !__builtin_mul_overflow(product, size, &product);
    header.shape.push_back(static_cast<std::int64_t>(size));
  }
  if (dimensions > 0 && (!fits || product != header.n))
    refuse(at, "begins a shape that does not have " + std::to_string(header.n) + " elements");
}

void read_fixed(std::span<const std::byte> bytes, FrameHeader& header) {
  if (load_field<std::uint8_t>(bytes, 6) != kBinary32)
    refuse(6, "names an element type other than binary32");
  if ((load_field<std::uint8_t>(bytes, 7) & kSharedScale) != 0) {
    header.shared_scale = load_field<float>(bytes, 12);
    if (!(header.shared_scale >= 0.0f) || std::isinf(header.shared_scale))
      refuse(12, "begins a shared scale that is not finite and >= 0");
  }
  header.n = load_field<std::uint64_t>(bytes, 16);
  header.stream = {.seed = load_field<std::uint64_t>(bytes, 32),
                   .step = load_field<std::uint32_t>(bytes, 40),
                   .worker = load_field<std::uint32_t>(bytes, 44),
                   .tensor = load_field<std::uint32_t>(bytes, 48)};
  header.first_element = load_field<std::uint64_t>(bytes, 56);
}

}  // namespace

bool payload_holds_mask(const FrameHeader& header) {
  const auto format = header.options.find("format");
  return header.codec == "masked" && format != header.options.end() && format->second == "record";
}

bool begins_frame(std::span<const std::byte> bytes) {
  return bytes.size() >= kFrameMagicBytes &&
         std::memcmp(bytes.data(), kMagic, kFrameMagicBytes) == 0;
}

std::vector<std::byte> write_frame(const FrameHeader& header, std::span<const std::byte> payload) {
  GRADWIRE_ASSERT(header.shape.size() <= 255);
  Writer out;
  out.put_bytes(std::as_bytes(std::span(kMagic)));
  out.put(kVersion);
  out.put(kBinary32);
  out.put(header.shared_scale < 0.0f ? std::uint8_t{0} : kSharedScale);
  out.put(std::uint32_t{0});  // header bytes, known below
  out.put(header.shared_scale < 0.0f ? 0.0f : header.shared_scale);
  out.put(header.n);
  out.put(std::uint64_t{payload.size()});
  out.put(header.stream.seed);
  out.put(header.stream.step);
  out.put(header.stream.worker);
  out.put(header.stream.tensor);
  out.put(std::uint32_t{0});
  out.put(header.first_element);
  out.put(static_cast<std::uint8_t>(header.shape.size()));
  for (const std::int64_t size : header.shape) out.put(static_cast<std::uint64_t>(size));
  put_strings(header, out);
  store_field(out.bytes(), 8, static_cast<std::uint32_t>(out.bytes().size() + kCrcBytes));
  out.put(crc32c(out.bytes()));
  out.put_bytes(payload);
  out.put(crc32c(payload));
  return std::move(out.bytes());
}

Frame read_frame(std::span<const std::byte> bytes) {
  const std::span<const std::byte> head = checked_header(bytes);
  Frame frame;
  read_fixed(head, frame.header);
  Reader in(head, kFixedBytes);
  read_shape(in, frame.header);
  frame.header.codec = in.text<std::uint8_t>();
  frame.header.tensor = in.text<std::uint16_t>();
  for (int left = in.get<std::uint16_t>(); left > 0; --left) {
    const std::string name = in.text<std::uint8_t>();
    frame.header.options[name] = in.text<std::uint16_t>();
  }
  if (in.at() != head.size()) refuse(in.at(), "is beyond the header's last field");
  frame.header_bytes = head.size() + kCrcBytes;
  const auto size = load_field<std::uint64_t>(head, 24);
  const std::size_t left = bytes.size() - frame.header_bytes;
  if (left < kCrcBytes || size > left - kCrcBytes)
    refuse(24, "says that the payload has " + std::to_string(size) + " bytes; " +
                   std::to_string(left) + " follow the header: the frame is cut off");
  frame.payload = bytes.subspan(frame.header_bytes, size);
  frame.bytes = frame.header_bytes + size + kCrcBytes;
  if (crc32c(frame.payload) != load_field<std::uint32_t>(bytes, frame.bytes - kCrcBytes))
    refuse(frame.bytes - kCrcBytes,
           "begins a checksum that the payload does not have: it is damaged");
  return frame;
}

}  // namespace gradwire::compressors
