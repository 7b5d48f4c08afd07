#pragma once
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "scenarios/trainer.h"
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
  scenarios::Work finish() {
    work_.graph = builder_.finish();
    return std::move(work_);
  }

 private:
  sim::GraphBuilder builder_;
  scenarios::Work work_;
};

}  // namespace gradwire::trainers
