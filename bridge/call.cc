#include "bridge/call.h"

#include <array>

namespace gradwire::bridge {
namespace {

constexpr std::array<std::string_view, kCallKinds> kNames = {
    "all-reduce", "all-gather", "reduce-scatter", "broadcast", "reduce", "gather",
    "scatter",    "all-to-all", "barrier",        "send",      "receive"};

/// "from rank 0", where the call has another end.
std::string other_end(const Call& call) {
  switch (call.kind) {
    case CallKind::kBroadcast:
    case CallKind::kScatter:
    case CallKind::kReceive:
      return " from rank " + std::to_string(call.peer);
    case CallKind::kReduce:
    case CallKind::kGather:
    case CallKind::kSend:
      return " to rank " + std::to_string(call.peer);
    default:
      return {};
  }
}

}  // namespace

std::string_view name_of(CallKind kind) {
  return kNames[static_cast<std::size_t>(kind)];
}

std::optional<CallKind> call_named(std::string_view name) {
  for (std::size_t k = 0; k < kNames.size(); ++k)
    if (kNames[k] == name) return static_cast<CallKind>(k);
  return std::nullopt;
}

std::string describe(const Call& call) {
  std::string text(name_of(call.kind));
  if (!call.reduction.empty()) text += " (" + call.reduction + ")";
  if (call.kind != CallKind::kBarrier)
    text += " of " + std::to_string(call.elements) + " " + call.type + other_end(call);
  if (is_point_to_point(call.kind) && call.tag != 0) text += ", tag " + std::to_string(call.tag);
  return text;
}

std::string place_text(const Call& call) {
  return call.place.empty() ? std::string() : " at " + call.place;
}

}  // namespace gradwire::bridge
