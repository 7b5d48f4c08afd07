#include "bench/codecs/codecs_command.h"

#include "base/units.h"
#include "compressors/instruction_sets.h"

namespace gradwire::bench {
namespace {

constexpr std::size_t kLargestTensor = std::size_t{8} << 30;

std::size_t size_of(const std::string& text) {
  const std::int64_t bytes = parse_bytes(text).count();
  if (bytes < 4 || bytes % 4 != 0 || static_cast<std::size_t>(bytes) > kLargestTensor)
    throw Error(ErrorKind::kUsage, "measure tensors of", text,
                "a tensor is 4 B to 8 GiB of 4-byte values");
  return static_cast<std::size_t>(bytes);
}

}  // namespace

CodecBenchSettings CodecArguments::settings() const {
  compressors::limit_instruction_sets(instructions);
  CodecBenchSettings settings{.codecs = codecs,
                              .threads = threads,
                              .repetitions = repetitions,
                              .seconds = quick ? 20 : seconds,
                              .twins = twins && !quick,
                              .coders = codecs.empty(),
                              .pin = pin,
                              .seed = seed};
  if (quick) settings.sizes = {4, 4 << 10, 64 << 10, 64 << 20};
  if (quick) settings.threads = {1};
  if (!sizes.empty()) settings.sizes.clear();
  for (const std::string& size : sizes) settings.sizes.push_back(size_of(size));
  return settings;
}

std::shared_ptr<CodecArguments> add_codec_arguments(CLI::App& command) {
  auto a = std::make_shared<CodecArguments>();
  command
      .add_option("--sizes", a->sizes,
                  "Tensors, in bytes of fp32 (default 4B,4KiB,64KiB,1MiB,64MiB,256MiB)")
      ->delimiter(',');
  command.add_option("--codecs", a->codecs, "Only these (default: all)")->delimiter(',');
  command.add_option("--threads", a->threads, "Threads that share a call")
      ->delimiter(',')
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command.add_option("--repetitions", a->repetitions, "Rounds at least; figures are medians")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  command.add_option("--seconds", a->seconds, "Time for all; the slowest are left out beyond it")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command
      .add_option("--instructions", a->instructions,
                  "Best instruction set to use: avx3_dl, avx3, avx2, sse2, best")
      ->capture_default_str();
  command.add_flag("--twins,!--no-twins", a->twins, "Measure LibTorch's operations too");
  command.add_flag("--pin,!--no-pin", a->pin, "Keep single threads on one processor");
  command.add_flag("--quick", a->quick, "About 20 s: one thread, four sizes, no LibTorch");
  command.add_option("--seed", a->seed, "Seed of the tensors")->capture_default_str();
  return a;
}

}  // namespace gradwire::bench
