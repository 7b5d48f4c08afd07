#include <google/protobuf/io/coded_stream.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <queue>
#include <set>
#include <unordered_map>

#include "base/error.h"
#include "base/file_descriptor.h"
#include "bridge/chakra/traces.h"
#include "bridge/chakra/wire.h"

namespace gradwire::bridge::chakra {
namespace {

namespace fs = std::filesystem;
using google::protobuf::io::CodedInputStream;

[[noreturn]] void refuse_trace(const std::string& path, const std::string& why) {
  throw Error(ErrorKind::kFailure, "read Chakra trace", path, why);
}

struct RankTrace {
  GlobalMetadata metadata;
  std::vector<Node> nodes;
};

RankTrace parse(std::string_view bytes, const std::string& path) {
  if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    refuse_trace(path, "it has more than 2 GiB");
  CodedInputStream stream(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                          static_cast<int>(bytes.size()));
  RankTrace trace;
  const auto next = [&](google::protobuf::MessageLite& message) {
    std::uint32_t size = 0;
    if (!stream.ReadVarint32(&size)) refuse_trace(path, "it ends where a message's length is due");
    const auto limit = stream.PushLimit(static_cast<int>(std::min<std::uint32_t>(size, 1u << 30)));
    if (!message.ParseFromCodedStream(&stream) || stream.BytesUntilLimit() != 0)
      refuse_trace(path, "message " + std::to_string(trace.nodes.size()) + " is none of schema " +
                             kVersion + ", or is cut off");
    stream.PopLimit(limit);
  };
  next(trace.metadata);
  while (static_cast<std::size_t>(stream.CurrentPosition()) < bytes.size())
    next(trace.nodes.emplace_back());
  return trace;
}

bool is_call(const Node& node) {
  return node.type() == COMM_SEND_NODE || node.type() == COMM_RECV_NODE ||
         node.type() == COMM_COLL_NODE;
}

std::vector<int> ranks_in(const std::string& text, int world, const std::string& path) {
  std::vector<int> ranks;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    int rank = -1;
    const auto [stop, error] = std::from_chars(at, end, rank);
    if (error != std::errc() || rank < 0 || rank >= world)
      refuse_trace(path, "\"" + text + "\" are no ranks");
    ranks.push_back(rank);
    at = stop == end ? end : stop + 1;
  }
  return ranks;
}

/// A rank's nodes as its events.
class Events {
 public:
  Events(const RankTrace& trace, int rank, int world, const std::string& path)
      : trace_(trace), rank_(rank), world_(world), path_(path) {}

  std::vector<Event> take() {
    for (const std::size_t i : order()) take(trace_.nodes[i]);
    Event end = event(Event::Kind::kEnd);
    events_.push_back(std::move(end));
    return std::move(events_);
  }

 private:
  /// Positions of nodes in an order that dependencies allow; of those that may come, the lowest
  /// number first.
  std::vector<std::size_t> order() {
    const auto& nodes = trace_.nodes;
    for (std::size_t i = 0; i < nodes.size(); ++i)
      if (!position_.try_emplace(nodes[i].id(), i).second)
        refuse_trace(path_, "two of its nodes are " + std::to_string(nodes[i].id()));
    std::vector<std::size_t> missing(nodes.size(), 0);
    std::vector<std::vector<std::size_t>> after(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i)
      for (const auto* list : {&nodes[i].control_dependencies(), &nodes[i].data_dependencies()})
        for (const std::uint64_t id : *list) {
          const auto found = position_.find(id);
          if (found == position_.end())
            refuse_trace(path_, "node " + std::to_string(nodes[i].id()) + " depends on node " +
                                    std::to_string(id) + ", which is not there");
          after[found->second].push_back(i);
          ++missing[i];
        }
    using Next = std::pair<std::uint64_t, std::size_t>;
    std::priority_queue<Next, std::vector<Next>, std::greater<>> ready;
    for (std::size_t i = 0; i < nodes.size(); ++i)
      if (missing[i] == 0) ready.emplace(nodes[i].id(), i);
    std::vector<std::size_t> order;
    while (!ready.empty()) {
      const std::size_t i = ready.top().second;
      ready.pop();
      order.push_back(i);
      for (const std::size_t next : after[i])
        if (--missing[next] == 0) ready.emplace(nodes[next].id(), next);
    }
    if (order.size() != nodes.size())
      refuse_trace(path_, "its nodes depend on each other in a circle");
    return order;
  }

