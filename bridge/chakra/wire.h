#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "bridge/call.h"
#include "bridge/chakra/execution_trace.pb.h"

/// Attributes, and what calls are called in Chakra.
namespace gradwire::bridge::chakra {

inline constexpr const char* kVersion = "1.0.0";

inline constexpr const char* kCommType = "comm_type";
inline constexpr const char* kCommSize = "comm_size";
inline constexpr const char* kGroup = "pg_name";
inline constexpr const char* kSource = "comm_src";
inline constexpr const char* kTarget = "comm_dst";
inline constexpr const char* kTag = "comm_tag";
inline constexpr const char* kOperations = "num_ops";
inline constexpr const char* kTensorSize = "tensor_size";
inline constexpr const char* kSeconds = "gradwire_seconds";
inline constexpr const char* kCall = "gradwire_call";    ///< the call, as a recording tells it
inline constexpr const char* kStep = "gradwire_step";    ///< a step ends with this node
inline constexpr const char* kClock = "gradwire_clock";  ///< of the file: Header::clock
inline constexpr const char* kGroupPrefix = "gradwire_group:";  ///< of the file: "0,1,4"

/// CollectiveCommType; none for messages between two ranks.
std::optional<int> type_of(CallKind kind);
std::optional<CallKind> kind_of(std::int64_t type);

void set(Node& node, const char* name, double value);
void set(Node& node, const char* name, std::int64_t value);
void set(Node& node, const char* name, const std::string& value);

/// Null where there is none.
const Attribute* find(const Node& node, std::string_view name);
/// Of whatever whole type, or a truth value; none where there is no such attribute, or another
/// type.
std::optional<std::int64_t> number(const Node& node, std::string_view name);
/// Of a text or a whole number; empty where there is none.
std::string text(const Node& node, std::string_view name);

}  // namespace gradwire::bridge::chakra
