#include "bridge/kineto/trace_json.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace gradwire::bridge::kineto {
namespace {

using nlohmann::json;

/// One of c10d's operations: which of its arguments is what.
struct KnownOperation {
  std::string_view name;
  CallKind kind;
  int data = -1;  ///< the argument whose elements count
  int peer = -1;  ///< root, or the other end
};
constexpr std::array kOperations = {
    KnownOperation{"allreduce_", CallKind::kAllReduce, 0, -1},
    KnownOperation{"allreduce_coalesced_", CallKind::kAllReduce, 0, -1},
    KnownOperation{"broadcast_", CallKind::kBroadcast, 0, 2},
    KnownOperation{"reduce_", CallKind::kReduce, 0, 3},
    KnownOperation{"allgather_", CallKind::kAllGather, 1, -1},
    KnownOperation{"_allgather_base_", CallKind::kAllGather, 1, -1},
    KnownOperation{"allgather_coalesced_", CallKind::kAllGather, 1, -1},
    KnownOperation{"allgather_into_tensor_coalesced_", CallKind::kAllGather, 1, -1},
    KnownOperation{"reduce_scatter_", CallKind::kReduceScatter, 1, -1},
    KnownOperation{"_reduce_scatter_base_", CallKind::kReduceScatter, 1, -1},
    KnownOperation{"reduce_scatter_tensor_coalesced_", CallKind::kReduceScatter, 1, -1},
    KnownOperation{"gather_", CallKind::kGather, 1, 3},
    KnownOperation{"scatter_", CallKind::kScatter, 0, 3},
    KnownOperation{"alltoall_", CallKind::kAllToAll, 1, -1},
    KnownOperation{"alltoall_base_", CallKind::kAllToAll, 1, -1},
    KnownOperation{"barrier", CallKind::kBarrier, -1, -1},
    KnownOperation{"send", CallKind::kSend, 0, 2},
    KnownOperation{"recv_", CallKind::kReceive, 0, 2},
};

/// Names in records of parameters and in works; without underscores in front and behind, and
/// without what says only how tensors were handed over.
struct Named {
  std::string_view name;
  CallKind kind;
};
constexpr std::array kNames = {
    Named{"allreduce", CallKind::kAllReduce},
    Named{"all_reduce", CallKind::kAllReduce},
    Named{"broadcast", CallKind::kBroadcast},
    Named{"reduce", CallKind::kReduce},
    Named{"allgather", CallKind::kAllGather},
    Named{"all_gather", CallKind::kAllGather},
    Named{"allgather_base", CallKind::kAllGather},
    Named{"all_gather_base", CallKind::kAllGather},
    Named{"allgather_into_tensor", CallKind::kAllGather},
    Named{"reduce_scatter", CallKind::kReduceScatter},
    Named{"reduce_scatter_base", CallKind::kReduceScatter},
    Named{"reduce_scatter_tensor", CallKind::kReduceScatter},
    Named{"gather", CallKind::kGather},
    Named{"scatter", CallKind::kScatter},
    Named{"alltoall", CallKind::kAllToAll},
    Named{"all_to_all", CallKind::kAllToAll},
    Named{"all_to_allv", CallKind::kAllToAll},
    Named{"alltoall_base", CallKind::kAllToAll},
    Named{"barrier", CallKind::kBarrier},
    Named{"send", CallKind::kSend},
    Named{"recv", CallKind::kReceive},
};

std::optional<CallKind> kind_named(std::string_view name) {
  constexpr std::string_view kHanded = "_coalesced";
  while (name.starts_with('_')) name.remove_prefix(1);
  if (name.ends_with(kHanded)) name.remove_suffix(kHanded.size());
  const auto* found = std::ranges::find(kNames, name, &Named::name);
  return found == kNames.end() ? std::nullopt : std::optional(found->kind);
}

const json* find(const json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

/// Argument `i` of a list of arguments; null where there is none.
const json* argument(const json& args, const char* list, int i) {
  const json* all = find(args, list);
  if (i < 0 || all == nullptr || !all->is_array() || static_cast<std::size_t>(i) >= all->size())
    return nullptr;
  return &(*all)[static_cast<std::size_t>(i)];
}

std::optional<std::int64_t> whole_number(const json& value) {
  if (!value.is_number_integer()) return std::nullopt;
  const auto number = value.get<std::int64_t>();
  return number < 0 || number > kMostElements ? std::nullopt : std::optional(number);
}

/// Numbers that stand in a text, "[0, 1]"; empty where it is cut short or no such list.
std::vector<std::int64_t> numbers_in(const std::string& text) {
  const json list = json::parse(text, nullptr, false);
  std::vector<std::int64_t> numbers;
  if (!list.is_array() || list.size() > static_cast<std::size_t>(kMostRanks)) return numbers;
  for (const json& value : list) {
    const auto number = whole_number(value);
    if (!number) return {};
    numbers.push_back(*number);
  }
  return numbers;
}

/// The argument before the last, which is the timeout, says whether the call is asynchronous.
std::optional<bool> waits_at_once(const json& args) {
  const json* inputs = find(args, "Concrete Inputs");
  if (inputs == nullptr || !inputs->is_array() || inputs->size() < 3) return std::nullopt;
  const json& asynchronous = (*inputs)[inputs->size() - 2];
  if (asynchronous == "True") return false;
  if (asynchronous == "False") return true;
  return std::nullopt;
}

int peer_in(const json* value) {
  if (value == nullptr || !value->is_string()) return -1;
  const json number = json::parse(value->get_ref<const std::string&>(), nullptr, false);
  const auto rank = whole_number(number);
  return rank && *rank < kMostRanks ? static_cast<int>(*rank) : -1;
}

}  // namespace

std::string text_of(const json& object, const char* key) {
  const json* value = find(object, key);
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

std::optional<std::int64_t> elements_of(const json& dims) {
  if (!dims.is_array()) return std::nullopt;
  const bool list = !dims.empty() && dims.front().is_array();
  std::int64_t total = list ? 0 : 1;
  for (const json& part : dims) {
    const auto elements = list ? elements_of(part) : whole_number(part);
    if (!elements) return std::nullopt;
    total = list ? total + *elements : total * std::max<std::int64_t>(*elements, 0);
    if (total > kMostElements) return std::nullopt;
  }
  return total;
}

int width_of(const std::string& type) {
  std::string name;
  for (const char c : type.substr(type.rfind(':') == std::string::npos ? 0 : type.rfind(':') + 1))
    name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (name == "float" || name == "int" || name == "uint32") return 4;
  if (name == "half" || name == "bfloat16" || name == "short" || name == "short int") return 2;
  if (name == "double" || name == "long" || name == "long int" || name == "complexfloat") return 8;
  if (name == "complexdouble") return 16;
  if (name == "byte" || name == "char" || name == "bool" || name.ends_with(" char") ||
      name.starts_with("float8"))
    return 1;
  return 0;
}

std::optional<Mentioned> mentioned_by_call(const RawEvent& event, const json& args) {
  constexpr std::string_view kOwn = "c10d::";
  const std::string_view name = event.name;
  if (!name.starts_with(kOwn)) return std::nullopt;
  const auto* operation =
      std::ranges::find(kOperations, name.substr(kOwn.size()), &KnownOperation::name);
  if (operation == kOperations.end())
    throw Error(ErrorKind::kFailure, "understand", "an operation of a trace",
                "a \"" + event.name + "\" cannot be replayed");
  Mentioned mentioned{.kind = operation->kind};
  if (operation->data < 0) mentioned.elements = 0;
  if (const json* dims = argument(args, "Input Dims", operation->data);
      dims != nullptr && !dims->empty())
    mentioned.elements = elements_of(*dims);
  if (const json* type = argument(args, "Input type", operation->data);
      type != nullptr && type->is_string() && width_of(type->get<std::string>()) > 0)
    mentioned.type = type->get<std::string>();
  mentioned.peer = peer_in(argument(args, "Concrete Inputs", operation->peer));
  mentioned.waits = is_point_to_point(operation->kind) ? std::nullopt : waits_at_once(args);
  return mentioned;
}

std::optional<Mentioned> mentioned_by_record(const RawEvent& event, const json& args) {
  if (event.name != "record_param_comms") return std::nullopt;
  const std::string name = text_of(args, "Collective name");
  const auto kind = kind_named(name);
  if (!kind) return std::nullopt;  // "wait", "init": no data moves
  Mentioned mentioned{.kind = *kind};
  const bool one_block = *kind == CallKind::kScatter || *kind == CallKind::kReceive;
  if (const json* elements = find(args, one_block ? "Out msg nelems" : "In msg nelems"))
    mentioned.elements = whole_number(*elements);
  mentioned.type = text_of(args, "dtype");
  mentioned.group = text_of(args, "Process Group Name");
  for (const std::int64_t rank : numbers_in(text_of(args, "Process Group Ranks")))
    mentioned.ranks.push_back(static_cast<int>(std::min<std::int64_t>(rank, kMostRanks)));
  if (*kind == CallKind::kAllToAll) mentioned.parts = numbers_in(text_of(args, "In split size"));
  const json* peer = find(args, *kind == CallKind::kSend ? "Dst Rank" : "Src Rank");
  if (peer != nullptr)
    if (const auto rank = whole_number(*peer); rank && *rank < kMostRanks)
      mentioned.peer = static_cast<int>(*rank);
  return mentioned;
}

std::optional<Mentioned> mentioned_by_work(const RawEvent& event, const json& args) {
  constexpr std::string_view kOwn = "gloo:";
  const std::string_view name = event.name;
  if (!name.starts_with(kOwn)) return std::nullopt;
  const auto kind = kind_named(name.substr(kOwn.size()));
  if (!kind) return std::nullopt;
  Mentioned mentioned{.kind = *kind};
  if (const json* dims = find(args, "Input Dims"); dims != nullptr && !dims->empty())
    mentioned.elements = elements_of(*dims);
  if (const json* type = argument(args, "Input type", 0); type != nullptr && type->is_string())
    mentioned.type = type->get<std::string>();
  return mentioned;
}

}  // namespace gradwire::bridge::kineto
