#include <algorithm>
#include <catch2/catch.hpp>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "compressors/codec.h"
#include "trainers/methods/catalogue.h"
#include "trainers/updates/catalogue.h"

/// What a method, an update rule or a codec is, its row says: no other code compares names.
/// Scenario files, tables of cases and texts for people may hold them.
using namespace gradwire;

namespace {

std::set<std::string> catalogue_names() {
  std::set<std::string> names;
  for (const auto& row : methods::method_catalogue()) names.insert(row.name);
  for (const auto& row : trainers::update_catalogue()) names.insert(row.name);
  for (const auto& row : compressors::codec_catalogue()) names.insert(row.name);
  return names;
}

/// Without comments; what stands in strings stays.
std::string code_of(const std::string& text) {
  std::string code;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (quoted && text[i] == '\\') {
      code += text.substr(i++, 2);
      continue;
    }
    if (text[i] == '"' && (i == 0 || text[i - 1] != '\'')) quoted = !quoted;
    if (!quoted && text.compare(i, 2, "//") == 0) i = std::min(text.find('\n', i), text.size() - 1);
    code += text[i];
  }
  return code;
}

/// The text before `end` without spaces at its end.
std::string before(const std::string& code, std::size_t end) {
  while (end > 0 && std::isspace(static_cast<unsigned char>(code[end - 1]))) --end;
  return code.substr(end < 60 ? 0 : end - 60, std::min<std::size_t>(end, 60));
}

bool ends_with_any(const std::string& text, const std::vector<std::string>& ends) {
  return std::any_of(ends.begin(), ends.end(),
                     [&](const std::string& end) { return text.ends_with(end); });
}

/// The last name in `text`: of "workload.precision ==" it is "precision".
std::string last_name(std::string text) {
  const auto part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  while (!text.empty() && !part(text.back())) text.pop_back();
  std::size_t from = text.size();
  while (from > 0 && part(text[from - 1])) --from;
  return text.substr(from);
}

/// Words that are codecs' names too: of number formats, of delays that nobody makes, of times that
/// have no source, of what may be left out.
const std::set<std::string> kOtherThings = {"precision", "delay_by",           "assume_steps",
                                            "compute",   "compute_provenance", "reduction_"};

struct Comparison {
  std::string what;      ///< the name that a value is compared with
  std::string compared;  ///< the last name of the value
};

std::vector<Comparison> comparisons_in(const std::string& text,
                                       const std::set<std::string>& names) {
  std::vector<Comparison> found;
  const std::string code = code_of(text);
  // Each quote may open a string; what lies between strings is no name.
  for (std::size_t open = code.find('"'), close = 0;
       (close = code.find('"', open + 1)) != std::string::npos; open = close) {
    const std::string word = code.substr(open + 1, close - open - 1);
    std::size_t after = close + 1;
    while (after < code.size() && std::isspace(static_cast<unsigned char>(code[after]))) ++after;
    const std::string ahead = before(code, open), behind = code.substr(after, 2);
    if (names.contains(word) &&
        (ends_with_any(ahead, {"==", "!=", ".starts_with(", ".ends_with(", ".compare("}) ||
         behind == "==" || behind == "!="))
      found.push_back({word, last_name(ahead)});
  }
  return found;
}

}  // namespace

TEST_CASE("no code outside the catalogues compares a method's name", "[methods]") {
  const std::set<std::string> names = catalogue_names();
  CHECK(names.contains("dgc"));   // a method and a codec
  CHECK(names.contains("adam"));  // an update rule
  CHECK(names.contains("sz"));    // a codec
  const std::filesystem::path root = std::getenv("GRADWIRE_SOURCE_DIR");
  const std::set<std::filesystem::path> own = {root / "trainers/methods",
                                               root / "trainers/updates"};
  int files = 0;
  std::set<std::string> others;
  for (const char* folder : {"base", "sim", "scenarios", "results", "trainers", "emulator",
                             "runner", "bench", "cli", "gui"}) {
    for (auto entry = std::filesystem::recursive_directory_iterator(root / folder);
         entry != std::filesystem::recursive_directory_iterator(); ++entry) {
      if (own.contains(entry->path())) entry.disable_recursion_pending();
      const std::string end = entry->path().extension();
      if (!entry->is_regular_file() || (end != ".cc" && end != ".h" && end != ".cu")) continue;
      ++files;
      std::ostringstream text;
      text << std::ifstream(entry->path()).rdbuf();
      for (const Comparison& one : comparisons_in(text.str(), names)) {
        if (kOtherThings.contains(one.compared)) {
          others.insert(one.compared);
          continue;
        }
        INFO(entry->path() << " compares " << one.compared << " with \"" << one.what << "\"");
        CHECK(false);
      }
    }
  }
  CHECK(files > 400);
  CHECK(others == kOtherThings);  // none is on the list for nothing
}

TEST_CASE("a comparison with a method's name is found", "[methods]") {
  const std::set<std::string> names = catalogue_names();
  const auto found = [&](const std::string& line) { return comparisons_in(line, names).size(); };
  CHECK(found(R"(if (method.name == "dgc") return 3;)") == 1);
  CHECK(found(R"(return "say", name != "adam";)") == 1);
  CHECK(found(R"(while ("topk" == name) {)") == 1);
  CHECK(found("name ==\n    \"terngrad\"") == 1);
  CHECK(found(R"(if (label.starts_with("qsgd")) return;)") == 1);
  CHECK(found(R"(a == "fp16" || b == "bf16")") == 2);
  CHECK(found(R"('"'; c == "sz")") == 1);
  CHECK(comparisons_in(R"(scenario.workload.precision == "fp16")", names)[0].compared ==
        "precision");
  // No comparisons, or not with such names.
  CHECK(found(R"(make_codec("dgc"))") == 0);
  CHECK(found(R"({"dgc", made<Dgc>}, {"name", "topk"})") == 0);
  CHECK(found(R"(// name == "dgc")") == 0);
  CHECK(found(R"(kind == "ring")") == 0);
  CHECK(found(R"(say("set name == \"dgc\""))") == 0);
}
