#pragma once
#include <string>

#include "base/options.h"
#include "compressors/codec_plan.h"

/// What methods for gossip have in common: a choice of codecs for their messages, and the step.
namespace gradwire::methods {

/// `messages`, `share`, `step`.
OptionTable gossip_options();
/// The codec of those options.
compressors::CodecPlan gossip_codec(const OptionValues& options, bool error_feedback);

}  // namespace gradwire::methods
