#include "compressors/codecs/qsgd/qsgd.h"

#include "compressors/codecs/codecs.h"

namespace gradwire::compressors {
namespace {

QsgdOptions qsgd_options(const OptionValues& values) {
  const auto bits = static_cast<int>(values.integer("bits"));
  const auto given = static_cast<std::uint32_t>(values.integer("levels"));
  const bool fixed = values.text("format") == "fixed";
  if (fixed && given > 127)
    throw Error(ErrorKind::kUsage, "make codec", "qsgd",
                "the fixed format holds at most 127 levels", "use format dense or sparse");
  const std::uint32_t levels = given > 0 ? given : (1u << (bits - 1)) - 1;
  return {.levels = levels,
          .bucket = static_cast<std::size_t>(values.integer("bucket")),
          .max_norm = values.text("norm") == "max"};
}

OptionTable qsgd_table() {
  OptionSpec levels = bucket_option(
      "0", "s, the levels above 0; 0 = 2^(bits - 1) - 1. The theory's sparse case is sqrt(n)");
  levels.name = "levels";
  levels.min = 0;
  levels.max = kMostNormLevels;
  const OptionSpec norm = {.name = "norm",
                           .type = OptionType::kChoice,
                           .default_text = "max",
                           .help = "largest magnitude (the paper's practical variant) or 2-norm",
                           .choices = {"max", "2"}};
  const OptionSpec format = {
      .name = "format",
      .type = OptionType::kChoice,
      .default_text = "fixed",
      .help = "codes of fixed width, or Elias omega codes of all levels or of the nonzeros",
      .choices = {"fixed", "dense", "sparse"}};
  return {
      bits_option("4", 2, 8, "bits a code with its sign; sets the levels unless they are given"),
      levels, bucket_option("512", "values that share a norm"), norm, format};
}

}  // namespace

CodecRow qsgd_row() {
  return {{.name = std::string(kQsgd),
           .summary = "levels of each bucket's norm, rounded at random without bias",
           .source = "Alistarh et al., QSGD, arXiv 1610.02132",
           .policy = AggregatePolicy::kGather,
           .unbiased = true,
           .options = qsgd_table()},
          [](const OptionValues& values) -> CodecPtr {
            const QsgdOptions options = qsgd_options(values);
            const std::string& format = values.text("format");
            if (format == "fixed") return make_qsgd_fixed(options);
            return make_qsgd_elias(options, format == "sparse");
          }};
}

}  // namespace gradwire::compressors
