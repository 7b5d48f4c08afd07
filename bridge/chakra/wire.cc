#include "bridge/chakra/wire.h"

#include <array>
#include <limits>

namespace gradwire::bridge::chakra {
namespace {

struct Named {
  int type;
  CallKind kind;
};
// REDUCE_SCATTER_BLOCK, 8, is read as a reduce-scatter.
constexpr std::array kTypes = {
    Named{0, CallKind::kAllReduce},     Named{1, CallKind::kReduce},
    Named{2, CallKind::kAllGather},     Named{3, CallKind::kGather},
    Named{4, CallKind::kScatter},       Named{5, CallKind::kBroadcast},
    Named{6, CallKind::kAllToAll},      Named{7, CallKind::kReduceScatter},
    Named{8, CallKind::kReduceScatter}, Named{9, CallKind::kBarrier}};

Attribute& added(Node& node, const char* name) {
  Attribute& attribute = *node.add_attributes();
  attribute.set_name(name);
  return attribute;
}

}  // namespace

std::optional<int> type_of(CallKind kind) {
  for (const Named& named : kTypes)
    if (named.kind == kind) return named.type;
  return std::nullopt;
}

std::optional<CallKind> kind_of(std::int64_t type) {
  for (const Named& named : kTypes)
    if (named.type == type) return named.kind;
  return std::nullopt;
}

void set(Node& node, const char* name, double value) {
  added(node, name).set_double_value(value);
}
void set(Node& node, const char* name, std::int64_t value) {
  added(node, name).set_int64_value(value);
}
void set(Node& node, const char* name, const std::string& value) {
  added(node, name).set_string_value(value);
}

const Attribute* find(const Node& node, std::string_view name) {
  for (const Attribute& attribute : node.attributes())
    if (attribute.name() == name) return &attribute;
  return nullptr;
}

std::optional<std::int64_t> number(const Node& node, std::string_view name) {
  const Attribute* attribute = find(node, name);
  if (attribute == nullptr) return std::nullopt;
  switch (attribute->value_case()) {
    case Attribute::kInt32Value:
      return attribute->int32_value();
    case Attribute::kInt64Value:
      return attribute->int64_value();
    case Attribute::kUint32Value:
      return attribute->uint32_value();
    case Attribute::kUint64Value:
      if (attribute->uint64_value() > std::numeric_limits<std::int64_t>::max()) return std::nullopt;
      return static_cast<std::int64_t>(attribute->uint64_value());
    case Attribute::kBoolValue:
      return attribute->bool_value();
    default:
      return std::nullopt;
  }
}

std::string text(const Node& node, std::string_view name) {
  if (const auto whole = number(node, name)) return std::to_string(*whole);
  const Attribute* attribute = find(node, name);
  return attribute == nullptr ? std::string() : attribute->string_value();
}

}  // namespace gradwire::bridge::chakra
