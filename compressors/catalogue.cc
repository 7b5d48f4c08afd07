#include <algorithm>

#include "compressors/codecs/codecs.h"

namespace gradwire::compressors {
namespace {

const std::vector<CodecRow>& rows() {
  static const std::vector<CodecRow> all = {
#define GRADWIRE_CODEC(name) name##_row(),
#include "compressors/codec_rows.inc"
#undef GRADWIRE_CODEC
  };
  return all;
}

}  // namespace

const std::vector<CodecInfo>& codec_catalogue() {
  static const std::vector<CodecInfo> infos = [] {
    std::vector<CodecInfo> list;
    for (const CodecRow& row : rows()) list.push_back(row.info);
    return list;
  }();
  return infos;
}

const CodecInfo* find_codec(std::string_view name) {
  for (const CodecInfo& info : codec_catalogue())
    if (info.name == name) return &info;
  return nullptr;
}

bool is_sparse_codec(std::string_view name) {
  const CodecInfo* info = find_codec(name);
  return info != nullptr && info->family == CodecFamily::kSparse;
}

bool is_plain_codec(std::string_view name) {
  const CodecInfo* info = find_codec(name);
  return info != nullptr && info->float_bits == 32;
}

CodecPtr make_codec(std::string_view name, const std::map<std::string, std::string>& options) {
  std::vector<std::string> names;
  std::string all;
  for (const CodecRow& row : rows()) {
    if (row.info.name == name) return row.make(OptionValues(row.info.options, options));
    names.push_back(row.info.name);
    all += (all.empty() ? "" : ", ") + row.info.name;
  }
  const std::string near = nearest_name(name, names);
  throw Error(ErrorKind::kUsage, "make codec", std::string("\"").append(name).append("\""),
              near.empty() ? "there is no such codec" : "did you mean \"" + near + "\"?",
              "codecs: " + all);
}

}  // namespace gradwire::compressors
