#include "trainers/methods/one_codec.h"
#include "trainers/methods/rows.h"

/// FastSGD (arXiv 2112.04291), a reconstruction: the paper's formulas are not public. What is known
/// is the order of things: gradients as key-value pairs, values through a reciprocal, a logarithm,
/// small integers and a threshold, keys as gaps of few bits; workers around a driver. Here
///
///   r_i = M / |g_i|;  q_i = round(log_b r_i);  kept where q_i <= tau;  decoded +-M b^-q_i
///
/// with M = max |g| of the tensor. Nothing is kept for later: what falls below the threshold is
/// lost, unless error feedback is asked for, which is no part of the paper. The driver's answer is
/// the sum of all, encoded alike (`down`).
namespace gradwire::methods {
namespace {

constexpr const char* kFastsgdCodec = "fastsgd_r";

OptionTable options_of_fastsgd() {
  OptionTable table = codec_options(kFastsgdCodec);
  table.push_back(down_option("same",
                              "What a parameter server sends back: the sum encoded the "
                              "same way, or fp32."));
  return table;
}

}  // namespace

MethodRow fastsgd_row() {
  return {.name = "fastsgd",
          .summary = "key-value pairs: values as logarithms cut at a threshold, keys as gaps",
          .paper = "FastSGD, arXiv 2112.04291: a reconstruction",
          .state = Reproduction::kReconstruction,
          .schedule = "synchronous",
          .routes = "parameter-server, ring, direct, scatter-reduce",
          .sends = "all tensors: sign, level and gap of what lies above the threshold",
          .page = "methods/fastsgd.md",
          .options = options_of_fastsgd(),
          .make = [](const MethodSettings& settings) -> std::unique_ptr<Method> {
            return std::make_unique<OneCodec>(
                OneCodec::Settings{.codec = codec_choice(kFastsgdCodec, settings.options),
                                   .error_feedback = settings.error_feedback,
                                   .encodes_answer = settings.options.text("down") == "same"});
          }};
}

}  // namespace gradwire::methods
