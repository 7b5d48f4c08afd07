#pragma once
#include <span>
#include <string>
#include <vector>

#include "results/figures/figure.h"

/// Parts of self-contained HTML reports: no script, no reference to anything outside, light and
/// dark by the reader's preference, printable.
namespace gradwire::results {

struct DrawnFigure {
  Figure figure;
  double width = 540, height = 330;
  bool wide = false;
};

/// In the size in which it is drawn; `inline_html`: for a page (svg.h).
std::string svg_of(const DrawnFigure& drawn, bool inline_html);
/// `stem`.svg and its data as `stem`.csv.
void write_figure(const DrawnFigure& drawn, const std::string& stem);

/// Rows of cells; a row with a single cell is a heading across.
using HtmlTable = std::vector<std::vector<std::string>>;

/// <tag>text</tag>, the text escaped.
std::string html_element(const std::string& tag, const std::string& text);
/// `header`: the first row is one. `kind`: a class ("text": cells to the left).
std::string html_table(const HtmlTable& table, bool header, const std::string& kind);
/// As inline SVG, each with a table of what it shows; empty without figures.
std::string html_figures(std::span<const DrawnFigure> figures);
/// The whole document around `body`; `style`: rules after the reports' own.
std::string html_page(const std::string& title, const std::string& body,
                      const std::string& style = {});

extern const char* const kHtmlStyle;

}  // namespace gradwire::results
