#pragma once
#include <cctype>
#include <string>
#include <string_view>
#include <vector>

/// A small well-formedness check (tags nest, attributes are quoted, & starts an entity, one root);
/// the empty string = well-formed, else what is wrong and where. Enough for what we write.
inline std::string xml_problem(std::string_view xml) {
  std::vector<std::string> open;
  std::size_t at = 0, roots = 0;
  const auto problem = [&](const std::string& what) {
    return what + " near \"" + std::string(xml.substr(at, 40)) + "\"";
  };
  while (at < xml.size()) {
    if (xml[at] == '&') {
      const std::size_t end = xml.find(';', at);
      if (end == std::string_view::npos || end - at > 8) return problem("a bare &");
    }
    if (xml[at] != '<') {
      if (open.empty() && !std::isspace(static_cast<unsigned char>(xml[at])))
        return problem("text outside the root");
      ++at;
      continue;
    }
    const std::size_t end = xml.find('>', at);
    if (end == std::string_view::npos) return problem("a tag does not end");
    std::string tag(xml.substr(at + 1, end - at - 1));
    if (tag.starts_with("?") || tag.starts_with("!")) {
      at = end + 1;
      continue;
    }
    if (tag.starts_with("/")) {
      if (open.empty() || open.back() != tag.substr(1)) return problem("an end tag does not match");
      open.pop_back();
      at = end + 1;
      continue;
    }
    const bool closed = tag.ends_with("/");
    if (closed) tag.pop_back();
    const std::size_t name_end = std::min(tag.find_first_of(" \n\t"), tag.size());
    const std::string name = tag.substr(0, name_end);
    for (std::size_t i = name_end; i < tag.size();) {
      if (std::isspace(static_cast<unsigned char>(tag[i]))) {
        ++i;
        continue;
      }
      const std::size_t equals = tag.find("=\"", i);
      const std::size_t quote = equals == std::string::npos ? equals : tag.find('"', equals + 2);
      if (quote == std::string::npos) return problem("an attribute without quotes");
      if (tag.substr(equals + 2, quote - equals - 2).find('<') != std::string::npos)
        return problem("< in an attribute");
      i = quote + 1;
    }
    if (open.empty() && ++roots > 1) return problem("a second root");
    if (!closed) open.push_back(name);
    at = end + 1;
  }
  return open.empty() ? "" : "not closed: " + open.back();
}
