#include "sim/folding/request_log.h"

#include <algorithm>
#include <utility>

namespace gradwire::sim {

void RequestLog::submitted(Seconds now, const Submission& submission) {
  Request request{Kind::kSubmit,
                  std::exchange(moved_, false),
                  now,
                  0,
                  submission.graph,
                  nullptr,
                  submission.not_before,
                  {submission.after.begin(), submission.after.end()}};
  const Request* last = last_submitted_ > 0 ? &requests_[last_submitted_ - 1] : nullptr;
  const bool is_same = last != nullptr &&
                       std::ranges::equal(last->values->bytes, submission.bytes) &&
                       std::ranges::equal(last->values->seconds, submission.seconds);
  if (is_same) {
    request.values = last->values;
  } else {
    request.values = std::make_shared<const Values>(
        Values{{submission.bytes.begin(), submission.bytes.end()},
               {submission.seconds.begin(), submission.seconds.end()}});
    bytes_ += submission.bytes.size_bytes() + submission.seconds.size_bytes();
  }
  if (last == nullptr || last->used != request.used) {
    const GraphTemplate& graph = *request.used;
    constexpr std::size_t kAnOperation =
        sizeof(OpKind) + sizeof(Lane) + sizeof(TransferMeaning) + 5 * sizeof(std::int32_t);
    bytes_ += graph.size() * kAnOperation + graph.dependency.size() * sizeof(OpIndex);
  }
  bytes_ += sizeof(Request) + submission.after.size_bytes();
  requests_.push_back(std::move(request));
  last_submitted_ = requests_.size();
}

void RequestLog::add(Kind kind, Seconds now, GraphId graph) {
  requests_.push_back(
      {kind, std::exchange(moved_, false), now, graph, nullptr, nullptr, Seconds(0), {}});
  bytes_ += sizeof(Request);
}

void RequestLog::repeat(Executor& executor, Seconds now, std::vector<Event>& events) const {
  const auto advance = [&](bool moved, Seconds until) {
    while (moved && executor.advance(until, events)) {
    }
  };
  for (const Request& request : requests_) {
    advance(request.moved, request.now);
    if (request.kind == Kind::kSubmit) {
      executor.submit({request.used, request.values->bytes, request.values->seconds,
                       request.not_before, request.after});
    } else if (request.kind == Kind::kCancel) {
      executor.cancel(request.graph);
    } else {
      executor.forget(request.graph);
    }
  }
  advance(moved_, now);
}

}  // namespace gradwire::sim
