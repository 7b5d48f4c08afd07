#include "results/runs/query.h"

#include <algorithm>
#include <cctype>

#include "base/joined_texts.h"
#include "base/options.h"
#include "results/runs/fields.h"
#include "results/runs/query_nodes.h"
#include "results/runs/scenario_view.h"

namespace gradwire::results {
namespace {

using namespace query;

/// "Step time" and "step_time" are one name.
std::string folded(std::string_view name) {
  std::string result = lower(std::string(name));
  std::replace(result.begin(), result.end(), ' ', '_');
  return result;
}

class Parser {
 public:
  Parser(std::string_view text, std::span<const QueryName> names,
         std::vector<Query::Comparison>& comparisons)
      : text_(text), names_(names), comparisons_(comparisons) {}

  NodePtr parse() {
    skip();
    if (at_ == text_.size()) return nullptr;
    NodePtr node = alternatives();
    if (at_ < text_.size())
      fail(at_, text_[at_] == ')' ? "this bracket was not opened" : "expected \"and\" or \"or\"");
    return node;
  }

 private:
  [[noreturn]] void fail(std::size_t position, std::string_view reason,
                         std::string_view remedy = {}) const {
    throw QueryError(text_, position, reason, remedy);
  }
  void skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  bool accept_word(std::string_view word) {
    const std::size_t end = at_ + word.size();
    if (text_.substr(at_, word.size()) != word) return false;
    if (end < text_.size() && !std::isspace(static_cast<unsigned char>(text_[end])) &&
        text_[end] != '(')
      return false;
    at_ = end;
    skip();
    return true;
  }
  bool accept(char letter) {
    if (at_ == text_.size() || text_[at_] != letter) return false;
    ++at_;
    skip();
    return true;
  }

  NodePtr alternatives() {
    NodePtr left = conjunction();
    while (accept_word("or")) left = std::make_shared<Both>(left, conjunction(), false);
    return left;
  }
  NodePtr conjunction() {
    NodePtr left = negation();
    while (accept_word("and")) left = std::make_shared<Both>(left, negation(), true);
    return left;
  }
  NodePtr negation() {
    if (++depth_ > 200) fail(at_, "it is nested too deeply");
    NodePtr node;
    const std::size_t start = at_;
    if (accept_word("not")) {
      node = std::make_shared<Not>(negation());
    } else if (accept('(')) {
      node = alternatives();
      if (!accept(')')) fail(start, "this bracket is not closed");
    } else {
      node = comparison();
    }
    --depth_;
    return node;
  }

  static bool part_of_name(char letter) {
    return std::isalnum(static_cast<unsigned char>(letter)) || letter == '_' || letter == '-' ||
           letter == '/' || letter == '.';
  }
  /// The longest of the caller's names that stands here, before an operator.
  const QueryName* known_name() {
    const QueryName* best = nullptr;
    std::size_t best_end = at_;
    for (const QueryName& name : names_) {
      const std::size_t size = name.name.size(), end = at_ + size;
      if (size == 0 || end > text_.size() || end <= best_end) continue;
      if (end < text_.size() && part_of_name(text_[end])) continue;
      if (folded(text_.substr(at_, size)) != folded(name.name)) continue;
      best = &name;
      best_end = end;
    }
    at_ = best_end;
    return best;
  }
  std::string field_name() {
    const std::size_t start = at_;
    while (at_ < text_.size() && part_of_name(text_[at_])) ++at_;
    if (at_ == start) fail(start, "expected a field", "allowed: " + all_fields());
    return std::string(text_.substr(start, at_ - start));
  }
  static std::string all_fields() {
    return joined_texts(field_names(), ", ") +
           ", or a JSON pointer such as /network/link/bandwidth";
  }
  Operator comparison_operator(const std::string& name) {
    skip();
    for (const auto& [sign, op] : kOperators) {
      if (text_.substr(at_, sign.size()) != sign) continue;
      at_ += sign.size();
      skip();
      return op;
    }
    fail(at_, "expected an operator after \"" + name + "\"", "allowed: = != < <= > >= ~ !~");
  }
  std::string value() {
    const std::size_t start = at_;
    std::string result;
    if (at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'')) {
      const char quote = text_[at_];
      const std::size_t end = text_.find(quote, at_ + 1);
      if (end == std::string_view::npos) fail(start, "this quote is not closed");
      result = text_.substr(at_ + 1, end - at_ - 1);
      at_ = end + 1;
    } else {
      while (at_ < text_.size() && !std::isspace(static_cast<unsigned char>(text_[at_])) &&
             text_[at_] != '(' && text_[at_] != ')')
        result += text_[at_++];
      if (result.empty()) fail(start, "expected a value");
    }
    skip();
    return result;
  }