  Event event(Event::Kind kind) {
    Event event;
    event.kind = kind;
    event.rank = rank_;
    event.compute = Seconds(std::exchange(seconds_, 0));
    return event;
  }

  void take(const Node& node) {
    wait_for(node);
    if (is_call(node)) return call(node);
    const Attribute* exact = find(node, kSeconds);
    const double seconds = exact != nullptr ? exact->double_value()
                                            : 1e-6 * static_cast<double>(node.duration_micros());
    if (!(seconds >= 0 && seconds < 1e9))
      refuse_trace(path_, "node " + std::to_string(node.id()) + " has no time");
    seconds_ += seconds;
    if (find(node, kStep) != nullptr) events_.push_back(event(Event::Kind::kStep));
  }

  /// Of what it depends on, the calls that have not been waited for. Those of one group follow one
  /// another anyway.
  void wait_for(const Node& node) {
    std::vector<std::int64_t> waited;
    for (const auto* list : {&node.control_dependencies(), &node.data_dependencies()})
      for (const std::uint64_t id : *list) {
        const Node& before = trace_.nodes[position_.at(id)];
        if (!is_call(before) || waited_.contains(id)) continue;
        if (is_call(node) && text(before, kGroup) == text(node, kGroup)) continue;
        waited_.insert(id);
        waited.push_back(numbers_.at(id));
      }
    if (waited.empty()) return;
    Event wait = event(Event::Kind::kWait);
    wait.waited = std::move(waited);
    events_.push_back(std::move(wait));
  }

  void call(const Node& node) {
    const auto number = static_cast<std::int64_t>(numbers_.size()) + 1;
    numbers_[node.id()] = number;
    Event made = event(Event::Kind::kCall);
    const std::string told = text(node, kCall);
    made.call = told.empty() ? foreign(node) : told_call(told);
    made.call.number = number;
    made.call.group = text(node, kGroup);
    events_.push_back(std::move(made));
  }

  Call told_call(const std::string& told) const {
    nlohmann::json line = nlohmann::json::parse(told, nullptr, false);
    if (!line.is_object()) refuse_trace(path_, std::string("a ") + kCall + " is no JSON object");
    line["e"] = "call";
    line["r"] = rank_;
    line["c"] = 1;
    return event_of(line, world_).call;
  }

  Call foreign(const Node& node) const {
    const std::string which = "node " + std::to_string(node.id());
    Call call;
    call.type = "bytes";
    call.width = 1;
    const auto bytes = number(node, kCommSize);
    if (!bytes || *bytes < 0 || *bytes > kMostElements)
      refuse_trace(path_, which + " does not say how many bytes it sends");
    call.elements = *bytes;
    const bool sends = node.type() == COMM_SEND_NODE, receives = node.type() == COMM_RECV_NODE;
    if (sends || receives) {
      call.kind = sends ? CallKind::kSend : CallKind::kReceive;
      call.peer = rank_or(number(node, sends ? kTarget : kSource), -1);
      call.tag = static_cast<int>(number(node, kTag).value_or(0) & 0x7FFFFFFF);
      if (call.peer < 0) refuse_trace(path_, which + " does not say to or from whom");
      return call;
    }
    const auto type = number(node, kCommType);
    const auto kind = type ? kind_of(*type) : std::nullopt;
    if (!kind) refuse_trace(path_, which + " does not say which collective it is");
    call.kind = *kind;
    if (call.kind == CallKind::kAllToAll)
      call.set_parts(static_cast<std::size_t>(world_), call.elements / world_);
    if (has_root(call.kind)) call.peer = rank_or(number(node, kSource), 0);
    return call;
  }

