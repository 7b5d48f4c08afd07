#include "results/pages/html_page.h"

#include "base/file_descriptor.h"
#include "results/figures/figure_table.h"
#include "results/figures/svg.h"

namespace gradwire::results {
namespace {
constexpr std::size_t kTwinPoints = 12;  ///< of a curve in a page's table
}  // namespace

std::string svg_of(const DrawnFigure& drawn, bool inline_html) {
  SvgOptions options;
  options.inline_html = inline_html;
  options.paint.width = drawn.width;
  options.paint.height = drawn.height;
  return to_svg(drawn.figure, options);
}

void write_figure(const DrawnFigure& drawn, const std::string& stem) {
  write_file(stem + ".svg", svg_of(drawn, false));
  write_file(stem + ".csv", figure_csv(drawn.figure));
}

std::string html_element(const std::string& tag, const std::string& text) {
  return "<" + tag + ">" + xml_escape(text) + "</" + tag + ">\n";
}

std::string html_table(const HtmlTable& table, bool header, const std::string& kind) {
  std::string out = "<div class=\"scroll\"><table" +
                    (kind.empty() ? std::string() : " class=\"" + kind + "\"") + ">\n";
  for (std::size_t r = 0; r < table.size(); ++r) {
    const bool head = header && r == 0;
    if (head) out += "<thead>\n";  // repeated on each page of paper
    const bool section = table[r].size() == 1 && table[0].size() > 1;
    out += section ? "<tr class=\"section\">" : "<tr>";
    const std::string tag = head ? "th" : "td";
    for (const std::string& cell : table[r]) {
      const std::string span =
          section ? " colspan=\"" + std::to_string(table[0].size()) + "\"" : "";
      out += "<" + tag + span + (head ? " scope=\"col\"" : "") + ">" + xml_escape(cell) + "</" +
             tag + ">";
    }
    out += head ? "</tr>\n</thead>\n" : "</tr>\n";
  }
  return out + "</table></div>\n";
}

namespace {

/// What is drawn, for those who cannot see it or want the numbers.
std::string table_twin(const Figure& figure) {
  const FigureTable twin = figure_table(figure, kTwinPoints);
  if (twin.rows.size() < 2) return "";
  return "<details><summary>Table</summary>\n" + html_table(twin.rows, true, "") +
         (twin.thinned ? "<p class=\"note\">Of each curve " + std::to_string(kTwinPoints) +
                             " points, its ends among them.</p>\n"
                       : "") +
         "</details>\n";
}

}  // namespace

std::string html_figures(std::span<const DrawnFigure> figures) {
  if (figures.empty()) return {};
  std::string out = "<div class=\"figures\">\n";
  for (const DrawnFigure& drawn : figures) {
    out += drawn.wide ? "<figure class=\"wide\">\n" : "<figure>\n";
    out += svg_of(drawn, true) + table_twin(drawn.figure) + "</figure>\n";
  }
  return out + "</div>\n";
}

std::string html_page(const std::string& title, const std::string& body, const std::string& style) {
  std::string out =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n";
  out += html_element("title", title);
  out += "<style>\n:root{" + css_variables(Theme::light()) + "}\n";
  out += "@media screen and (prefers-color-scheme:dark){:root{" + css_variables(Theme::dark()) +
         "}}\n";
  out += kHtmlStyle + style + std::string("</style>\n</head>\n<body>\n<main>\n");
  return out + body + "</main>\n</body>\n</html>\n";
}

}  // namespace gradwire::results