  NodePtr comparison() {
    const std::size_t start = at_;
    const QueryName* known = known_name();
    const std::string name = known ? std::string(text_.substr(start, at_ - start)) : field_name();
    const Field* field = known ? find_field(known->field) : find_field(name);
    if (!known && !field && !name.starts_with("/")) unknown_field(start, name);
    const std::size_t operator_at = at_;
    const Operator op = comparison_operator(name);
    const std::size_t value_at = at_;
    const std::string text = value();
    NodePtr node;
    if (field && field->numeric()) {
      node = number_test(*field, op, operator_at, text, value_at);
    } else if (field && ordering(op)) {
      fail(operator_at, "\"" + name + "\" is a text", "allowed for texts: = != ~ !~");
    } else if (field) {
      node = std::make_shared<TextTest>(*field, op, text);
    } else if (known) {
      node = std::make_shared<NameTest>(*known, op, text);
    } else {
      node = std::make_shared<PointerTest>(name, op, text);
    }
    note(name, text, op, node, field, known);
    return node;
  }
  void note(const std::string& name, const std::string& value, Operator op, const NodePtr& node,
            const Field* field, const QueryName* known) {
    Query::Comparison comparison{name,
                                 value,
                                 ordering(op),
                                 [node](const RunSummary& run) { return node->matches(run); },
                                 {}};
    if (field && field->text)
      comparison.text = field->text;
    else if (field)
      comparison.text = [field](const RunSummary& run) { return shown(*field, run); };
    else if (known)
      comparison.text = known->text;
    else
      comparison.text = [name](const RunSummary& run) {
        return scenario_value(run.header.scenario_json, name);
      };
    comparisons_.push_back(std::move(comparison));
  }
  NodePtr number_test(const Field& field, Operator op, std::size_t operator_at,
                      const std::string& text, std::size_t value_at) {
    if (op == Operator::kHas || op == Operator::kLacks)
      fail(operator_at, std::string("\"") + field.name + "\" is a number",
           "allowed for numbers: = != < <= > >=");
    if (text == kNothing && !ordering(op))
      return std::make_shared<NumberTest>(field, op, std::nullopt);
    double number = 0;
    if (!number_from(text, number))
      fail(value_at, "\"" + text + "\" is not a number",
           "write it as in 0.1, 5%, 50ms, 1Gbps or 25MB");
    return std::make_shared<NumberTest>(field, op, number);
  }
  std::string_view name_until_operator(std::size_t start) const {
    std::string_view words = text_.substr(start, text_.find_first_of("=<>!~", start) - start);
    while (!words.empty() && words.back() == ' ') words.remove_suffix(1);
    return words;
  }
  [[noreturn]] void unknown_field(std::size_t start, const std::string& name) const {
    if (name == "ratio")
      fail(start, "\"ratio\" has two successors",
           "write compression_ratio (of a worker's message) or traffic_ratio (of the bytes on the "
           "wire, which \"ratio\" was)");
    std::vector<std::string> candidates = field_names();
    for (const QueryName& known : names_) candidates.push_back(folded(known.name));
    std::string near = nearest_name(folded(name_until_operator(start)), candidates);
    if (near.empty()) near = nearest_name(folded(name), candidates);
    fail(start, "there is no field \"" + name + "\"",
         (near.empty() ? "" : "did you mean \"" + near + "\"? ") + ("allowed: " + all_fields()));
  }

  std::string_view text_;
  std::span<const QueryName> names_;
  std::vector<Query::Comparison>& comparisons_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

QueryError::QueryError(std::string_view text, std::size_t position, std::string_view reason,
                       std::string_view remedy)
    : Error(ErrorKind::kUsage, "read the filter", "\"" + std::string(text) + "\"",
            "at character " + std::to_string(position + 1) + ": " + std::string(reason), remedy),
      position_(position) {}

Query::Query(std::string_view text, std::span<const QueryName> names)
    : root_(Parser(text, names, comparisons_).parse()) {}

bool Query::matches(const RunSummary& run) const {
  return !root_ || root_->matches(run);
}

}  // namespace gradwire::results