  int rank_or(std::optional<std::int64_t> rank, int otherwise) const {
    return rank && *rank >= 0 && *rank < world_ ? static_cast<int>(*rank) : otherwise;
  }

  const RankTrace& trace_;
  int rank_, world_;
  std::string path_;
  std::unordered_map<std::uint64_t, std::size_t> position_;
  std::unordered_map<std::uint64_t, std::int64_t> numbers_;
  std::set<std::uint64_t> waited_;
  double seconds_ = 0;
  std::vector<Event> events_;
};

/// By rank. The number in the name: NAME.RANK.et.
std::vector<std::string> files_in(const std::string& folder) {
  std::map<int, std::string> files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() != ".et") continue;
    const std::string number = entry.path().stem().extension().string();
    int rank = -1;
    if (number.size() < 2 ||
        std::from_chars(number.data() + 1, number.data() + number.size(), rank).ec != std::errc() ||
        rank < 0)
      refuse_trace(entry.path().string(), "its name has no rank: NAME.RANK.et");
    if (!files.try_emplace(rank, entry.path().string()).second)
      refuse_trace(folder, "two of its files are of rank " + std::to_string(rank));
  }
  std::vector<std::string> paths;
  for (const auto& [rank, path] : files) {
    if (rank != static_cast<int>(paths.size()))
      refuse_trace(folder, "it has no file of rank " + std::to_string(paths.size()));
    paths.push_back(path);
  }
  if (paths.empty() || paths.size() > static_cast<std::size_t>(kMostRanks))
    refuse_trace(folder, "it has no trace (*.et), or more than " + std::to_string(kMostRanks));
  return paths;
}

void take_metadata(const GlobalMetadata& metadata, Recording& recording, const std::string& path) {
  for (const Attribute& attribute : metadata.attributes()) {
    const std::string_view name = attribute.name(), prefix = kGroupPrefix;
    if (name == kClock) recording.header.clock = attribute.string_value();
    if (name.starts_with(prefix))
      recording.groups[std::string(name.substr(prefix.size()))] =
          ranks_in(attribute.string_value(), recording.header.world, path);
  }
}

}  // namespace

bool is_trace_folder(const std::string& path) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(path, error))
    if (entry.path().extension() == ".et") return true;
  return false;
}

std::vector<Event> parse_trace(std::string_view bytes, int rank, int world,
                               const std::string& path) {
  const RankTrace trace = parse(bytes, path);
  Recording groups;
  groups.header.world = world;
  take_metadata(trace.metadata, groups, path);
  return Events(trace, rank, world, path).take();
}

Recording read_traces(const std::string& folder) {
  const auto paths = files_in(folder);
  Recording recording;
  recording.header.world = static_cast<int>(paths.size());
  recording.header.clock = "Chakra execution traces";
  std::vector<int> all;
  for (int rank = 0; rank < recording.header.world; ++rank) all.push_back(rank);
  for (int rank = 0; rank < recording.header.world; ++rank) {
    const std::string& path = paths[static_cast<std::size_t>(rank)];
    const RankTrace trace = parse(read_file(path), path);
    take_metadata(trace.metadata, recording, path);
    recording.events.push_back(Events(trace, rank, recording.header.world, path).take());
    for (const Event& event : recording.events.back())
      if (event.kind == Event::Kind::kCall) recording.groups.try_emplace(event.call.group, all);
  }
  recording.whole = true;
  return recording;
}

Header read_traces_header(const std::string& folder) {
  return {.world = static_cast<int>(files_in(folder).size()),
          .torch = "",
          .clock = "Chakra execution traces"};
}

}  // namespace gradwire::bridge::chakra
