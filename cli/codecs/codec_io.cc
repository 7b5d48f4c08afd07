#include "cli/codecs/codec_io.h"

#include <utility>

#include <filesystem>

#include <algorithm>

#include <unistd.h>

#include <cstring>

#include "base/file_descriptor.h"

namespace gradwire::cli {
namespace {

std::vector<std::int64_t> parse_shape(const std::string& text) {
  std::vector<std::int64_t> shape;
  const char* at = text.c_str();
  while (*at != '\0') {
    char* end = nullptr;
    const long long size = std::strtoll(at, &end, 10);
    if (end == at || size < 0 || (*end != 'x' && *end != '\0') || (*end == 'x' && end[1] == '\0') ||
        shape.size() == 255)
      throw Error(ErrorKind::kUsage, "read --shape", text, "it is not a list of sizes",
                  "for example --shape 64x3x5x5");
    shape.push_back(size);
    at = *end == 'x' ? end + 1 : end;
  }
  return shape;
}

std::uint64_t product_of(const std::vector<std::int64_t>& shape, const std::string& text) {
  std::uint64_t product = 1;
  for (const std::int64_t size : shape)
    if (__builtin_mul_overflow(product, static_cast<std::uint64_t>(size), &product))
      throw Error(ErrorKind::kUsage, "read --shape", text, "it has more than 2^64 elements");
  return product;
}

/// Every option's value as text: what frames hold, so that later defaults do not change them.
std::map<std::string, std::string> all_options(const CodecArguments& arguments) {
  std::map<std::string, std::string> options;
  if (const compressors::CodecInfo* info = compressors::find_codec(arguments.codec))
    for (const OptionSpec& option : info->options) options[option.name] = option.default_text;
  for (const std::string& setting : arguments.settings) {
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos || equals == 0)
      throw Error(ErrorKind::kUsage, "read --set", setting, "it is not option=value",
                  "for example --set ratio=0.01; gradwire codec list shows the options");
    options[setting.substr(0, equals)] = setting.substr(equals + 1);
  }
  return options;
}

void require_same(const std::string& what, const std::string& asked, const std::string& framed) {
  if (!asked.empty() && asked != framed)
    throw Error(ErrorKind::kUsage, "decode", "the frame",
                "its " + what + " is \"" + framed + "\", not \"" + asked + "\"",
                "leave it out: a frame says it");
}

}  // namespace

bool is_stream(const std::string& path) {
  return path.empty() || path == "-";
}

std::vector<std::byte> read_bytes(const std::string& path) {
  if (!is_stream(path)) {
    const std::string text = read_file(path);
    const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
    return {bytes, bytes + text.size()};
  }
  FileDescriptor input(STDIN_FILENO);
  std::vector<std::byte> bytes;
  std::size_t size = 0;
  do {
    bytes.resize(std::max<std::size_t>(65536, 2 * size));
    const std::size_t got = input.read_some(std::span(bytes).subspan(size), "standard input");
    if (got == 0) break;
    size += got;
  } while (true);
  input.release();
  bytes.resize(size);
  return bytes;
}

