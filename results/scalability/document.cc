#include "results/scalability/document.h"

#include "results/figures/svg.h"

namespace gradwire::results {
namespace {

/// On top of the reports' style: figures of a column line up; on paper one column, parts whole.
const char* const kStyle = R"css(
.columns{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:18px;align-items:start;margin-top:18px}
.columns.one{grid-template-columns:minmax(0,640px)}
.columns>div{display:grid;gap:10px}
.scroll{margin-top:6px}
.columns+.scroll,.columns+.long,.columns+p{margin-top:18px}
.verdict{border-left:5px solid var(--gw-s0);padding:2px 0 2px 18px;margin:18px 0 0}
.verdict p{font-size:17px;line-height:1.5;margin:0 0 8px;max-width:80ch}
.warnings{border:2px solid var(--gw-ink);border-radius:6px;padding:10px 16px;margin:18px 0 0}
.warnings p{margin:0;font-weight:600}
.warnings ul{margin:6px 0 0}
pre{font:13px/1.45 ui-monospace,"DejaVu Sans Mono",Menlo,monospace;white-space:pre-wrap;
 overflow-wrap:anywhere;border:1px solid var(--gw-grid);border-radius:6px;padding:10px 14px;margin:0}
ol{max-width:84ch;padding-left:24px}
@media screen and (max-width:820px){.columns{grid-template-columns:1fr}}
@page{margin:16mm 15mm 18mm}
@media print{
 h1{font-size:19pt}h2{font-size:13pt;margin-top:16pt;padding-top:8pt}body{font-size:9.5pt}
 p{margin-bottom:6pt}p,ul,ol,.verdict p,.lead,.note{max-width:none}.verdict p{font-size:11pt}.lead{font-size:10.5pt}.note{font-size:8.5pt}
 .chips li{font-size:8.5pt;padding:0 8pt}
 table{font-size:8pt}th,td{padding:2.2pt 4pt}
 .columns,.columns>div{gap:6pt;margin-top:6pt}.columns>div{margin-top:0;break-inside:avoid}
 .columns.one figure{max-width:105mm}
 figure{border-color:#bbb;padding:4pt}
 .scroll{overflow:visible;break-inside:avoid}.long .scroll{break-inside:auto}
 h3{font-size:10.5pt;margin:10pt 0 4pt;break-after:avoid}
 pre,li,.warnings,.verdict{break-inside:avoid}
 pre{font-size:8pt}
}
)css";

std::string items(const char* tag, const std::vector<std::string>& lines) {
  std::string out = std::string("<") + tag + ">\n";
  for (const std::string& line : lines) out += html_element("li", line);
  return out + "</" + tag + ">\n";
}

std::string figure_html(const NamedFigure& named) {
  return "<figure id=\"" + xml_escape(named.name) + "\">\n" + svg_of(named.drawn, true) +
         "</figure>\n";
}

std::string columns_html(const std::vector<std::vector<NamedFigure>>& columns) {
  std::string out =
      columns.size() == 1 ? "<div class=\"columns one\">\n" : "<div class=\"columns\">\n";
  for (const auto& column : columns) {
    out += "<div>\n";
    for (const NamedFigure& named : column) out += figure_html(named);
    out += "</div>\n";
  }
  return out + "</div>\n";
}

constexpr std::size_t kRowsTogether = 18;  ///< a longer table may be cut between pages

std::string table_html(const Block& block) {
  const std::string table =
      html_table(block.table, true, block.kind == Block::Kind::kTextTable ? "text" : "");
  return block.table.size() > kRowsTogether ? "<div class=\"long\">\n" + table + "</div>\n" : table;
}

std::string block_html(const Block& block) {
  switch (block.kind) {
    case Block::Kind::kHeading:
      return html_element("h3", block.lines[0]);
    case Block::Kind::kParagraph:
      return html_element("p", block.lines[0]);
    case Block::Kind::kNote:
      return "<p class=\"note\">" + xml_escape(block.lines[0]) + "</p>\n";
    case Block::Kind::kList:
      return items("ul", block.lines);
    case Block::Kind::kNumbers:
      return items("ol", block.lines);
    case Block::Kind::kTable:
    case Block::Kind::kTextTable:
      return table_html(block);
    case Block::Kind::kFigures:
      return columns_html(block.figures);
    case Block::Kind::kCode:
      return html_element("pre", block.lines[0]);
  }
  return {};
}

/// The first section is the answer: set apart.
std::string section_html(const DocumentSection& section, bool verdict) {
  std::string out = "<section>\n" + html_element("h2", section.heading);
  std::string body;
  for (const Block& block : section.blocks) body += block_html(block);
  return out + (verdict ? "<div class=\"verdict\">\n" + body + "</div>\n" : body) + "</section>\n";
}

std::string head_html(const Document& document) {
  std::string out = html_element("h1", document.title);
  if (!document.lead.empty()) out += "<p class=\"lead\">" + xml_escape(document.lead) + "</p>\n";
  out += "<ul class=\"chips\">";
  for (const std::string& chip : document.chips) out += html_element("li", chip);
  out += "</ul>\n";
  if (document.warnings.empty()) return out;
  return out + "<div class=\"warnings\">\n" + html_element("p", "Before you rely on this") +
         items("ul", document.warnings) + "</div>\n";
}

Block made(Block::Kind kind, std::vector<std::string> lines) {
  Block block;
  block.kind = kind;
  block.lines = std::move(lines);
  return block;
}

Block made(Block::Kind kind, HtmlTable table) {
  Block block;
  block.kind = kind;
  block.table = std::move(table);
  return block;
}

}  // namespace

Block heading(std::string text) {
  return made(Block::Kind::kHeading, std::vector{std::move(text)});
}
Block paragraph(std::string text) {
  return made(Block::Kind::kParagraph, std::vector{std::move(text)});
}
Block note(std::string text) {
  return made(Block::Kind::kNote, std::vector{std::move(text)});
}
Block bullet_list(std::vector<std::string> lines) {
  return made(Block::Kind::kList, std::move(lines));
}
Block numbered_list(std::vector<std::string> lines) {
  return made(Block::Kind::kNumbers, std::move(lines));
}
Block table_of(HtmlTable table) {
  return made(Block::Kind::kTable, std::move(table));
}
Block text_table_of(HtmlTable table) {
  return made(Block::Kind::kTextTable, std::move(table));
}
Block code(std::string text) {
  return made(Block::Kind::kCode, std::vector{std::move(text)});
}
Block figures_of(std::vector<std::vector<NamedFigure>> columns) {
  Block block;
  block.kind = Block::Kind::kFigures;
  block.figures = std::move(columns);
  return block;
}

std::string document_html(const Document& document) {
  std::string body = head_html(document);
  for (std::size_t i = 0; i < document.sections.size(); ++i)
    body += section_html(document.sections[i], i == 0);
  return html_page(document.title, body, kStyle);
}

std::vector<const NamedFigure*> figures_in(const Document& document) {
  std::vector<const NamedFigure*> list;
  for (const DocumentSection& section : document.sections)
    for (const Block& block : section.blocks)
      for (const auto& column : block.figures)
        for (const NamedFigure& named : column) list.push_back(&named);
  return list;
}

}  // namespace gradwire::results
