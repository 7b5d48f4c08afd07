#include "trainers/methods/one_codec.h"
#include "trainers/methods/rows.h"

/// QSGD (Alistarh and others, arXiv 1610.02132). Worker k of K, with the gradient g of its own
/// batch, for each bucket of d consecutive elements of a tensor, with levels 0 .. s:
///
///   N = max |g| (the paper's practical variant) or |g|_2
///   a_i = s |g_i| / N;  l_i = floor(a_i), or one more with probability a_i - floor(a_i)
///   Q(g)_i = N sign(g_i) l_i / s                       unbiased
///
/// which it sends to all; x <- x - lr / K sum of what all sent. Tensors with few elements go as
/// fp32 (below 10,000 in the paper). Workers keep no state. Whether codes have a fixed width or are
/// Elias' is the codec's option `format`. QSVRG, with full gradients, is qsvrg.cc.
namespace gradwire::methods {
namespace {

OptionTable options_of_qsgd() {
  OptionTable table = codec_options("qsgd");
  table.push_back({.name = "whole_below",
                   .type = OptionType::kInteger,
                   .default_text = "0",
                   .help = "Tensors with fewer elements go as fp32; 10000 in the paper.",
                   .min = 0,
                   .max = 1e12});
  return table;
}

}  // namespace

MethodRow qsgd_row() {
  return {.name = "qsgd",
          .summary = "gradients as levels of their buckets' norms, rounded without bias",
          .paper = "Alistarh and others, QSGD, arXiv 1610.02132",
          .state = Reproduction::kReproduced,
          .schedule = "synchronous",
          .routes = "ring, direct, parameter-server, scatter-reduce",
          .sends =
              "all tensors: a norm a bucket and a few bits an element; small ones as fp32 "
              "where asked",
          .page = "methods/qsgd.md",
          .options = options_of_qsgd(),
          .make = [](const MethodSettings& settings) -> std::unique_ptr<Method> {
            const OptionValues& options = settings.options;
            return std::make_unique<OneCodec>(OneCodec::Settings{
                .codec = codec_choice("qsgd", options),
                .error_feedback = settings.error_feedback,
                .whole_below = static_cast<std::size_t>(options.integer("whole_below"))});
          }};
}

}  // namespace gradwire::methods
