#include "cli/codecs/codec_io.h"
#include "cli/context.h"

namespace gradwire::cli {
namespace {

void decode(const CodecArguments& arguments, const Context& context) {
  const PayloadInput input = read_payload(arguments);
  const compressors::FrameHeader& header = input.frame.header;
  const compressors::CodecPtr codec = codec_of(header);
  std::vector<float> values(header.n);
  AlignedBytes scratch(codec->scratch_size(header.spec()));
  codec->decode({.payload = input.frame.payload,
                 .side = input.side(),
                 .values = values,
                 .name = header.tensor,
                 .shape = header.shape},
                scratch.span());
  write_bytes(arguments.out, std::as_bytes(std::span<const float>(values)));
  context.say(header.codec + ": " + std::to_string(header.n) + " elements from " +
              std::to_string(input.frame.payload.size()) + " bytes");
}

}  // namespace

void add_codec_decode(CLI::App& codec, Context& context) {
  CLI::App* command =
      codec.add_subcommand("decode", "Decode a frame or a bare payload to raw fp32");
  auto arguments = std::make_shared<CodecArguments>();
  command->add_option("NAME", arguments->codec,
                      "Codec of a bare payload (a frame says its own), or the file");
  add_codec_options(*command, *arguments);
  add_payload_options(*command, *arguments);
  command->add_option("-o,--out", arguments->out, "Output file; - is standard output")
      ->capture_default_str()
      ->type_name("FILE");
  command->footer(
      "Examples:\n  gradwire codec decode --in gradient.grwf --out gradient.f32\n"
      "  gradwire codec decode topk --n 1000000 --set ratio=0.01 -i payload -o out.f32");
  command->callback([arguments, &context] {
    settle_input(*arguments);
    decode(*arguments, context);
  });
}

}  // namespace gradwire::cli
