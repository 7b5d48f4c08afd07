#include "emulator/hosts/worker.h"

#include <malloc.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "emulator/clock.h"
#include "emulator/cluster/payload_part.h"
#include "emulator/exchange/exchange.h"
#include "emulator/hosts/host_program.h"
#include "emulator/hosts/host_runner.h"
#include "emulator/hub/control.h"
#include "emulator/hub/graph_json.h"
#include "emulator/hub/namespaces.h"
#include "emulator/hub/tool.h"
#include "emulator/shaper/link_plan.h"
#include "emulator/shaper/wire_hosts.h"

namespace gradwire::emulator {
namespace {

using nlohmann::json;

class Worker {
 public:
  Worker(int host, Place place) : host_(host), place_(place), outbox_(duplicate(STDOUT_FILENO)) {}

  void run();
  void say(const json& message) { outbox_.send(kExecutor, message); }
  void flush() { outbox_.flush(); }

 private:
  void handle(const json& message);
  void set_up(const json& message);
  void configure_link(const json& message);
  void configure_wire(const json& message);
  void add_template(const json& message);
  void submit(const json& message);
  void connect(const json& message);
  void ping(const json& message);
  void program(const json& message);
  void meet(const json& message);
  void take_payloads(const json& message);
  void forget(const json& message);
  void tell_counters();
  void report(const Report& report);

