#pragma once
#include <string>
#include <vector>

#include "scenarios/document/reader.h"
#include "scenarios/networks/links.h"
#include "scenarios/scenario.h"

namespace gradwire::scenarios {

/// What every rule between fields sees, and where it says what is wrong; for checks.cc and the
/// files of rules that it calls. A rule is silent where one of the values it looks at was refused
/// already: it asks sound() first.
struct Rules {
  const Scenario& scenario;
  const ReadResult& read;
  const Places& places;
  ScheduleFiles& files;
  ProblemList& problems;
  std::vector<Problem>& warnings;

  bool sound(std::initializer_list<std::string_view> pointers) const {
    return read.sound(pointers);
  }
  /// `allowed`, `suggestion`: may be empty.
  void refuse(const std::string& pointer, std::string message, std::string allowed = "",
              std::string suggestion = "") const {
    problems.add(
        places.problem(pointer, std::move(message), std::move(allowed), std::move(suggestion)));
  }
  /// Possible, but suspicious.
  void warn(const std::string& pointer, std::string message) const {
    warnings.push_back(places.problem(pointer, std::move(message)));
  }
};

}  // namespace gradwire::scenarios
