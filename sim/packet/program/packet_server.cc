// SPDX-License-Identifier: GPL-2.0-only
#include "sim/packet/program/packet_server.h"

#include "sim/packet/packed.h"
#include "sim/packet/wire_format.h"
#include "sim/session/session_network.h"

namespace gradwire::sim {

using nlohmann::json;

json PacketServer::handle(const json& request) {
  if (request.contains("open")) return open(request["open"]);
  if (!session_) throw SimError("run", "a request", "the session is not open");
  if (request.contains("submit")) return submit(request["submit"]);
  if (request.contains("advance")) return advance(request["advance"]);
  if (request.contains("cancel")) {
    session_->cancel(request["cancel"].at("graph"));
    return clock();
  }
  if (request.contains("forget")) {
    session_->forget(request["forget"].at("graph"));
    return clock();
  }
  if (request.contains("timeline"))
    return json{{"timeline", encode_timeline(session_->timeline(request["timeline"].at("graph")))}};
  if (request.contains("missing"))
    return json{{"missing", encode_missing(session_->missing(request["missing"].at("graph")))}};
  if (request.contains("unfinished"))
    return json{{"text", session_->describe_unfinished(request["unfinished"].at("graph"))}};
  if (request.contains("channels")) return json{{"channels", pack(network_->channels())}};
  if (request.contains("close")) {
    ns3_->write_output();
    return json::object();
  }
  if (request.contains("statistics")) return statistics();
  throw SimError("run", "a request", "it is of an unknown kind");
}

json PacketServer::open(const json& fields) {
  if (session_) throw SimError("open", "a session", "one is open already");
  if (fields.at("protocol") != kProtocolVersion)
    throw Error(ErrorKind::kCapability, "open", "a session",
                "gradwire-packet is of another version than gradwire", "build both again");
  cluster_ = std::make_unique<Cluster>(decode_cluster(fields.at("cluster")));
  const ExecutorOptions options = decode_options(fields.at("options"));
  wall_limit_ = options.wall_limit;
  auto ns3 = std::make_unique<Ns3Network>(*cluster_, options);
  ns3_ = ns3.get();
  ns3_->on_progress([this](Seconds now) { progress_(now, ns3_->events()); });
  network_ = session_network(std::move(ns3), *cluster_, options);
  SessionOptions session;
  session.transfer_limit = options.transfer_limit;
  session.seed = options.seed;
  session_ = std::make_unique<GraphSession>(*cluster_, *network_, session);
  return json{{"simulator", "ns-3 3.44"}};
}

json PacketServer::submit(const json& fields) {
  const std::uint64_t id = fields.at("template");
  if (fields.contains("drop"))
    for (const json& dropped : fields["drop"]) templates_.erase(dropped.get<std::uint64_t>());
  const auto bytes = unpack<Bytes>(fields.at("bytes"));
  if (fields.contains("graph")) {
    templates_[id] = decode_graph(fields["graph"]);
    ns3_->prepare(*templates_[id], bytes);
  }
  const auto seconds = unpack<Seconds>(fields.at("seconds"));
  const auto after = unpack<CrossEdge>(fields.at("after"));
  Submission submission;
  submission.graph = templates_.at(id);
  submission.bytes = bytes;
  submission.seconds = seconds;
  submission.not_before = Seconds(fields.at("not_before").get<double>());
  submission.after = after;
  json answer = clock();
  answer["graph"] = session_->submit(submission);
  return answer;
}

json PacketServer::advance(const json& fields) {
  std::vector<Event> events;
  const bool more = session_->advance(Seconds(fields.at("until").get<double>()), events);
  json answer = clock();
  answer["more"] = more;
  answer["events"] = encode_events(events);
  return answer;
}

json PacketServer::statistics() const {
  const SegmentBooks books = ns3_->segments();
  return json{{"events", ns3_->events()},
              {"segments", pack(std::span<const SegmentBooks>(&books, 1))}};
}

json PacketServer::clock() const {
  return json{{"now", session_->now().value()}};
}

}  // namespace gradwire::sim
