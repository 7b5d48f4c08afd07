#include "results/runs/summary.h"
#include "results/scalability/document.h"

namespace gradwire::results {
namespace {

/// Characters that CommonMark would read as markup.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char letter : text) {
    if (std::string_view("\\`*_[]<>|").find(letter) != std::string_view::npos) out += '\\';
    out += letter;
  }
  return out;
}

HtmlTable escaped(HtmlTable table) {
  for (auto& row : table) {
    for (std::string& cell : row) cell = escaped(cell);
    row.resize(table[0].size());
  }
  return table;
}

std::string items(const std::vector<std::string>& lines, bool numbers) {
  std::string out;
  for (std::size_t i = 0; i < lines.size(); ++i)
    out += (numbers ? std::to_string(i + 1) + ". " : "- ") + escaped(lines[i]) + "\n";
  return out;
}

std::string links(const Block& block) {
  std::string out;
  for (const auto& column : block.figures)
    for (const NamedFigure& named : column)
      out += "![" + escaped(named.drawn.figure.title) + "](figures/" + named.name + ".svg)\n";
  return out;
}

std::string block_markdown(const Block& block) {
  switch (block.kind) {
    case Block::Kind::kHeading:
      return "### " + escaped(block.lines[0]) + "\n";
    case Block::Kind::kParagraph:
    case Block::Kind::kNote:
      return escaped(block.lines[0]) + "\n";
    case Block::Kind::kList:
      return items(block.lines, false);
    case Block::Kind::kNumbers:
      return items(block.lines, true);
    case Block::Kind::kTable:
    case Block::Kind::kTextTable:
      return markdown(escaped(block.table));
    case Block::Kind::kFigures:
      return links(block);
    case Block::Kind::kCode:
      return "```sh\n" + block.lines[0] + "\n```\n";
  }
  return {};
}

}  // namespace

std::string document_markdown(const Document& document) {
  std::string out = "# " + escaped(document.title) + "\n\n";
  if (!document.lead.empty()) out += escaped(document.lead) + "\n\n";
  out += items(document.chips, false) + "\n";
  if (!document.warnings.empty())
    out += "**Before you rely on this**\n\n" + items(document.warnings, false) + "\n";
  for (const DocumentSection& section : document.sections) {
    out += "## " + escaped(section.heading) + "\n\n";
    for (const Block& block : section.blocks) out += block_markdown(block) + "\n";
  }
  return out;
}

}  // namespace gradwire::results
