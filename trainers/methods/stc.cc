#include "base/exact_text.h"
#include "trainers/methods/codec_options.h"
#include "trainers/methods/rows.h"

/// Sparse ternary compression (Sattler, Wiedemann, Mueller, Samek, arXiv 1903.02891). Of a tensor T
/// with n elements and a share p, S being the k = max(1, floor(p n)) of largest magnitude:
///
///   STC_p(T)_i = mu sign(T_i) on S, else 0;   mu = mean of |T| over S
///
/// In round t the server draws clients. Client i, with a residual R_i that stays while it is not
/// drawn, and the server, with a residual R:
///
///   W_i <- W_i + the messages that it missed
///   D_i = R_i + (its local training of W_i) - W_i;  D~_i = STC_up(D_i);  R_i = D_i - D~_i
///   D = R + mean of D~_i;  D~ = STC_down(D);  R = D - D~;  W <- W + D~
///
/// The server keeps its last tau messages D~. In lockstep, gradients take the place of what clients
/// change; there only a parameter server has a way down.
namespace gradwire::methods {
namespace {

class Stc final : public Method {
 public:
  explicit Stc(const MethodSettings& settings)
      : up_(codec_choice("stc", settings.options)),
        down_(up_),
        cache_(settings.options.integer("cache")),
        keeps_lost_work_(settings.options.text("cut_off") == "kept" && settings.error_feedback),
        error_feedback_(settings.error_feedback) {
    const double down_ratio = settings.options.number("down_ratio");
    if (down_ratio > 0) down_.options["ratio"] = exact_text(down_ratio);
  }
  SetPlan plan(std::size_t, std::size_t) const override {
    SetPlan plan;
    plan.up = {.codec = up_, .error_feedback = error_feedback_};
    plan.down = compressors::CodecPlan{.codec = down_, .error_feedback = error_feedback_};
    return plan;
  }
  std::int64_t stored_messages() const override { return cache_; }
  bool keeps_lost_work() const override { return keeps_lost_work_; }

 private:
  compressors::CodecChoice up_, down_;
  std::int64_t cache_;
  bool keeps_lost_work_, error_feedback_;
};

OptionTable options_of_stc() {
  OptionTable table = codec_options("stc");
  table.push_back({.name = "down_ratio",
                   .type = OptionType::kNumber,
                   .default_text = "0",
                   .help = "Share of the elements that the server sends; 0: `ratio`.",
                   .min = 0,
                   .max = 1});
  table.push_back({.name = "cache",
                   .type = OptionType::kInteger,
                   .default_text = "50",
                   .help = "tau of rounds: a client that missed so many of the server's messages, "
                           "or fewer, is sent those, unless the model has fewer bytes; another "
                           "one the model.",
                   .min = 1,
                   .max = 1e6});
  table.push_back({.name = "cut_off",
                   .type = OptionType::kChoice,
                   .default_text = "kept",
                   .help = "What becomes of a message whose upload is cut off at a round's "
                           "deadline. kept: it goes back into the client's residual; lost: the "
                           "work is lost, the residual is as it was before the round.",
                   .choices = {"kept", "lost"}});
  return table;
}

}  // namespace

MethodRow stc_row() {
  return {.name = "stc",
          .summary = "the largest changes as one magnitude with signs, with feedback, both ways",
          .paper =
              "Sattler and others, Robust and Communication-Efficient Federated Learning from "
              "Non-IID Data, arXiv 1903.02891",
          .state = Reproduction::kReproduced,
          .schedule = "rounds; synchronous",
          .routes = "parameter-server; ring, direct and scatter-reduce in lockstep",
          .sends = "up and down: all tensors, the k largest as a mean magnitude and signs",
          .page = "methods/stc.md",
          .options = options_of_stc(),
          .feeds_back = true,
          .make = [](const MethodSettings& settings) -> std::unique_ptr<Method> {
            return std::make_unique<Stc>(settings);
          }};
}

}  // namespace gradwire::methods
