#pragma once
#include <map>
#include <string>
#include <vector>

namespace gradwire::results {

/// The one place where a method gets its colour, in reports and in the desktop program: by its own
/// place in the catalogue of codecs, so that it keeps its colour whatever it is shown with; the
/// next free one where two want the same.
class MethodColors {
 public:
  MethodColors() = default;
  /// Labels of all methods that are told apart ("topk 1% +ef"), in any order, repeats allowed.
  explicit MethodColors(std::vector<std::string> labels);

  /// Number of its series_style(); numbers beyond the colours repeat these with other marks and
  /// dashes. A label that was not given: a number that none of them has.
  int of(const std::string& label) const;

 private:
  std::map<std::string, int> numbers_;
  int others_ = 0;
};

}  // namespace gradwire::results
