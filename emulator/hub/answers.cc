#include "emulator/hub/answers.h"

#include <cmath>

#include "emulator/hub/control.h"

namespace gradwire::emulator {
namespace {

double time_in(const nlohmann::json& message, const char* name) {
  const auto time = message.at(name).get<double>();
  if (!std::isfinite(time)) throw std::out_of_range(std::string(name) + " is not finite");
  return time;
}

}  // namespace

OperationReport operation_report_from_json(const nlohmann::json& message) {
  return understood("a worker's report", [&] {
    OperationReport report;
    report.graph = message.at("graph").get<sim::GraphId>();
    report.op = message.at("op").get<sim::OpIndex>();
    report.start = time_in(message, "start");
    if (message.contains("sent"))
      for (std::size_t i = 0; i < report.sent.size(); ++i)
        report.sent[i] = message.at("sent").at(i).get<std::int64_t>();
    for (const std::int64_t count : report.sent)
      if (count < 0) throw std::out_of_range("a count is negative");
    report.source = message.at("source").get<int>();
    if (report.source >= 0) report.end = time_in(message, "end");
    return report;
  });
}

HostCounters host_counters_from_json(const nlohmann::json& message, std::size_t hosts) {
  const auto host_in = [&](const nlohmann::json& value) {
    const auto host = value.get<std::size_t>();
    if (host >= hosts) throw std::out_of_range("there is no host " + std::to_string(host));
    return host;
  };
  return understood("a worker's counters", [&] {
    HostCounters counters{host_in(message.at("host")), {}};
    for (const nlohmann::json& item : message.at("connections"))
      counters.connections.push_back(
          {host_in(item.at(0)), item.at(1).get<std::int64_t>(), item.at(2).get<std::int64_t>()});
    return counters;
  });
}

std::string kind_of(const nlohmann::json& message) {
  auto kind =
      understood("an emulator's message", [&] { return message.at("kind").get<std::string>(); });
  if (kind == "error") throw_error(message);
  return kind;
}

}  // namespace gradwire::emulator
