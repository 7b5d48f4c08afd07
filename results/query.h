#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "results/store.h"

/// Typed filters over runs, the same on the command line and in the desktop program:
///
///   ratio<0.1 and workers>=16 and method=topk
///   (model=lenet5 or model~resnet) and not status=failed
///   step_time<50ms and /network/link/loss>=0.01
///
/// Fields are those of fields.h, their short forms, or a JSON pointer into the resolved scenario.
/// Operators: = != < <= > >= and ~ (contains, whatever the case), !~. Numbers may carry a unit
/// ("50ms", "1Gbps", "25MB", "5%"). `not` binds tighter than `and`, `and` tighter than `or`. A
/// comparison with a missing figure is false; `field=none` finds the missing ones (number fields).
/// Values with spaces or brackets are quoted: method="topk 1%".
namespace gradwire::results {

class QueryError : public Error {
 public:
  /// `position`: 0-based byte in the text where the problem starts.
  QueryError(std::string_view text, std::size_t position, std::string_view reason,
             std::string_view remedy = {});
  std::size_t position() const { return position_; }

 private:
  std::size_t position_;
};

class Query {
 public:
  /// The empty text matches every run. Throws QueryError.
  explicit Query(std::string_view text);
  bool matches(const RunSummary& run) const;

  class Node;

 private:
  std::shared_ptr<const Node> root_;
};

}  // namespace gradwire::results
