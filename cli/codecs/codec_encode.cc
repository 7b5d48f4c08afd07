#include <cstdio>

#include "cli/codecs/codec_io.h"
#include "cli/context.h"
#include "cli/output/table.h"

namespace gradwire::cli {
namespace {

std::vector<std::byte> encoded(const compressors::Codec& codec,
                               const compressors::FrameHeader& header,
                               const std::vector<float>& values, const PayloadInput& side) {
  const compressors::TensorView tensor{header.tensor, header.shape, values};
  std::vector<std::byte> payload(codec.max_encoded_size(tensor));
  AlignedBytes scratch(codec.scratch_size(tensor)), state(codec.state_size(tensor));
  compressors::EncodeJob job{.tensor = tensor,
                             .side = side.side(),
                             .draws = {header.stream, header.first_element, {}},
                             .state = state.span(),
                             .payload = payload};
  payload.resize(codec.encode(job, scratch.span()));
  return payload;
}

void report(const compressors::FrameHeader& header, std::size_t payload, std::size_t frame,
            const CodecArguments& arguments, const Context& context) {
  const double n = static_cast<double>(header.n);
  const double bits = header.n == 0 ? 0 : 8 * static_cast<double>(payload) / n;
  if (is_stream(arguments.out)) {
    char line[160];
    std::snprintf(line, sizeof line, "%s: %.0f elements, payload %zu bytes (%.3f bits an element)",
                  header.codec.c_str(), n, payload, bits);
    context.say(line + (arguments.bare ? "" : ", frame " + std::to_string(frame) + " bytes"));
    return;
  }
  Table table({{"name", "codec"},
               {"elements"},
               {"payload_bytes", "payload", Column::Style::kBytes},
               {"frame_bytes", "frame", Column::Style::kBytes},
               {"bits_per_element", "bits an element"},
               {.name = "file", .importance = Importance::kLow}});
  table.add({header.codec, static_cast<std::int64_t>(header.n), static_cast<std::int64_t>(payload),
             arguments.bare ? Cell{} : Cell{static_cast<std::int64_t>(frame)}, bits,
             arguments.out});
  table.print(context);
}

void encode(const CodecArguments& arguments, const Context& context) {
  const auto check = compressors::make_codec(arguments.codec);  // before anything is read
  const std::vector<float> values = read_floats(arguments.in);
  PayloadInput side;
  side.frame.header = described_header(arguments, static_cast<std::int64_t>(values.size()));
  const compressors::FrameHeader& header = side.frame.header;
  side.mask = read_mask(arguments, header);
  const std::vector<std::byte> payload = encoded(*codec_of(header), header, values, side);
  const std::vector<std::byte> frame = compressors::write_frame(header, payload);
  write_bytes(arguments.out, arguments.bare ? payload : frame);
  report(header, payload.size(), frame.size(), arguments, context);
}

}  // namespace

void add_codec_encode(CLI::App& codec, Context& context) {
  CLI::App* command = codec.add_subcommand("encode", "Encode raw fp32 values to a frame");
  auto arguments = std::make_shared<CodecArguments>();
  command->add_option("NAME", arguments->codec, "Codec (gradwire codec list)")->required();
  add_codec_options(*command, *arguments);
  command->add_option("-o,--out", arguments->out, "Output file; - is standard output")
      ->capture_default_str()
      ->type_name("FILE");
  command->add_flag("--bare", arguments->bare, "The payload alone, as on the wire");
  command->footer(
      "Examples:\n  gradwire codec encode terngrad --in gradient.f32 --out gradient.grwf --seed 7\n"
      "  gradwire codec encode topk --set ratio=0.01 --bare -i gradient.f32 -o payload");
  command->callback([arguments, &context] { encode(*arguments, context); });
}

}  // namespace gradwire::cli
