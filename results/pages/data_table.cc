#include "results/pages/data_table.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/plain_text.h"
#include "results/export/csv.h"
#include "results/figures/svg.h"

namespace gradwire::results {
namespace {

using Json = nlohmann::ordered_json;
using Kind = DataColumn::Kind;

std::string shown_value(const DataColumn& column, const DataValue& value) {
  if (column.kind != Kind::kNumber) return value.text.empty() ? "-" : value.text;
  return std::isfinite(value.number) ? format_value(value.number, column.quantity) : "-";
}

Json json_value(const DataColumn& column, const DataValue& value) {
  if (column.kind != Kind::kNumber) return value.text;
  if (!std::isfinite(value.number)) return nullptr;
  const bool whole = column.quantity == Quantity::kCount || column.quantity == Quantity::kBytes;
  if (whole && value.number == std::floor(value.number) && std::abs(value.number) < 9e15)
    return static_cast<std::int64_t>(value.number);
  return value.number;
}

}  // namespace

HtmlTable shown(const DataTable& table) {
  HtmlTable out(1);
  for (const DataColumn& column : table.columns) out[0].push_back(column.title);
  for (const auto& row : table.rows) {
    out.emplace_back();
    for (std::size_t i = 0; i < row.size(); ++i) {
      out.back().push_back(shown_value(table.columns[i], row[i]));
      std::ranges::replace(out.back().back(), '\n', ' ');  // a row is a line
    }
  }
  return out;
}

std::string data_html(const DataTable& table, std::set<std::string>* anchors) {
  std::string out = "<div class=\"scroll\"><table class=\"data\">\n<thead>\n<tr>";
  const auto cell = [&](const char* tag, const DataColumn& column, const std::string& html) {
    const bool text = column.kind != Kind::kNumber;
    out += std::string("<") + tag + (text ? " class=\"text\">" : ">") + html + "</" + tag + ">";
  };
  std::set<std::string> own;  // an anchor's name is there once
  std::set<std::string>& places = anchors ? *anchors : own;
  for (const DataColumn& column : table.columns) cell("th", column, xml_escape(column.title));
  out += "</tr>\n</thead>\n";
  for (const auto& row : table.rows) {
    out += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string text = xml_escape(shown_value(table.columns[i], row[i]));
      const bool place = table.columns[i].kind == Kind::kPlace && !row[i].text.empty();
      cell("td", table.columns[i],
           !place
               ? text
               : "<a" +
                     (places.insert(row[i].text).second ? " id=\"" + text + "\"" : std::string()) +
                     " href=\"#" + text + "\">" + text + "</a>");
    }
    out += "</tr>\n";
  }
  return out + "</table></div>\n";
}

std::string without_tags(std::string markdown) {
  for (std::size_t at = markdown.find('<'); at != std::string::npos; at = markdown.find('<', at))
    markdown.replace(at, 1, "&lt;");
  return printable(markdown);
}

std::string data_csv(const DataTable& table) {
  std::vector<std::string> cells;
  for (const DataColumn& column : table.columns) cells.push_back(column.key);
  std::string out = csv_line(cells);
  for (const auto& row : table.rows) {
    cells.clear();
    for (std::size_t i = 0; i < row.size(); ++i) {
      const Json value = json_value(table.columns[i], row[i]);
      cells.push_back(value.is_null() ? "" : value.is_string() ? row[i].text : value.dump());
    }
    out += csv_line(cells);
  }
  return out;
}

std::string data_json(const DataTable& table, int indent) {
  Json rows = Json::array();
  for (const auto& row : table.rows) {
    Json object = Json::object();
    for (std::size_t i = 0; i < row.size(); ++i)
      object[table.columns[i].key] = json_value(table.columns[i], row[i]);
    rows.push_back(std::move(object));
  }
  return rows.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace gradwire::results
