#pragma once
#include <QString>
#include <optional>

#include "results/store/store.h"

namespace gradwire::gui {

/// A place in a results database: a run, and a range of its time. "run:42",
/// "run:42@1.20s..1.31s".
struct DeepLink {
  struct Range {
    double from_s = 0, to_s = 0;
    bool operator==(const Range&) const = default;
  };
  results::RunId run = 0;
  std::optional<Range> range;
  bool operator==(const DeepLink&) const = default;
};

/// Whether a text is meant as one: it begins with "run:".
bool is_deep_link(const QString& text);
/// Throws Error(kUsage) that says what is wrong with it.
DeepLink parse_deep_link(const QString& text);
/// Times in seconds to the nanosecond; reading it again gives the same place.
QString text_of(const DeepLink& link);

}  // namespace gradwire::gui
