#include "results/report/planner.h"

#include <algorithm>
#include <cctype>

#include "results/figures/svg.h"

/// The first screen as HTML.
namespace gradwire::results {
namespace {

/// Escaped, and a figure with its unit and spread on one line.
std::string kept_together(const std::string& text) {
  constexpr std::string_view kSpace = "\u00a0", kSpread = "\u00b1";
  const std::string html = xml_escape(text);
  const std::string_view view = html;
  std::string out;
  for (std::size_t i = 0; i < view.size(); ++i) {
    const bool number = i > 0 && std::isdigit(static_cast<unsigned char>(view[i - 1]));
    const std::string_view before = view.substr(0, i),
                           after = view.substr(std::min(i + 1, view.size()));
    const bool unit = number && (after.starts_with(kSpread) || after.starts_with("\u00b5") ||
                                 after.find_first_of("%kMGTnmsB") == 0);
    if (view[i] == ' ' && (unit || before.ends_with(kSpread)))
      out += kSpace;
    else
      out += view[i];
  }
  return out;
}

std::string planner_cell(const char* title, const std::string& html) {
  return "<td data-label=\"" + std::string(title) + "\">" + html + "</td>";
}

std::string name_cell(const PlannerPart& part, const PlannerLine& line, bool first) {
  std::string html;
  if (first && !part.name.empty()) {
    html = xml_escape(part.name);
    if (!part.link.empty()) html = "<a href=\"" + part.link + "\">" + html + "</a>";
    if (!part.note.empty()) html += ": " + xml_escape(part.note);
  }
  if (!line.conditions.empty())
    html += (html.empty() ? "" : "<br/>") + ("<b>" + xml_escape(line.conditions) + "</b>");
  return html;
}

std::string planner_answers(const PlannerLine& line) {
  std::string out = "<dl class=\"answers planner\">\n";
  for (const PlannerColumn& column : kPlannerColumns)
    out += "<div>" + html_element("dt", column.question) + "<dd>" +
           kept_together(line.*column.text) + "</dd>\n" + "</div>\n";
  return out + "</dl>\n";
}

}  // namespace

std::string planner_html(const std::vector<PlannerPart>& parts) {
  if (parts.size() == 1 && parts[0].lines.size() == 1) return planner_answers(parts[0].lines[0]);
  std::string out = "<table class=\"planner\">\n<thead>\n<tr><th scope=\"col\">runs</th>";
  for (const PlannerColumn& column : kPlannerColumns)
    out += "<th scope=\"col\">" + std::string(column.title) + "</th>";
  out += "</tr>\n</thead>\n";
  for (const PlannerPart& part : parts)
    for (std::size_t i = 0; i < part.lines.size(); ++i) {
      const PlannerLine& line = part.lines[i];
      out += i == 0 ? "<tr class=\"first\">" : "<tr>";
      out += planner_cell("runs", name_cell(part, line, i == 0));
      for (const PlannerColumn& column : kPlannerColumns)
        out += planner_cell(column.title, kept_together(line.*column.text));
      out += "</tr>\n";
    }
  return out + "</table>\n";
}

}  // namespace gradwire::results
