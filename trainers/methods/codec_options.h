#pragma once
#include <string>

#include "base/options.h"
#include "compressors/codec_plan.h"

/// Methods whose rows have the options of a codec beside their own.
namespace gradwire::methods {

/// The codec's options. Precondition: there is one of that name.
const OptionTable& codec_options(const std::string& codec);
/// The codec's option of that name, with the method's own explanation. Precondition: there is one.
OptionSpec codec_option(const std::string& codec, const std::string& name, const char* help);
/// The codec with what `values` says of its options.
compressors::CodecChoice codec_choice(const std::string& codec, const OptionValues& values);

/// `down`, of methods whose server encodes the sum by the same codec: "f32" or "same".
OptionSpec down_option(const char* default_text, const char* help);

}  // namespace gradwire::methods
