#include "results/points/json_documents.h"

#include <algorithm>
#include <sstream>

#include "base/plain_text.h"
#include "results/points/log_lines.h"

namespace gradwire::results {
namespace {

constexpr std::size_t kShown = 60;  ///< bytes of a line that is not read

/// Where a document begins in the line; npos where none does. Labels stand before events only.
std::size_t document_in(std::string_view line) {
  const auto first = line.find_first_not_of(" \t\r");
  return first != std::string_view::npos && line[first] == '{' ? first : line.find("{\"event\"");
}

class DocumentReader {
 public:
  DocumentReader(std::string_view text, const std::string& file)
      : text_(text), file_(file), stream_{std::string(text)} {}

  JsonDocuments read() {
    for (std::size_t at = 0; at < text_.size();) {
      const std::size_t end = std::min(text_.find('\n', at), text_.size());
      const std::size_t begin = document_in(text_.substr(at, end - at));
      if (begin == std::string_view::npos) {
        pass(text_.substr(at, end - at));
        at = end + 1;
        ++line_;
      } else {
        at = document(at + begin);
      }
    }
    flush();
    return std::move(found_);
  }

 private:
  /// The place behind it.
  std::size_t document(std::size_t begin) {
    flush();
    JsonDocument document{line_, {}};
    stream_.clear();
    stream_.seekg(static_cast<std::streamoff>(begin));
    try {
      stream_ >> document.value;
    } catch (const nlohmann::json::exception&) {
      refuse_log(file_, line_, "the JSON that begins here is damaged or cut off",
                 "let the program end; it writes the document's end");
    }
    const auto end = stream_.eof() ? text_.size() : static_cast<std::size_t>(stream_.tellg());
    line_ += static_cast<int>(std::count(text_.begin() + begin, text_.begin() + end, '\n'));
    found_.documents.push_back(std::move(document));
    return end;
  }

  void pass(std::string_view line) {
    if (line.find_first_not_of(" \t\r,[]") == std::string_view::npos) return;
    if (passed_++ > 0) return;
    passed_line_ = line_;
    passed_text_ = printable(line.substr(0, kShown));
  }

  void flush() {
    if (passed_ > 0)
      found_.unread.push_back(
          log_place(file_, passed_line_) + ": not read: " + passed_text_ +
          (passed_ > 1 ? " (and " + std::to_string(passed_ - 1) + " more lines)" : ""));
    passed_ = 0;
  }

  std::string_view text_;
  const std::string& file_;
  std::istringstream stream_;
  JsonDocuments found_;
  int line_ = 1;
  int passed_ = 0, passed_line_ = 0;
  std::string passed_text_;
};

}  // namespace

bool has_json_documents(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (document_in(text.substr(at, end - at)) != std::string_view::npos) return true;
    at = end + 1;
  }
  return false;
}

JsonDocuments read_json_documents(std::string_view text, const std::string& file) {
  return DocumentReader(text, file).read();
}

}  // namespace gradwire::results
