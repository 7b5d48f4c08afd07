#pragma once
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "scenarios/trainer.h"
#include "sim/graph/payloads.h"
#include "sim/graph/step_graph.h"

namespace gradwire::trainers {

/// A graph under construction, with its sizes and times.
class WorkBuilder {
 public:
  sim::OpIndex transfer(int from, int to, std::string_view label, Bytes bytes,
                        const std::vector<sim::OpIndex>& after = {}) {
    work_.bytes.push_back(bytes);
    work_.seconds.emplace_back(0);
    return builder_.add_transfer(from, to, label, {}, after);
  }
  /// `sizes`: as CollectiveSpec says.
  sim::OpIndex collective(const sim::CollectiveSpec& spec, std::string_view label,
                          std::span<const Bytes> sizes,
                          const std::vector<sim::OpIndex>& after = {}) {
    work_.bytes.insert(work_.bytes.end(), sizes.begin(), sizes.end());
    work_.seconds.emplace_back(0);
    return builder_.add_collective(spec, label, after);
  }
  sim::OpIndex operation(sim::OpKind kind, sim::Lane lane, int host, std::string_view label,
                         Seconds time, const std::vector<sim::OpIndex>& after = {}) {
    work_.seconds.push_back(time);
    return builder_.add_operation(kind, lane, host, label, after);
  }
  /// What that transfer carries, for executors that send it.
  void hold(sim::OpIndex transfer, std::span<const std::byte> bytes) {
    if (!payloads_) payloads_ = std::make_shared<sim::Payloads>();
    payloads_->add(transfer, bytes);
  }
  scenarios::Work finish() {
    work_.graph = builder_.finish();
    work_.payloads = std::move(payloads_);
    return std::move(work_);
  }

 private:
  sim::GraphBuilder builder_;
  scenarios::Work work_;
  std::shared_ptr<sim::Payloads> payloads_;
};

}  // namespace gradwire::trainers