  int host_;
  Place place_;
  Seconds ahead_{0};  ///< its clock, of the executor's
  Outbox outbox_;
  std::unique_ptr<PayloadIntake> intake_;  ///< null: it shares the executor's memory
  std::unique_ptr<PayloadReader> payloads_;
  std::unique_ptr<Exchange> exchange_;
  std::unique_ptr<HostRunner> runner_;
  std::map<std::uint64_t, std::shared_ptr<const HostView>> templates_;
};

void Worker::run() {
  say({{"kind", "hello"}, {"host", host_}});
  const FileDescriptor input = duplicate(STDIN_FILENO);
  FrameBuffer frames;
  std::vector<std::byte> block(1 << 16);
  const auto read = [&]() -> std::size_t {
    try {
      return input.read_some(block, "the emulator's hub");
    } catch (const Error&) {
      return 0;  // a hub on another machine has ended, with what we said still unread
    }
  };
  while (const std::size_t got = read()) {
    frames.append(std::span(block).first(got));
    while (const auto frame = frames.next()) handle(frame->message());
  }
}

void Worker::handle(const json& message) {
  const std::string kind = message.at("kind");
  if (kind == "setup")
    set_up(message);
  else if (kind == "template")
    add_template(message);
  else if (kind == "drop-template")
    templates_.erase(message.at("id").get<std::uint64_t>());
  else if (kind == "submit")
    submit(message);
  else if (kind == "ended")
    runner_->source_ended(message.at("graph"), message.at("source"));
  else if (kind == "cancel")
    runner_->cancel(message.at("graph"));
  else if (kind == "forget")
    forget(message);
  else if (kind == "payloads")
    take_payloads(message);
  else if (kind == "connect")
    connect(message);
  else if (kind == "ping")
    ping(message);
  else if (kind == "program" && place_ == Place::kNamespace)  // no machine runs what it is told to
    program(message);
  else if (kind == "peers")
    meet(message);
  else if (kind == "clock")
    say({{"kind", "clock"}, {"host", host_}, {"time", monotonic_now().value()}});
  else if (kind == "ahead")
    ahead_ = Seconds(message.at("time").get<double>());
  else if (kind == "counters")
    tell_counters();
}

/// The kernel makes this host's link.
void Worker::configure_link(const json& message) {
  const std::vector<HostLink> links = links_from_json(message.at("links"));
  const HostLink& own = links[static_cast<std::size_t>(host_)];
  const Shaping shaping{message.at("shaper"), message.at("netem"),
                        Seconds(message.at("timers_late").get<double>())};
  const std::string subject = "host " + std::to_string(host_);
  set_network_parameter("ipv6/conf/all/disable_ipv6", "1");
  // Warm connections, as the other executors have them: no slow start after idle time, and none of
  // what an earlier connection had learnt.
  require_network_parameter("ipv4/tcp_slow_start_after_idle", "0");
  require_network_parameter("ipv4/tcp_no_metrics_save", "1");
  require_tool("ip", {"-batch", "-"}, host_ip_script(links, host_, shaping), "give an address to",
               subject);
  require_tool("tc", {"-batch", "-"}, host_tc_script(own, shaping), "shape the link of", subject);
  if (const std::string rules = host_nft_script(own); !rules.empty())
    require_tool("nft", {"-f", "-"}, rules, "lose packets on the link of", subject);
}

/// The link process does. After idle time the kernel restarts slowly, as `flow` does by its
/// calibration against Linux.
void Worker::configure_wire(const json& message) {
  set_tcp_parameters(Bytes(message.at("buffer").get<std::int64_t>()));
  require_tool("ip", {"-batch", "-"}, wire_host_script(host_, message.at("hosts")),
               "give an address to", "host " + std::to_string(host_));
  cut_segments("eth0");
}

void Worker::set_up(const json& message) {
  SocketSettings sockets;
  if (place_ == Place::kNamespace) sockets.congestion_control = message.at("congestion_control");
  if (place_ == Place::kMachine) {
    sockets.congestion_control.clear();  // the machine's own
    sockets.buffer = 0;
    sockets.port = 0;
  } else if (message.at("by_process")) {
    configure_wire(message);
    sockets.buffer = 0;
  } else {
    configure_link(message);
    sockets.buffer = message.at("buffer");
  }
  sim::TransportSettings transport;
  transport.segment = Bytes(message.at("segment").get<std::int64_t>());
  transport.wire_segment = Bytes(message.at("wire_segment").get<std::int64_t>());
  HostRunner::Callbacks callbacks;
  callbacks.report = [this](const Report& item) { report(item); };
  callbacks.tell = [this](std::int32_t host, GraphId graph, std::uint32_t source) {
    outbox_.send(host, {{"kind", "ended"}, {"graph", graph}, {"source", source}});
  };
  callbacks.failed = [this](const std::string& reason) {
    say({{"kind", "error"},
         {"error_kind", static_cast<int>(ErrorKind::kFailure)},
         {"message", "host " + std::to_string(host_) + ": " + reason}});
  };
  std::vector<PeerAddress> peers;
  for (int host = 0; host < message.at("hosts"); ++host)
    peers.push_back({host_address(host), sockets.port});
  runner_ = std::make_unique<HostRunner>(host_, transport, callbacks);
  if (place_ == Place::kMachine) intake_ = std::make_unique<PayloadIntake>();
  payloads_ = std::make_unique<PayloadReader>(intake_ ? intake_->store().memory().get()
                                                      : message.at("payloads").get<int>());
  exchange_ = std::make_unique<Exchange>(
      host_, peers, sockets,
      [this](GraphId graph, OpIndex op) { runner_->message_arrived(graph, op); },
      [failed = callbacks.failed](const std::exception& error) { failed(error.what()); },
      payloads_.get());
  runner_->use(*exchange_);
  say({{"kind", "ready"},
       {"host", host_},
       {"port", exchange_->port()},
       {"congestion_control", exchange_->congestion_control()}});
}

void Worker::add_template(const json& message) {
  const auto view = std::make_shared<const HostView>(graph_from_json(message.at("graph")));
  templates_[message.at("id")] = view;
  for (const std::int32_t host : destinations(*view, host_)) exchange_->connect_to(host);
  say({{"kind", "template-ready"}, {"host", host_}, {"id", message.at("id")}});
}

void Worker::submit(const json& message) {
  HostSubmission submission;
  submission.id = message.at("graph");
  submission.view = templates_.at(message.at("template"));
  submission.bytes = from_blob<Bytes>(message.at("bytes"));
  submission.seconds = from_blob<Seconds>(message.at("seconds"));
  submission.not_before = Seconds(message.at("not_before").get<double>()) + ahead_;
  if (payloads_->rows(submission.id) > 0)
    submission.payloads = std::make_shared<const PayloadIndex>(*payloads_, submission.id);
  for (const json& edge : message.at("after"))
    submission.after.push_back({edge[0], edge[1], edge[2]});
  runner_->submit(std::move(submission));
}

void Worker::connect(const json& message) {
  exchange_->connect_to(message.at("peer"));
  say({{"kind", "connected"}, {"host", host_}});
}

void Worker::ping(const json& message) {
  std::vector<double> times;
  const int peer = message.at("peer");
  for (int round = 0; round < message.at("rounds"); ++round)
    times.push_back(exchange_->ping(peer).value());
  say({{"kind", "pong"}, {"host", host_}, {"peer", peer}, {"times", to_blob<double>(times)}});
}

/// Where the others listen, on machines of their own.
void Worker::meet(const json& message) {
  std::vector<PeerAddress> peers;
  for (const json& peer : message.at("peers")) peers.push_back({peer.at(0), peer.at(1)});
  exchange_->use_peers(std::move(peers));
}

void Worker::take_payloads(const json& message) {
  if (!intake_) return;
  intake_->take(message);
  say({{"kind", "payloads-taken"}, {"host", host_}});
}

/// Of a graph that was cut off messages may be on their way still, to be compared when they arrive.
void Worker::forget(const json& message) {
  const GraphId graph = message.at("graph");
  runner_->forget(graph);
  if (intake_ && message.at("ended")) intake_->remove(graph);
}

/// Nothing else is under way meanwhile.
void Worker::program(const json& message) {
  ProgramResult result;
  try {
    result = run_program(message.at("command"));
  } catch (const Error& error) {
    result.exit_code = 127;
    result.errors = error.what();
  }
  say({{"kind", "program"},
       {"host", host_},
       {"exit_code", result.exit_code},
       {"output", result.output},
       {"errors", result.errors}});
}

void Worker::tell_counters() {
  json list = json::array();
  for (const ConnectionCounters& item : exchange_->counters())
    list.push_back({item.to_host, item.tcp.payload, item.tcp.segments, item.tcp.retransmissions});
  say({{"kind", "counters"}, {"host", host_}, {"connections", std::move(list)}});
}

void Worker::report(const Report& item) {
  const auto told = [this](Seconds time) { return time < Seconds(0) ? time : time - ahead_; };
  json message = {{"kind", "report"},
                  {"graph", item.graph},
                  {"op", item.op},
                  {"source", item.source},
                  {"start", told(item.start).value()},
                  {"end", told(item.end).value()}};
  if (item.sent) message["sent"] = {item.payload, item.wire, item.transfers, item.retransmissions};
  say(message);
}

}  // namespace

int run_worker(int host, Place place) {
  sharpen_timers();
  // Message buffers are kept by the allocator: a fresh page fault for each 4 kB costs more than the
  // copy.
  ::mallopt(M_MMAP_THRESHOLD, 1 << 30);
  ::mallopt(M_TRIM_THRESHOLD, 1 << 30);
  auto* worker =
      new Worker(host, place);  // never destroyed: its threads may be anywhere at the end
  try {
    if (place == Place::kNamespace) enter_network_namespace();
    worker->run();
  } catch (const std::exception& error) {
    worker->say(error_message(error));
    worker->flush();
    ::_exit(1);
  }
  ::_exit(0);
}

}  // namespace gradwire::emulator
