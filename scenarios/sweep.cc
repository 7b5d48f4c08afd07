#include "scenarios/sweep.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "scenarios/document/pointer.h"
#include "scenarios/document/values.h"

namespace gradwire::scenarios {
namespace {

using nlohmann::ordered_json;

constexpr const char* kAxisForms =
    "a list of values, {\"range\": [from, to, step]}, {\"log_range\": [from, to, count]}";

class SweepReader {
 public:
  SweepReader(const ordered_json& block, const Places& places, ProblemList& problems)
      : block_(block), places_(places), problems_(problems) {}

  Sweep read(const std::vector<std::string>& overridden) {
    for (const auto& [key, value] : block_.items()) {
      const bool dropped =
          std::any_of(overridden.begin(), overridden.end(),
                      [&, &key = key](const auto& set) { return is_at_or_below(key, set); });
      if (!dropped && key != "zip" && key != "exclude") read_axis(key, value);
    }
    group(overridden);
    if (block_.contains("exclude")) read_exclude(block_["exclude"]);
    return std::move(sweep_);
  }

 private:
  void refuse(const std::string& pointer, std::string message, std::string allowed = "",
              std::string suggestion = "") {
    problems_.add(
        places_.problem(pointer, std::move(message), std::move(allowed), std::move(suggestion)));
  }

  void read_axis(const std::string& pointer, const ordered_json& form) {
    const std::string at = child_pointer("/sweep", pointer);
    const FieldTable::Node* node = scenario_table().find(pointer);
    if (!node || pointer.empty() || pointer.find('*') != std::string::npos) {
      refuse(at, "there is no such field to sweep", "JSON pointers of fields, zip, exclude",
             scenario_table().nearest_pointer(pointer));
    } else if (!node->field().sweepable) {
      refuse(at, "this field cannot be swept");
    } else {
      Axis axis{pointer, {}, {}};
      read_values(axis, *node, form, at);
      if (axis.values.empty()) return;
      for (std::size_t i = 0; i < sweep_.axes.size(); ++i)
        if (is_at_or_below(pointer, sweep_.axes[i].pointer) ||
            is_at_or_below(sweep_.axes[i].pointer, pointer))
          refuse(at, "overlaps with " + sweep_.axes[i].pointer + ", which is swept too");
      sweep_.axes.push_back(std::move(axis));
    }
  }

  /// Of an axis that steps with others, values may come more than once.
  bool is_zipped(const std::string& pointer) const {
    const auto zip = block_.find("zip");
    if (zip == block_.end()) return false;
    return *zip == true ||
           (zip->is_array() && std::find(zip->begin(), zip->end(), pointer) != zip->end());
  }

  void read_values(Axis& axis, const FieldTable::Node& node, const ordered_json& form,
                   const std::string& at) {
    if (form.is_array()) {
      for (std::size_t i = 0; i < form.size(); ++i) {
        if (!is_zipped(axis.pointer) &&
            std::find(axis.values.begin(), axis.values.end(), form[i]) != axis.values.end())
          refuse(child_pointer(at, i), "the value stands twice in the list");
        axis.values.push_back(form[i]);
        axis.sources.push_back(child_pointer(at, i));
      }
      if (form.empty()) refuse(at, "the list is empty", kAxisForms);
    } else if (form.is_object() && form.size() == 1 &&
               (form.contains("range") || form.contains("log_range"))) {
      const bool log = form.contains("log_range");
      read_range(axis, node.field(), form.begin().value(), log, at);
    } else {
      refuse(at, "is not a form that a sweep knows", kAxisForms);
    }
  }

  void read_range(Axis& axis, const Field& field, const ordered_json& parts, bool log,
                  const std::string& at) {
    const std::string inside = child_pointer(at, log ? "log_range" : "range");
    if (!is_numeric(field))
      return refuse(at, "only numbers and unit strings have ranges", "a list");
    if (!parts.is_array() || parts.size() != 3)
      return refuse(inside, "three values are needed", kAxisForms);
    double ends[2] = {};
    for (std::size_t i = 0; i < 2; ++i) {
      const CheckedValue checked = check_value(field, parts[i]);
      if (!checked.problem.empty())
        return refuse(child_pointer(inside, i), checked.problem, allowed_of(field),
                      checked.suggestion);
      ends[i] = checked.base;
    }
    const std::vector<double> points =
        log ? log_points(ends, parts[2], inside) : linear_points(field, ends, parts[2], inside);
    for (const double point : points) {
      axis.values.push_back(value_of_base(field, point));
      axis.sources.push_back(at);
    }
    for (std::size_t i = 1; i < axis.values.size(); ++i)
      if (axis.values[i] == axis.values[i - 1])
        return refuse(inside, "two of its values round to the same " + axis.values[i].dump());
  }

