#include "trainers/methods/one_codec.h"
#include "trainers/methods/rows.h"

/// Natural compression and natural dithering (Horvath and others, arXiv 1905.10988). Workers send
/// C(g_i) to a master, which sends C(sum of C(g_i)) back; everyone steps by lr / n of that.
///
///   natural: t = +-2^e (1 + m) becomes +-2^(e+1) with probability m, else +-2^e; 0 stays
///   dither:  y = |x_i| / |x|_p goes at random to one of the two nearest of 0, 2^(1-s), ..., 1/2, 1
///
/// Both are unbiased and keep no state. Around a ring the owner of each part is its master: it
/// encodes the sum (compression both ways). A parameter server does with `down` same.
namespace gradwire::methods {
namespace {

MethodRow row_of(const char* name, const char* summary, const char* sends) {
  OptionTable table = codec_options(name);
  table.push_back(down_option("f32",
                              "What a parameter server sends back: the sum as fp32, or encoded the "
                              "same way (section 1.1: both ways)."));
  return {.name = name,
          .summary = summary,
          .paper =
              "Horvath and others, Natural Compression for Distributed Deep Learning, arXiv "
              "1905.10988",
          .state = Reproduction::kReproduced,
          .schedule = "synchronous",
          .routes = "ring, direct, parameter-server, scatter-reduce",
          .sends = sends,
          .page = "methods/natural.md",
          .options = table,
          .make = [codec = std::string(name)](
                      const MethodSettings& settings) -> std::unique_ptr<Method> {
            return std::make_unique<OneCodec>(
                OneCodec::Settings{.codec = codec_choice(codec, settings.options),
                                   .error_feedback = settings.error_feedback,
                                   .encodes_answer = settings.options.text("down") == "same"});
          }};
}

}  // namespace

MethodRow natural_row() {
  return row_of("natural", "values as signs and powers of two, rounded without bias",
                "all tensors: 9 bits an element, or 8");
}

MethodRow dither_row() {
  return row_of("dither",
                "values as a norm times powers of two, rounded without bias (natural dithering)",
                "all tensors: a norm and a few bits an element");
}

}  // namespace gradwire::methods
