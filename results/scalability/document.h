#pragma once
#include <string>
#include <utility>
#include <vector>

#include "results/scalability/figures.h"

/// A report as parts, so that HTML and Markdown say the same.
namespace gradwire::results {

struct Block {
  enum class Kind {
    kHeading,
    kParagraph,
    kNote,
    kList,
    kNumbers,
    kTable,
    kTextTable,
    kFigures,
    kCode
  };
  Kind kind = Kind::kParagraph;
  std::vector<std::string> lines;  ///< paragraphs, items
  HtmlTable table;                 ///< its first row is the header
  /// Columns of figures; those of one column stand under one another and line up.
  std::vector<std::vector<NamedFigure>> figures;
};

Block heading(std::string text);  ///< of a table
Block paragraph(std::string text);
Block note(std::string text);
Block bullet_list(std::vector<std::string> items);
Block numbered_list(std::vector<std::string> items);
Block table_of(HtmlTable table);       ///< numbers to the right
Block text_table_of(HtmlTable table);  ///< all to the left
Block code(std::string text);
Block figures_of(std::vector<std::vector<NamedFigure>> columns);

struct DocumentSection {
  std::string heading;
  std::vector<Block> blocks;
};

struct Document {
  std::string title, lead;
  std::vector<std::string> chips;     ///< what the figures are, in a word each
  std::vector<std::string> warnings;  ///< printed at the top
  std::vector<DocumentSection> sections;
};

/// One self-contained file: no script, nothing is fetched; prints on A4 and Letter.
std::string document_html(const Document& document);
/// CommonMark with pipe tables; figures as links to figures/NAME.svg.
std::string document_markdown(const Document& document);
/// All figures, in order.
std::vector<const NamedFigure*> figures_in(const Document& document);

}  // namespace gradwire::results
