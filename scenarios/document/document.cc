#include "scenarios/document/document.h"

#include <cstdio>
#include <cstring>
#include <iterator>

#include "scenarios/document/pointer.h"

namespace gradwire::scenarios {
namespace {

using nlohmann::ordered_json;

/// No file of ours comes near; without a bound, a line of brackets would fill the memory.
constexpr std::size_t kDeepest = 64;

/// Where the JSON library's lexer stands. It reads at most one character past a token, and that one
/// belongs to the same line or is white space, so the line of the last character that was not white
/// space is the line of the token.
struct Cursor {
  int line = 1;
  int token_line = 1;
  void pass(char c) {
    if (c == '\n')
      ++line;
    else if (c != ' ' && c != '\t' && c != '\r')
      token_line = line;
  }
};

class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, Cursor* cursor) : at_(at), cursor_(cursor) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    cursor_->pass(*at_++);
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const CountingIterator& other) const { return at_ == other.at_; }
  bool operator!=(const CountingIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  Cursor* cursor_;
};

/// SAX handler: builds the values and notes the line of each.
class Builder {
 public:
  Builder(Document& document, const Cursor& cursor, ProblemList& problems)
      : document_(document), cursor_(cursor), problems_(problems) {}

  bool null() { return put(nullptr); }
  bool boolean(bool value) { return put(value); }
  bool number_integer(std::int64_t value) { return put(value); }
  bool number_unsigned(std::uint64_t value) { return put(value); }
  bool number_float(double value, const std::string&) { return put(value); }
  bool string(std::string& value) { return put(value); }
  bool binary(ordered_json::binary_t&) { return false; }
  bool start_object(std::size_t) { return open(ordered_json::object()); }
  bool start_array(std::size_t) { return open(ordered_json::array()); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }

  bool key(std::string& name) {
    Frame& frame = open_.back();
    frame.key = name;
    const std::string pointer = child_pointer(frame.pointer, name);
    if (frame.value->contains(name))
      problems_.add({document_.file, cursor_.token_line, pointer,
                     "the key stands twice in one object", "each key once", ""});
    document_.lines[pointer] = cursor_.token_line;
    return true;
  }

  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& error) {
    Problem problem{document_.file, cursor_.token_line, "", "", "", ""};
    const char* place = std::strstr(error.what(), "at line ");
    if (place) std::sscanf(place, "at line %d, column %d", &problem.line, &problem.column);
    const char* text = std::strstr(place ? place : error.what(), place ? ": " : "] ");
    problem.message = "not valid JSON: " + std::string(text ? text + 2 : error.what());
    if (!open_.empty()) problem.pointer = open_.back().pointer;
    problems_.add(problem);
    return false;
  }

 private:
  struct Frame {
    ordered_json* value;
    std::string pointer;
    std::string key;
  };

  ordered_json* place(ordered_json value, std::string& pointer) {
    if (open_.empty()) {
      document_.root = std::move(value);
      document_.lines[""] = cursor_.token_line;
      return &document_.root;
    }
    Frame& frame = open_.back();
    if (frame.value->is_array()) {
      pointer = child_pointer(frame.pointer, frame.value->size());
      document_.lines[pointer] = cursor_.token_line;
      frame.value->push_back(std::move(value));
      return &frame.value->back();
    }
    pointer = child_pointer(frame.pointer, frame.key);
    return &((*frame.value)[frame.key] = std::move(value));
  }

  bool put(ordered_json value) {
    std::string pointer;
    place(std::move(value), pointer);
    return true;
  }

  bool open(ordered_json value) {
    if (open_.size() >= kDeepest) {
      problems_.add({document_.file, cursor_.token_line, open_.front().pointer,
                     "objects and lists are nested too deeply",
                     std::to_string(kDeepest) + " levels", ""});
      return false;
    }
    std::string pointer;
    ordered_json* placed = place(std::move(value), pointer);
    open_.push_back({placed, pointer, ""});
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  Document& document_;
  const Cursor& cursor_;
  ProblemList& problems_;
  std::vector<Frame> open_;
};

}  // namespace

int Document::line_of(std::string_view pointer) const {
  std::string at(pointer);
  for (;;) {
    const auto found = lines.find(at);
    if (found != lines.end()) return found->second;
    if (at.empty()) return 1;
    at = parent_pointer(at);
  }
}

Document parse_document(std::string_view text, const std::string& file, ProblemList& problems) {
  Document document;
  document.file = file;
  Cursor cursor;
  Builder builder(document, cursor, problems);
  ordered_json::sax_parse(CountingIterator(text.data(), &cursor),
                          CountingIterator(text.data() + text.size(), &cursor), &builder);
  return document;
}

}  // namespace gradwire::scenarios
