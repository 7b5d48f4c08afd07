#pragma once
#include <cstddef>
#include <memory>
#include <vector>

#include "sim/session/executor.h"

namespace gradwire::sim {

/// What an executor was asked for so far, and when: to ask the same of another one.
class RequestLog {
 public:
  void advanced() { moved_ = true; }
  void submitted(Seconds now, const Submission& submission);
  void cancelled(Seconds now, GraphId graph) { add(Kind::kCancel, now, graph); }
  void forgotten(Seconds now, GraphId graph) { add(Kind::kForget, now, graph); }
  /// Asks it of an executor that was asked for nothing yet, each at its time, and goes on to `now`.
  /// Appends the events on the way.
  void repeat(Executor& executor, Seconds now, std::vector<Event>& events) const;
  /// Memory that it takes, about.
  std::size_t bytes() const { return bytes_; }

 private:
  enum class Kind : std::uint8_t { kSubmit, kCancel, kForget };
  struct Values {
    std::vector<Bytes> bytes;
    std::vector<Seconds> seconds;
  };
  struct Request {
    Kind kind = Kind::kSubmit;
    bool moved = false;  ///< the executor was advanced since the request before
    Seconds now{0};
    GraphId graph = 0;
    GraphPtr used;
    std::shared_ptr<const Values> values;  ///< the last ones again, where they are equal
    Seconds not_before{0};
    std::vector<CrossEdge> after;
  };
  void add(Kind kind, Seconds now, GraphId graph);

  std::vector<Request> requests_;
  bool moved_ = false;
  std::size_t last_submitted_ = 0;  // number + 1; 0: none
  std::size_t bytes_ = 0;
};

}  // namespace gradwire::sim
