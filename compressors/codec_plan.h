#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compressors/codec.h"
#include "compressors/decorators/clip.h"
#include "compressors/decorators/rules.h"

/// A codec with its decorators, as data: what scenario files, command lines and programs describe.
namespace gradwire::compressors {

struct CodecChoice {
  std::string name = "none";                        ///< of codec_catalogue()
  std::map<std::string, std::string> options = {};  ///< texts, as make_codec takes them
};

/// DGC's local momentum (arXiv 1712.01887, eq. 7): u <- m u + g; what is sent comes from the sum
/// of all u not yet sent. Implies error feedback, which keeps that sum.
struct MomentumPlan {
  double momentum = 0.9;  ///< m, in [0, 1)
  bool nesterov = false;  ///< u <- m (u + g), v <- v + u + g
  bool masking = true;    ///< forget u where an element was sent; sparse codecs alone
  double clip = 0;        ///< g's norm is cut to clip / sqrt(workers) first (3.2); 0 = off
  int workers = 1;        ///< >= 1, see clip
};

struct RulePlan {
  TensorRule tensors;
  CodecChoice codec;
};

/// clip(g) -> momentum, with its own clip before it -> error feedback -> codec, the codec chosen
/// for each tensor by `rules`. A tensor whose codec is `none` loses nothing and so has no feedback.
/// Momentum is masked under sparse codecs alone: a dense one sends every element in every step, and
/// masking would undo it (DGC's dense tensors have ordinary momentum).
struct CodecPlan {
  CodecChoice codec;
  bool error_feedback = false;
  std::optional<MomentumPlan> momentum_correction = {};
  std::optional<Clipping> clipping = {};
  std::vector<RulePlan> rules = {};

  /// True if it is more than a codec with or without error feedback.
  bool decorated() const {
    return momentum_correction.has_value() || clipping.has_value() || !rules.empty();
  }
};

/// Throws Error(kUsage) for unknown codecs, bad options and bad values.
CodecPtr make_codec(const CodecPlan& plan);

}  // namespace gradwire::compressors
