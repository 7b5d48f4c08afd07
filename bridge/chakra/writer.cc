#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file_descriptor.h"
#include "base/folder.h"
#include "bridge/chakra/traces.h"
#include "bridge/chakra/wire.h"

namespace gradwire::bridge::chakra {
namespace {

using google::protobuf::MessageLite;

std::string joined(const std::vector<int>& ranks) {
  std::string text;
  for (const int rank : ranks) text.append(text.empty() ? "" : ",").append(std::to_string(rank));
  return text;
}

/// One rank's file.
class RankWriter {
 public:
  explicit RankWriter(const Recording& recording) : recording_(recording) {
    GlobalMetadata metadata;
    metadata.set_version(kVersion);
    const auto add = [&](const std::string& name, const std::string& value) {
      Attribute& attribute = *metadata.add_attributes();
      attribute.set_name(name);
      attribute.set_string_value(value);
    };
    add(kClock, recording.header.clock);
    for (const auto& [name, ranks] : recording.groups) add(kGroupPrefix + name, joined(ranks));
    write(metadata);
  }

  void take(const Event& event) {
    Node compute = node(COMP_NODE, "compute", lane_);
    for (const std::uint64_t call : waited_) compute.add_data_dependencies(call);
    waited_.clear();
    compute.set_duration_micros(
        static_cast<std::uint64_t>(std::llround(1e6 * event.compute.value())));
    set(compute, kSeconds, event.compute.value());
    if (event.kind == Event::Kind::kStep) set(compute, kStep, std::int64_t{1});
    lane_ = {compute.id()};
    write(compute);
    if (event.kind == Event::Kind::kCall) call(event);
    for (const std::int64_t number : event.waited) waited_.push_back(calls_.at(number));
  }

  const std::string& bytes() const { return bytes_; }

 private:
  Node node(NodeType type, const std::string& name, const std::vector<std::uint64_t>& after) {
    Node node;
    node.set_id(++ids_);
    node.set_name(name);
    node.set_type(type);
    for (const std::uint64_t id : after) node.add_control_dependencies(id);
    return node;
  }

  void call(const Event& event) {
    const Call& call = event.call;
    const NodeType type = call.kind == CallKind::kSend      ? COMM_SEND_NODE
                          : call.kind == CallKind::kReceive ? COMM_RECV_NODE
                                                            : COMM_COLL_NODE;
    Node made = node(type, std::string(name_of(call.kind)), lane_);
    if (const auto collective = type_of(call.kind)) set(made, kCommType, std::int64_t{*collective});
    set(made, kCommSize, call.bytes().count());
    set(made, kGroup, call.group);
    if (call.kind == CallKind::kSend || call.kind == CallKind::kReceive) {
      const bool sends = call.kind == CallKind::kSend;
      set(made, kSource, std::int64_t{sends ? event.rank : call.peer});
      set(made, kTarget, std::int64_t{sends ? call.peer : event.rank});
      set(made, kTag, std::int64_t{call.tag});
    } else if (call.peer >= 0) {
      set(made, kSource, std::int64_t{call.peer});
    }
    set(made, kCall, to_json(call).dump());
    calls_[call.number] = made.id();
    write(made);
  }

  void write(const MessageLite& message) {
    google::protobuf::io::StringOutputStream stream(&bytes_);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.WriteVarint32(static_cast<std::uint32_t>(message.ByteSizeLong()));
    message.SerializeToCodedStream(&coded);
  }

  const Recording& recording_;
  std::string bytes_;
  std::uint64_t ids_ = 0;
  std::vector<std::uint64_t> lane_, waited_;
  std::map<std::int64_t, std::uint64_t> calls_;
};

}  // namespace

void write_traces(const Recording& recording, const std::string& folder, const std::string& name) {
  for (const auto& events : recording.events)
    for (const Event& event : events)
      if (event.lane != 0)
        throw Error(ErrorKind::kUsage, "write Chakra traces", folder,
                    "what was read has lanes of its own, as Chakra traces that others wrote",
                    "take those");
  make_folder(folder);
  for (std::size_t rank = 0; rank < recording.events.size(); ++rank) {
    RankWriter writer(recording);
    for (const Event& event : recording.events[rank]) writer.take(event);
    write_file(folder + "/" + name + "." + std::to_string(rank) + ".et", writer.bytes());
  }
}

}  // namespace gradwire::bridge::chakra
