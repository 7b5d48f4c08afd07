#pragma once
#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "compressors/codec.h"
#include "compressors/frame.h"

/// What `codec encode`, `decode` and `inspect` share: files of raw binary32, side inputs, and the
/// codec that a frame or the command line names.
namespace gradwire::cli {

/// "-" or empty is standard input or output.
std::vector<std::byte> read_bytes(const std::string& path);
void write_bytes(const std::string& path, std::span<const std::byte> bytes);
bool is_stream(const std::string& path);

/// Raw little-endian binary32. Throws Error if the size is not a multiple of 4.
std::vector<float> read_floats(const std::string& path);

struct CodecArguments {
  std::string codec;
  std::vector<std::string> settings;  ///< "option=value"
  std::string in = "-", out = "-";
  std::string shape;   ///< "64x3x5x5"; empty = one dimension
  std::string tensor;  ///< its name
  std::string mask;    ///< file of one bit an element, LSB first
  double scale = -1;   ///< shared scale; negative = none
  std::uint64_t seed = 1;
  std::uint32_t step = 0, worker = 0, tensor_id = 0;
  std::int64_t elements = -1;  ///< of a bare payload
  std::uint64_t max_elements = std::uint64_t{1} << 31;
  bool bare = false;
};

/// Takes `codec decode FILE` as `--in FILE`: what is named is no codec but a file.
void settle_input(CodecArguments& arguments);

/// --in, --set, --shape, --tensor, --mask, --scale, --seed, --step, --worker, --tensor-id.
void add_codec_options(CLI::App& command, CodecArguments& arguments);
/// As well: --n, --bare, --max-elements.
void add_payload_options(CLI::App& command, CodecArguments& arguments);

/// The frame's header as the command line gives it. Throws Error(kUsage) for unknown codecs,
/// malformed settings or shapes, and a shape that does not have n elements (n known: not negative).
compressors::FrameHeader described_header(const CodecArguments& arguments, std::int64_t n);
compressors::CodecPtr codec_of(const compressors::FrameHeader& header);

/// A payload and how to read it, from a frame or, for a bare payload, from the command line.
/// Throws Error(kUsage) where that says too little, or something else than the frame does.
struct PayloadInput {
  std::vector<std::byte> bytes;  ///< the whole input; `frame.payload` is part of it
  compressors::Frame frame;
  bool framed = false;
  std::vector<std::byte> mask;

  compressors::SideInputs side() const;
};
PayloadInput read_payload(const CodecArguments& arguments);
std::vector<std::byte> read_mask(const CodecArguments& arguments,
                                 const compressors::FrameHeader& header);

/// 8-byte aligned, zeroed: state or scratch of that many bytes.
class AlignedBytes {
 public:
  explicit AlignedBytes(std::size_t size) : words_((size + 7) / 8), size_(size) {}
  std::span<std::byte> span() { return {reinterpret_cast<std::byte*>(words_.data()), size_}; }

 private:
  std::vector<std::uint64_t> words_;
  std::size_t size_;
};

// One function a subcommand of `codec`, in codec_<name>.cc.
struct Context;
void add_codec_encode(CLI::App& codec, Context& context);
void add_codec_decode(CLI::App& codec, Context& context);
void add_codec_inspect(CLI::App& codec, Context& context);

}  // namespace gradwire::cli
