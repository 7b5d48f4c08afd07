#pragma once
#include <string>

#include "tests/results/xml_check.h"

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Anything that a browser would fetch or run.
inline std::string external_reference(const std::string& html) {
  std::string rest = html;
  // A namespace's name is not fetched.
  const std::string name = "http://www.w3.org/2000/svg";
  for (std::size_t at = rest.find(name); at != std::string::npos; at = rest.find(name))
    rest.erase(at, name.size());
  const std::string within = "href=\"#";  // on the same page
  for (std::size_t at = rest.find(within); at != std::string::npos; at = rest.find(within))
    rest.erase(at, within.size());
  for (const char* sign : {"http:", "https:", "//", "url(", "src=", "href=", "<script", "<link",
                           "@import", "<img", "<iframe", "file:"})
    if (has(rest, sign)) return sign;
  return "";
}

/// HTML of ours is XML but for the doctype and the meta tags.
inline std::string html_problem(std::string html) {
  for (std::size_t at = html.find("<meta "); at != std::string::npos; at = html.find("<meta "))
    html.erase(at, html.find('>', at) - at + 1);
  const std::size_t style = html.find("<style>"), end = html.find("</style>");
  html.erase(style, end - style + 8);
  return xml_problem(html);
}

inline std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}
