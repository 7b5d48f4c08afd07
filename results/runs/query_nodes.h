#pragma once
#include <algorithm>
#include <array>
#include <cctype>

#include "base/options.h"
#include "results/runs/fields.h"
#include "results/runs/query.h"
#include "results/runs/scenario_view.h"

/// What a filter is once it is read: tests of a run's values, joined by and, or, not. For query.cc
/// alone.
namespace gradwire::results {

class Query::Node {
 public:
  virtual ~Node() = default;
  virtual bool matches(const RunSummary& run) const = 0;
};

namespace query {

using NodePtr = std::shared_ptr<const Query::Node>;

inline constexpr std::string_view kNothing = "none";  ///< in a filter: there is no value

enum class Operator { kEqual, kNotEqual, kLess, kLessEqual, kGreater, kGreaterEqual, kHas, kLacks };

inline constexpr std::array<std::pair<std::string_view, Operator>, 9> kOperators = {
    {{"<=", Operator::kLessEqual},
     {">=", Operator::kGreaterEqual},
     {"!=", Operator::kNotEqual},
     {"!~", Operator::kLacks},
     {"==", Operator::kEqual},
     {"=", Operator::kEqual},
     {"<", Operator::kLess},
     {">", Operator::kGreater},
     {"~", Operator::kHas}}};

inline bool ordering(Operator op) {
  return op == Operator::kLess || op == Operator::kLessEqual || op == Operator::kGreater ||
         op == Operator::kGreaterEqual;
}

inline bool compare(double left, Operator op, double right) {
  switch (op) {
    case Operator::kEqual:
      return left == right;
    case Operator::kNotEqual:
      return left != right;
    case Operator::kLess:
      return left < right;
    case Operator::kLessEqual:
      return left <= right;
    case Operator::kGreater:
      return left > right;
    default:
      return left >= right;
  }
}

inline std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return text;
}

class Both final : public Query::Node {
 public:
  Both(NodePtr left, NodePtr right, bool all)
      : left_(std::move(left)), right_(std::move(right)), all_(all) {}
  bool matches(const RunSummary& run) const override {
    return all_ ? left_->matches(run) && right_->matches(run)
                : left_->matches(run) || right_->matches(run);
  }

 private:
  NodePtr left_, right_;
  bool all_;
};

class Not final : public Query::Node {
 public:
  explicit Not(NodePtr inner) : inner_(std::move(inner)) {}
  bool matches(const RunSummary& run) const override { return !inner_->matches(run); }

 private:
  NodePtr inner_;
};

class NumberTest final : public Query::Node {
 public:
  NumberTest(const Field& field, Operator op, std::optional<double> value)
      : field_(field), op_(op), value_(value) {}
  bool matches(const RunSummary& run) const override {
    const std::optional<double> found = field_.number(run);
    if (!value_) return found.has_value() == (op_ == Operator::kNotEqual);
    return found && compare(*found, op_, *value_);
  }

 private:
  const Field& field_;
  Operator op_;
  std::optional<double> value_;
};

class TextTest final : public Query::Node {
 public:
  TextTest(const Field& field, Operator op, std::string value)
      : field_(field), op_(op), value_(std::move(value)), lower_(lower(value_)) {}
  bool matches(const RunSummary& run) const override {
    const std::string text = field_.text(run);
    if (op_ == Operator::kHas || op_ == Operator::kLacks)
      return (lower(text).find(lower_) != std::string::npos) == (op_ == Operator::kHas);
    return equal(text, run) == (op_ == Operator::kEqual);
  }

 private:
  bool equal(const std::string& text, const RunSummary& run) const {
    const std::string_view name = field_.name;
    if (name == "tag") return std::ranges::find(run.tags, value_) != run.tags.end();
    if (name == "method" && text.substr(0, text.find(' ')) == value_) return true;
    return text == value_;
  }
  const Field& field_;
  Operator op_;
  std::string value_, lower_;
};

/// A value of the scenario: compared as numbers where both are, else as texts.
class PointerTest final : public Query::Node {
 public:
  PointerTest(std::string pointer, Operator op, std::string value)
      : pointer_(std::move(pointer)), op_(op), value_(std::move(value)) {
    numeric_ = number_from(value_, number_);
  }
  bool matches(const RunSummary& run) const override {
    const std::string text = scenario_value(run.header.scenario_json, pointer_);
    if (op_ == Operator::kHas || op_ == Operator::kLacks)
      return (lower(text).find(lower(value_)) != std::string::npos) == (op_ == Operator::kHas);
    double found = 0;
    if (numeric_ && number_from(text, found)) return compare(found, op_, number_);
    if (text.empty() || ordering(op_)) return false;
    return (text == value_) == (op_ == Operator::kEqual);
  }

 private:
  std::string pointer_;
  Operator op_;
  std::string value_;
  double number_ = 0;
  bool numeric_;
};

/// A caller's column: compared as numbers where both are, else as texts.
class NameTest final : public Query::Node {
 public:
  NameTest(QueryName name, Operator op, std::string value)
      : name_(std::move(name)), op_(op), value_(std::move(value)), lower_(lower(value_)) {
    numeric_ = number_from(value_, number_);
  }
  bool matches(const RunSummary& run) const override {
    const std::optional<double> found =
        numeric_ && name_.number ? name_.number(run) : std::optional<double>();
    if (found && op_ != Operator::kHas && op_ != Operator::kLacks)
      return compare(*found, op_, number_);
    const std::string text = name_.text(run);
    if (op_ == Operator::kHas || op_ == Operator::kLacks)
      return (lower(text).find(lower_) != std::string::npos) == (op_ == Operator::kHas);
    if (value_ == kNothing) return text.empty() == (op_ == Operator::kEqual);
    if (text.empty() || ordering(op_)) return false;
    return (lower(text) == lower_) == (op_ == Operator::kEqual);
  }

 private:
  QueryName name_;
  Operator op_;
  std::string value_, lower_;
  double number_ = 0;
  bool numeric_;
};

}  // namespace query
}  // namespace gradwire::results
