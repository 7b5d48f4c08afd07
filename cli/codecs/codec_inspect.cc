#include "cli/codecs/codec_io.h"
#include "cli/context.h"
#include "cli/output/table.h"
#include "compressors/field_text.h"

namespace gradwire::cli {
namespace {

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text;
  for (const std::int64_t size : shape) text += (text.empty() ? "" : "x") + std::to_string(size);
  return text.empty() ? "none" : text;
}

std::string options_text(const std::map<std::string, std::string>& options) {
  std::string text;
  for (const auto& [name, value] : options)
    text.append(text.empty() ? "" : ", ").append(name).append("=").append(value);
  return text.empty() ? "none" : text;
}

void add_frame_rows(const compressors::Frame& frame, Table& table) {
  const compressors::FrameHeader& header = frame.header;
  const auto row = [&](std::int64_t offset, std::int64_t bytes, const char* name, const char* type,
                       const std::string& value) {
    table.add({offset, bytes, std::string("frame: ") + name, std::string(type), value});
  };
  const auto size = static_cast<std::int64_t>(frame.header_bytes);
  row(0, 6, "magic, version", "4 bytes, u16", "GRWF, 1");
  row(6, 1, "element type", "u8", "1 (binary32)");
  row(7, 1, "flags", "u8", header.shared_scale < 0 ? "0" : "1 (a shared scale)");
  row(8, 4, "header bytes", "u32", std::to_string(size));
  row(12, 4, "shared scale", "f32",
      header.shared_scale < 0 ? "none" : compressors::float_text(header.shared_scale));
  row(16, 8, "elements", "u64", std::to_string(header.n));
  row(24, 8, "payload bytes", "u64", std::to_string(frame.payload.size()));
  row(32, 24, "seed, step, worker, tensor", "u64, 3 x u32, u32 0",
      std::to_string(header.stream.seed) + ", " + std::to_string(header.stream.step) + ", " +
          std::to_string(header.stream.worker) + ", " + std::to_string(header.stream.tensor));
  row(56, 8, "first element", "u64", std::to_string(header.first_element));
  row(64, size - 68, "shape, codec, tensor's name, options", "see docs/wire-formats.md",
      shape_text(header.shape) + "; " + header.codec + "; \"" + header.tensor + "\"; " +
          options_text(header.options));
  row(size - 4, 4, "CRC-32C of the header", "u32", "holds");
}

void inspect(const CodecArguments& arguments, const Context& context) {
  const PayloadInput input = read_payload(arguments);
  const compressors::FrameHeader& header = input.frame.header;
  Table table({{"offset"},
               {"bytes"},
               {.name = "name", .title = "field", .importance = Importance::kKey},
               {"type"},
               {.name = "value", .importance = Importance::kKey}});
  if (input.framed) add_frame_rows(input.frame, table);
  const auto begin = static_cast<std::int64_t>(input.frame.header_bytes);
  for (const compressors::PayloadField& field :
       codec_of(header)->explain(input.frame.payload, header.spec(), input.side()))
    table.add({begin + static_cast<std::int64_t>(field.offset),
               static_cast<std::int64_t>(field.bytes), field.name, field.type, field.value});
  if (input.framed)
    table.add({static_cast<std::int64_t>(input.frame.bytes) - 4, std::int64_t{4},
               std::string("frame: CRC-32C of the payload"), std::string("u32"),
               std::string("holds")});
  table.print(context);
}

}  // namespace

void add_codec_inspect(CLI::App& codec, Context& context) {
  CLI::App* command = codec.add_subcommand("inspect", "Explain a frame or payload field by field");
  auto arguments = std::make_shared<CodecArguments>();
  command->add_option("NAME", arguments->codec,
                      "Codec of a bare payload (a frame says its own), or the file");
  add_codec_options(*command, *arguments);
  add_payload_options(*command, *arguments);
  command->footer(
      "Examples:\n  gradwire codec inspect --in gradient.grwf\n"
      "  gradwire codec inspect terngrad --n 6 --in payload");
  command->callback([arguments, &context] {
    settle_input(*arguments);
    inspect(*arguments, context);
  });
}

}  // namespace gradwire::cli
