#pragma once
#include <string>

#include "compressors/codec.h"
#include "scenarios/scenario.h"

/// A scenario's method as a codec and as a label.
namespace gradwire::scenarios {

/// The codec with the method's options, wrapped in error feedback if asked for.
compressors::CodecPtr make_method_codec(const Method& method);

/// Short name for tables and charts: the codec, its ratio, options that differ from their defaults,
/// and "+ef": "none", "topk 1% +ef", "terngrad clip 0".
std::string method_label(const Method& method);
std::string method_label(const Scenario& scenario);

/// The catalogue's row of a codec; null if there is none of that name.
const compressors::CodecInfo* find_codec(const std::string& name);

}  // namespace gradwire::scenarios
