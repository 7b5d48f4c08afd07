#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bridge/kineto/trace.h"

/// What a trace's events say of collectives.
namespace gradwire::bridge::kineto {

/// An event that has a length, as it stands in the file.
struct RawEvent {
  std::string category, name;
  Span span;
  std::int64_t thread = 0;
};

/// The collective that an event of the host is about: a call of c10d (`c10d::allreduce_`), a record
/// of its parameters (`record_param_comms`), or a backend's work on it (`gloo:all_reduce`).
struct Mentioned {
  CallKind kind = CallKind::kBarrier;
  std::optional<std::int64_t> elements = {};  ///< as Call::elements
  std::string type = {};                      ///< "float"; empty = not told
  std::string group = {};                     ///< empty = not told
  std::vector<int> ranks = {};                ///< of the group; empty = not told
  std::vector<std::int64_t> parts = {};       ///< all-to-all: as Call::parts, where they are told
  int peer = -1;                              ///< rank in the group; -1 = not told
  std::optional<bool> waits = {};             ///< whether the caller waits at once
};
/// Empty where the event is about no collective. Throws Error for one that cannot be replayed.
std::optional<Mentioned> mentioned_by_call(const RawEvent& event, const nlohmann::json& args);
std::optional<Mentioned> mentioned_by_record(const RawEvent& event, const nlohmann::json& args);
std::optional<Mentioned> mentioned_by_work(const RawEvent& event, const nlohmann::json& args);

/// A member that is a text; empty where there is none.
std::string text_of(const nlohmann::json& object, const char* key);

/// The product of dimensions, or the sum of the products of a list's; empty where `dims` has none.
std::optional<std::int64_t> elements_of(const nlohmann::json& dims);

/// Bytes of an element of "float", "c10::BFloat16", "Long", ...; 0 for an unknown type.
int width_of(const std::string& type);

}  // namespace gradwire::bridge::kineto
