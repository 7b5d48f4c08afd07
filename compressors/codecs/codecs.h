#pragma once
#include "compressors/codec.h"

/// One folder a codec; each gives its row of the catalogue and makes it from checked options.
namespace gradwire::compressors {

struct CodecRow {
  CodecInfo info;
  CodecPtr (*make)(const OptionValues& options);
};

#define GRADWIRE_CODEC(name) CodecRow name##_row();
#include "compressors/codec_rows.inc"
#undef GRADWIRE_CODEC

}  // namespace gradwire::compressors
