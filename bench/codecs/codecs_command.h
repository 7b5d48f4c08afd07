#pragma once
#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "bench/codecs/codecs.h"

namespace gradwire::bench {

/// What the command line says; settings() checks it.
struct CodecArguments {
  std::vector<std::string> sizes = {};
  std::vector<std::string> codecs = {};
  std::vector<int> threads = {1, 2};
  int repetitions = 9;
  double seconds = 300;
  bool quick = false;
  bool twins = true;
  bool pin = true;
  std::uint64_t seed = 1;
  std::string instructions = "best";

  /// Limits the instruction sets, too. Throws Error(kUsage).
  CodecBenchSettings settings() const;
};

/// Adds the options of `bench codecs` to `command`; they are read into the result.
std::shared_ptr<CodecArguments> add_codec_arguments(CLI::App& command);

}  // namespace gradwire::bench