void write_bytes(const std::string& path, std::span<const std::byte> bytes) {
  if (!is_stream(path))
    return write_file(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  FileDescriptor output(STDOUT_FILENO);
  try {
    output.write_all(bytes, "standard output");
  } catch (...) {
    output.release();
    throw;
  }
  output.release();
}

std::vector<float> read_floats(const std::string& path) {
  const std::vector<std::byte> bytes = read_bytes(path);
  if (bytes.size() % sizeof(float) != 0)
    throw Error(ErrorKind::kFailure, "read", is_stream(path) ? "standard input" : path,
                std::to_string(bytes.size()) + " bytes are not a whole number of binary32 values",
                "the input is raw little-endian fp32 without any header");
  std::vector<float> values(bytes.size() / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

void add_codec_options(CLI::App& command, CodecArguments& arguments) {
  command.add_option("-i,--in", arguments.in, "Input file; - is standard input")
      ->capture_default_str()
      ->type_name("FILE");
  command.add_option("--set", arguments.settings, "An option of the codec (repeatable)")
      ->type_name("OPTION=VALUE")
      ->allow_extra_args(false);
  command.add_option("--shape", arguments.shape, "Dimensions, such as 64x3x5x5 (default: one)");
  command.add_option("--tensor", arguments.tensor, "The tensor's name");
  command.add_option("--mask", arguments.mask, "File of one bit an element, LSB first")
      ->type_name("FILE");
  command.add_option("--scale", arguments.scale, "Scale that the workers agreed on");
  command.add_option("--seed", arguments.seed, "Seed of the random draws")->capture_default_str();
  command.add_option("--step", arguments.step, "Step, for the draws")->capture_default_str();
  command.add_option("--worker", arguments.worker, "Worker, for the draws")->capture_default_str();
  command.add_option("--tensor-id", arguments.tensor_id, "Tensor number, for the draws")
      ->capture_default_str();
}

void add_payload_options(CLI::App& command, CodecArguments& arguments) {
  command.add_option("--n", arguments.elements, "Elements of a bare payload (or --shape)")
      ->check(CLI::NonNegativeNumber);
  command.add_flag("--bare", arguments.bare,
                   "The input is a bare payload, whatever it begins with");
  command
      .add_option("--max-elements", arguments.max_elements,
                  "Refuse inputs that claim more: a few bytes can claim terabytes")
      ->capture_default_str();
}

compressors::FrameHeader described_header(const CodecArguments& arguments, std::int64_t n) {
  compressors::FrameHeader header;
  header.codec = arguments.codec;
  header.options = all_options(arguments);
  header.tensor = arguments.tensor;
  header.shape = parse_shape(arguments.shape);
  const std::uint64_t product = product_of(header.shape, arguments.shape);
  if (n < 0 && header.shape.empty())
    throw Error(ErrorKind::kUsage, "decode", "a bare payload", "it does not say how long it is",
                "give --n or --shape");
  header.n = n < 0 ? product : static_cast<std::uint64_t>(n);
  if (!header.shape.empty() && product != header.n)
    throw Error(ErrorKind::kUsage, "use --shape", arguments.shape,
                "it has " + std::to_string(product) + " elements, the tensor has " +
                    std::to_string(header.n));
  if (header.shape.empty()) header.shape = {static_cast<std::int64_t>(header.n)};
  header.stream = {arguments.seed, arguments.step, arguments.worker, arguments.tensor_id};
  header.shared_scale = static_cast<float>(arguments.scale);
  return header;
}

compressors::CodecPtr codec_of(const compressors::FrameHeader& header) {
  return compressors::make_codec(header.codec, header.options);
}

std::vector<std::byte> read_mask(const CodecArguments& arguments,
                                 const compressors::FrameHeader& header) {
  if (arguments.mask.empty()) {
    const compressors::CodecInfo* info = compressors::find_codec(header.codec);
    if (info != nullptr && info->needs_mask)
      throw Error(ErrorKind::kUsage, "use codec", header.codec,
                  "both sides must know its mask, which no payload holds", "give --mask FILE");
    return {};
  }
  std::vector<std::byte> mask = read_bytes(arguments.mask);
  if (mask.size() != (header.n + 7) / 8)
    throw Error(ErrorKind::kUsage, "use --mask", arguments.mask,
                "it has " + std::to_string(mask.size()) + " bytes; a bit for each of " +
                    std::to_string(header.n) + " elements takes " +
                    std::to_string((header.n + 7) / 8));
  return mask;
}

compressors::SideInputs PayloadInput::side() const {
  return {frame.header.shared_scale,
          {reinterpret_cast<const std::uint8_t*>(mask.data()), mask.size()}};
}

void settle_input(CodecArguments& arguments) {
  if (compressors::find_codec(arguments.codec) || !is_stream(arguments.in) ||
      !std::filesystem::is_regular_file(arguments.codec))
    return;
  arguments.in = std::exchange(arguments.codec, {});
}

PayloadInput read_payload(const CodecArguments& arguments) {
  PayloadInput input;
  input.bytes = read_bytes(arguments.in);
  input.framed = !arguments.bare && compressors::begins_frame(input.bytes);
  if (input.framed) {
    input.frame = compressors::read_frame(input.bytes);
    require_same("codec", arguments.codec, input.frame.header.codec);
    if (!arguments.settings.empty() || !arguments.shape.empty() || arguments.elements >= 0)
      throw Error(ErrorKind::kUsage, "decode", "the frame",
                  "it says its options, shape and length itself", "leave --set, --shape, --n out");
  } else {
    if (arguments.codec.empty())
      throw Error(ErrorKind::kUsage, "decode", is_stream(arguments.in) ? "the input" : arguments.in,
                  "it is not a frame (it does not begin with \"GRWF\"), and no codec is named",
                  "for a bare payload: gradwire codec decode NAME --n ELEMENTS");
    input.frame.header = described_header(arguments, arguments.elements);
    input.frame.payload = input.bytes;
  }
  if (input.frame.header.n > arguments.max_elements)
    throw Error(ErrorKind::kFailure, "decode", "the payload",
                "it claims " + std::to_string(input.frame.header.n) + " elements, more than " +
                    std::to_string(arguments.max_elements),
                "raise --max-elements if you trust it and have the memory");
  if (!arguments.mask.empty() || !compressors::payload_holds_mask(input.frame.header))
    input.mask = read_mask(arguments, input.frame.header);
  return input;
}

}  // namespace gradwire::cli
