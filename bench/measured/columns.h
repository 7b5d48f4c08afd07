#pragma once
#include <map>
#include <string>

#include "results/export/csv.h"

namespace gradwire::bench {

/// Which column of a table has what, however its head is written: "GPU type" is `device`,
/// "size(B)" is `bytes`, "seq_len" is `sequence`. Of several that may be meant the one with our own
/// name counts, then the first in alphabetical order.
class Columns {
 public:
  explicit Columns(const results::CsvTable& table);
  bool has(const std::string& name) const { return written_.contains(name); }
  /// As the table writes it; `name` itself where it has no such column.
  const std::string& of(const std::string& name) const;
  /// Of a table without a column `metric`: the column that a metric heads, which is its `value`
  /// ("images/sec"). Empty where there is none.
  const std::string& metric() const { return metric_; }

 private:
  std::map<std::string, std::string> written_;  ///< by our own name
  std::string metric_;
};

}  // namespace gradwire::bench
