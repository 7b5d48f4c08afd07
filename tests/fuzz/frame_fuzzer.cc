#include <cstdlib>
#include <cstring>
#include <fstream>
#include <vector>

#include "compressors/crc32c.h"
#include "compressors/frame.h"

/// libFuzzer target for frames. The checksums are made right first, or nearly every mutation would
/// stop at them.
using namespace gradwire::compressors;

namespace {

void mend_checksums(std::vector<std::byte>& bytes) {
  if (bytes.size() < 68) return;
  std::uint32_t header;
  std::memcpy(&header, bytes.data() + 8, 4);
  if (header < 4 || header > bytes.size()) return;
  const std::uint32_t crc = crc32c(std::span(bytes).first(header - 4));
  std::memcpy(bytes.data() + header - 4, &crc, 4);
  std::uint64_t payload;
  std::memcpy(&payload, bytes.data() + 24, 8);
  if (bytes.size() - header < 4 || payload > bytes.size() - header - 4) return;
  const std::uint32_t sum = crc32c(std::span(bytes).subspan(header, payload));
  std::memcpy(bytes.data() + header + payload, &sum, 4);
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const char* folder = std::getenv("GRADWIRE_FUZZ_SEEDS");
  if (folder == nullptr) return 0;
  const FrameHeader header{.codec = "topk",
                           .options = {{"ratio", "0.1"}},
                           .tensor = "conv1",
                           .shape = {4, 5},
                           .n = 20,
                           .shared_scale = 1.0f};
  const auto frame = write_frame(header, std::vector<std::byte>(20));
  std::ofstream(std::string(folder) + "/frame", std::ios::binary)
      .write(reinterpret_cast<const char*>(frame.data()),
             static_cast<std::streamsize>(frame.size()));
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::byte> bytes(reinterpret_cast<const std::byte*>(data),
                               reinterpret_cast<const std::byte*>(data) + size);
  mend_checksums(bytes);
  try {
    const Frame frame = read_frame(bytes);
    const auto again = write_frame(frame.header, frame.payload);
    if (read_frame(again).header.options != frame.header.options) std::abort();
  } catch (const CodecError&) {
  }
  return 0;
}
