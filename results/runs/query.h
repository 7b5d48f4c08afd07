#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "results/store/store.h"

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
/// Values with spaces or brackets are quoted: method="topk 1%". Names go before fields where a
/// caller adds its own (QueryName), whatever their case; they may hold spaces: Step time<50ms.
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

/// A name beside those of fields.h: what a table calls a column, and how to read it.
struct QueryName {
  std::string name;        ///< as shown: "Step time"; also found with "_" for spaces
  std::string field = {};  ///< a field of fields.h that it stands for; or, if empty, the value:
  std::function<std::string(const RunSummary&)> text = {};
  /// Of the text, worked out before; none where it is no number.
  std::function<std::optional<double>(const RunSummary&)> number = {};
};

class Query {
 public:
  /// The empty text matches every run. Throws QueryError. `names` are copied.
  explicit Query(std::string_view text, std::span<const QueryName> names = {});
  bool matches(const RunSummary& run) const;

  /// One comparison of the text, alone: for what to say where nothing matches.
  struct Comparison {
    std::string name;      ///< as written
    std::string value;     ///< that it is held against
    bool ordered = false;  ///< < <= > >=
    std::function<bool(const RunSummary&)> matches;
    std::function<std::string(const RunSummary&)> text;  ///< the run's value, as it is compared
  };
  const std::vector<Comparison>& comparisons() const { return comparisons_; }

  class Node;

 private:
  std::vector<Comparison> comparisons_;  // filled while the root is read
  std::shared_ptr<const Node> root_;
};

}  // namespace gradwire::results
