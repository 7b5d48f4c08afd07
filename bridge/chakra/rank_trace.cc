#include "bridge/chakra/rank_trace.h"

#include <google/protobuf/io/coded_stream.h>

#include <algorithm>
#include <limits>
#include <queue>

#include "base/error.h"

namespace gradwire::bridge::chakra {

using google::protobuf::io::CodedInputStream;

void refuse_trace(const std::string& path, const std::string& why, const std::string& remedy) {
  throw Error(ErrorKind::kFailure, "read Chakra trace", path, why, remedy);
}

RankTrace::RankTrace(std::string_view bytes, std::string path) : path_(std::move(path)) {
  if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    refuse_trace(path_, "it has more than 2 GiB");
  CodedInputStream stream(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                          static_cast<int>(bytes.size()));
  const auto next = [&](google::protobuf::MessageLite& message) {
    std::uint32_t size = 0;
    if (!stream.ReadVarint32(&size)) refuse_trace(path_, "it ends where a message's length is due");
    const auto limit = stream.PushLimit(static_cast<int>(std::min<std::uint32_t>(size, 1u << 30)));
    if (!message.ParseFromCodedStream(&stream) || stream.BytesUntilLimit() != 0)
      refuse_trace(path_, "message " + std::to_string(nodes_.size()) + " is none of schema " +
                              kVersion + ", or is cut off");
    stream.PopLimit(limit);
  };
  next(metadata_);
  while (static_cast<std::size_t>(stream.CurrentPosition()) < bytes.size())
    next(nodes_.emplace_back());
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    if (!position_.try_emplace(nodes_[i].id(), i).second)
      refuse_trace(path_, "two of its nodes are " + std::to_string(nodes_[i].id()));
}

bool RankTrace::is_own() const {
  return std::ranges::any_of(metadata_.attributes(),
                             [](const Attribute& attribute) { return attribute.name() == kClock; });
}

std::vector<std::size_t> RankTrace::before(const Node& node) const {
  std::vector<std::size_t> before;
  for (const auto* list : {&node.control_dependencies(), &node.data_dependencies()})
    for (const std::uint64_t id : *list) {
      const auto found = position_.find(id);
      if (found == position_.end())
        refuse_trace(path_, "node " + std::to_string(node.id()) + " depends on node " +
                                std::to_string(id) + ", which is not there");
      before.push_back(found->second);
    }
  std::ranges::sort(before);
  before.erase(std::unique(before.begin(), before.end()), before.end());
  return before;
}

std::vector<std::size_t> RankTrace::order() const {
  std::vector<std::size_t> missing(nodes_.size(), 0);
  std::vector<std::vector<std::size_t>> after(nodes_.size());
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    for (const std::size_t b : before(nodes_[i])) {
      after[b].push_back(i);
      ++missing[i];
    }
  using Next = std::tuple<bool, std::uint64_t, std::size_t>;
  std::priority_queue<Next, std::vector<Next>, std::greater<>> ready;
  const auto add = [&](std::size_t i) { ready.emplace(!is_call(nodes_[i]), nodes_[i].id(), i); };
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    if (missing[i] == 0) add(i);
  std::vector<std::size_t> order;
  while (!ready.empty()) {
    const std::size_t i = std::get<2>(ready.top());
    ready.pop();
    order.push_back(i);
    for (const std::size_t next : after[i])
      if (--missing[next] == 0) add(next);
  }
  if (order.size() != nodes_.size())
    refuse_trace(path_, "its nodes depend on each other in a circle");
  return order;
}

bool is_call(const Node& node) {
  return node.type() == COMM_SEND_NODE || node.type() == COMM_RECV_NODE ||
         node.type() == COMM_COLL_NODE;
}

}  // namespace gradwire::bridge::chakra