  std::vector<double> linear_points(const Field& field, const double (&ends)[2],
                                    const ordered_json& step_given, const std::string& at) {
    // A step has the field's type, not its range: a step of 0.5 is fine where values must be < 0.1.
    Field free = field;
    free.spec.min = -std::numeric_limits<double>::infinity();
    free.spec.max = std::numeric_limits<double>::infinity();
    const CheckedValue step = check_value(free, step_given);
    if (!step.problem.empty()) {
      refuse(child_pointer(at, 2), step.problem, "a step of the field's type", step.suggestion);
      return {};
    }
    const double count = std::floor((ends[1] - ends[0]) / step.base + 1e-9) + 1;
    if (step.base <= 0 || ends[1] < ends[0] || !(count <= static_cast<double>(kMostRuns))) {
      refuse(at, "the range is empty, endless or too long", "from <= to, step > 0");
      return {};
    }
    std::vector<double> points;
    for (double i = 0; i < count; ++i) points.push_back(ends[0] + i * step.base);
    return points;
  }

  std::vector<double> log_points(const double (&ends)[2], const ordered_json& count_given,
                                 const std::string& at) {
    const bool whole = count_given.is_number_integer() && count_given.get<double>() >= 2 &&
                       count_given.get<double>() <= 10000;
    if (!whole)
      refuse(child_pointer(at, 2), "a number of values is needed", "integer >= 2 and <= 10000");
    if (ends[0] <= 0 || ends[1] <= ends[0])
      refuse(at, "a log range must rise and be above 0", "0 < from < to");
    if (!whole || ends[0] <= 0 || ends[1] <= ends[0]) return {};
    const int count = count_given.get<int>();
    std::vector<double> points;
    for (int i = 0; i < count; ++i)
      points.push_back(ends[0] * std::pow(ends[1] / ends[0], static_cast<double>(i) / (count - 1)));
    points.back() = ends[1];
    return points;
  }

  std::size_t axis_number(const std::string& pointer) const {
    for (std::size_t i = 0; i < sweep_.axes.size(); ++i)
      if (sweep_.axes[i].pointer == pointer) return i;
    return sweep_.axes.size();
  }

  /// Axes that `zip` names, by number; none without zip.
  std::vector<std::size_t> zipped(const std::vector<std::string>& overridden) {
    std::vector<std::size_t> together;
    if (!block_.contains("zip")) return together;
    const ordered_json& zip = block_["zip"];
    if (zip.is_boolean()) {
      for (std::size_t i = 0; zip.get<bool>() && i < sweep_.axes.size(); ++i) together.push_back(i);
    } else if (zip.is_array()) {
      for (std::size_t i = 0; i < zip.size(); ++i) {
        const std::string pointer = zip[i].is_string() ? zip[i].get<std::string>() : "";
        const bool dropped =
            std::any_of(overridden.begin(), overridden.end(),
                        [&](const auto& set) { return is_at_or_below(pointer, set); });
        if (axis_number(pointer) < sweep_.axes.size())
          together.push_back(axis_number(pointer));
        else if (!dropped)
          refuse(child_pointer("/sweep/zip", i), "is not a swept pointer");
      }
    } else {
      refuse("/sweep/zip", "is not a form that a sweep knows",
             "true, false, a list of swept pointers");
    }
    std::sort(together.begin(), together.end());
    together.erase(std::unique(together.begin(), together.end()), together.end());
    return together;
  }

  void group(const std::vector<std::string>& overridden) {
    const std::vector<std::size_t> together = zipped(overridden);
    for (std::size_t i = 0; i < sweep_.axes.size(); ++i) {
      const bool inside = std::find(together.begin(), together.end(), i) != together.end();
      if (!inside)
        sweep_.groups.push_back({i});
      else if (i == together.front())
        sweep_.groups.push_back(together);
      if (inside && sweep_.axes[i].values.size() != sweep_.axes[together.front()].values.size())
        refuse("/sweep/zip",
               sweep_.axes[i].pointer + " has " + std::to_string(sweep_.axes[i].values.size()) +
                   " values, " + sweep_.axes[together.front()].pointer + " has " +
                   std::to_string(sweep_.axes[together.front()].values.size()),
               "lists of equal length");
    }
    refuse_twins(together);
    double count = 1;
    for (const auto& members : sweep_.groups)
      count *= static_cast<double>(sweep_.axes[members.front()].values.size());
    if (count > static_cast<double>(kMostRuns))
      refuse("/sweep", "more than " + std::to_string(kMostRuns) + " combinations");
  }

  void refuse_twins(const std::vector<std::size_t>& together) {
    if (together.empty()) return;
    std::size_t steps = std::numeric_limits<std::size_t>::max();
    for (const std::size_t axis : together)
      steps = std::min(steps, sweep_.axes[axis].values.size());
    const auto same = [&](std::size_t a, std::size_t b) {
      return std::all_of(together.begin(), together.end(), [&](std::size_t axis) {
        return sweep_.axes[axis].values[a] == sweep_.axes[axis].values[b];
      });
    };
    for (std::size_t b = 1; b < steps; ++b)
      for (std::size_t a = 0; a < b; ++a)
        if (same(a, b))
          refuse("/sweep/zip", "values " + std::to_string(a) + " and " + std::to_string(b) +
                                   " are the same in every list");
  }

