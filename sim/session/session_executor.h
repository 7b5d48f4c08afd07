#pragma once
#include <memory>
#include <string_view>

#include "sim/session/executor.h"
#include "sim/session/session.h"

namespace gradwire::sim {

/// An executor that is a graph session over a network in this process.
class SessionExecutor final : public Executor {
 public:
  struct Parts {
    std::string_view name;  ///< of static storage, as is provenance
    std::string_view provenance;
    std::unique_ptr<const Cluster> cluster;  ///< the one that network and closed_form refer to
    std::unique_ptr<Network> network;
    std::unique_ptr<CollectiveCosts> closed_form;  ///< may be null
  };
  SessionExecutor(Parts parts, const ExecutorOptions& options)
      : parts_(std::move(parts)),
        session_(
            *parts_.cluster, *parts_.network,
            {options.transfer_limit, options.seed, parts_.closed_form.get(), options.transport}) {}

  std::string_view name() const override { return parts_.name; }
  std::string_view provenance() const override { return parts_.provenance; }
  GraphId submit(const Submission& submission) override {
    if (parts_.network->prepares() && prepared_ != submission.graph) {
      session_.check(submission);
      parts_.network->prepare(*submission.graph, submission.bytes);
      prepared_ = submission.graph;
    }
    return session_.submit(submission);
  }
  bool advance(Seconds until, std::vector<Event>& events) override {
    return session_.advance(until, events);
  }
  void cancel(GraphId graph) override { session_.cancel(graph); }
  Seconds now() const override { return session_.now(); }
  const Timeline& timeline(GraphId graph) const override { return session_.timeline(graph); }
  std::span<const MissingData> missing(GraphId graph) const override {
    return session_.missing(graph);
  }
  void forget(GraphId graph) override { session_.forget(graph); }
  std::vector<ChannelRecord> channels() const override { return parts_.network->channels(); }
  std::optional<Detail> detail() const override { return parts_.network->detail(); }
  std::string describe_unfinished(GraphId graph) const override {
    return session_.describe_unfinished(graph);
  }

 private:
  Parts parts_;
  GraphSession session_;
  GraphPtr prepared_;  ///< the latest
};

}  // namespace gradwire::sim