  void read_exclude(const ordered_json& exclude) {
    if (!exclude.is_array()) return refuse("/sweep/exclude", "a list of objects is needed");
    for (std::size_t i = 0; i < exclude.size(); ++i) {
      const std::string at = child_pointer("/sweep/exclude", i);
      if (!exclude[i].is_object() || exclude[i].empty()) {
        refuse(at, "an object of JSON pointers and values is needed");
        continue;
      }
      for (const auto& [pointer, values] : exclude[i].items())
        check_condition(pointer, values, child_pointer(at, pointer));
      sweep_.exclude.push_back(exclude[i]);
    }
  }

  void check_condition(const std::string& pointer, const ordered_json& values,
                       const std::string& at) {
    const FieldTable::Node* node = scenario_table().find(pointer);
    if (!node || node->field().shape != Shape::kValue)
      return refuse(at, "there is no such value field", "JSON pointers of fields",
                    scenario_table().nearest_pointer(pointer));
    const ordered_json list = values.is_array() ? values : ordered_json::array({values});
    for (std::size_t i = 0; i < list.size(); ++i) {
      const CheckedValue checked = check_value(node->field(), list[i]);
      if (!checked.problem.empty())
        refuse(values.is_array() ? child_pointer(at, i) : at, checked.problem,
               allowed_of(node->field()), checked.suggestion);
    }
  }

  const ordered_json& block_;
  const Places& places_;
  ProblemList& problems_;
  Sweep sweep_;
};

bool fits(const ordered_json& conditions, const ordered_json& run) {
  for (const auto& [pointer, values] : conditions.items()) {
    const Field& field = scenario_table().find(pointer)->field();
    const ordered_json* given = find_at(run, pointer);
    const ordered_json value = given ? check_value(field, *given).value : default_value(field);
    const ordered_json list = values.is_array() ? values : ordered_json::array({values});
    if (std::none_of(list.begin(), list.end(), [&](const ordered_json& each) {
          return check_value(field, each).value == value;
        }))
      return false;
  }
  return true;
}

}  // namespace

Sweep read_sweep(const ordered_json& block, const std::vector<std::string>& overridden,
                 const Places& places, ProblemList& problems) {
  if (block.is_null()) return {};
  if (!block.is_object()) {
    problems.add(places.problem("/sweep", "an object of JSON pointers and lists is needed"));
    return {};
  }
  return SweepReader(block, places, problems).read(overridden);
}

std::vector<std::vector<std::size_t>> combinations(const Sweep& sweep) {
  std::vector<std::vector<std::size_t>> all = {std::vector<std::size_t>(sweep.axes.size(), 0)};
  for (const std::vector<std::size_t>& group : sweep.groups) {
    std::vector<std::vector<std::size_t>> next;
    const std::size_t count = sweep.axes[group.front()].values.size();
    for (const std::vector<std::size_t>& combination : all) {
      for (std::size_t i = 0; i < count; ++i) {
        next.push_back(combination);
        for (const std::size_t axis : group) next.back()[axis] = i;
      }
    }
    all = std::move(next);
  }
  return all;
}

bool is_excluded(const Sweep& sweep, const ordered_json& run) {
  return std::any_of(sweep.exclude.begin(), sweep.exclude.end(),
                     [&](const ordered_json& conditions) { return fits(conditions, run); });
}

std::vector<std::uint64_t> read_seeds(const ordered_json& block, const Places& places,
                                      ProblemList& problems) {
  std::vector<std::uint64_t> seeds;
  const Field& field = scenario_table().find("/seeds/0")->field();
  const auto refuse = [&](const std::string& at, std::string message, std::string allowed) {
    problems.add(places.problem(at, std::move(message), std::move(allowed)));
  };
  if (block.is_null()) return {1};
  if (block.is_object() && block.size() == 1 && block.contains("count")) {
    const ordered_json& count = block["count"];
    const double n = count.is_number_integer() ? count.get<double>() : 0;
    if (n < 1 || n > static_cast<double>(kMostRuns))
      refuse("/seeds/count", count.dump() + " is not a number of seeds",
             "integer >= 1 and <= 100000");
    else
      for (std::uint64_t seed = 1; seed <= static_cast<std::uint64_t>(n); ++seed)
        seeds.push_back(seed);
  } else if (block.is_array() && !block.empty()) {
    for (std::size_t i = 0; i < block.size(); ++i) {
      const std::string at = child_pointer("/seeds", i);
      const CheckedValue checked = check_value(field, block[i]);
      if (!checked.problem.empty()) {
        refuse(at, checked.problem, allowed_of(field));
        continue;
      }
      const auto seed = checked.value.get<std::uint64_t>();
      if (std::find(seeds.begin(), seeds.end(), seed) != seeds.end())
        refuse(at, "the seed stands twice in the list", "");
      seeds.push_back(seed);
    }
  } else {
    refuse("/seeds", "is not a form of seeds", "a list of integers, not empty, or {\"count\": n}");
  }
  return seeds;
}

}  // namespace gradwire::scenarios
