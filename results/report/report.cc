#include "results/report/report.h"

#include <algorithm>
#include <set>

#include "base/file_descriptor.h"
#include "base/joined_texts.h"
#include "results/figures/svg.h"
#include "results/pages/data_table.h"
#include "results/pages/html_page.h"
#include "results/report/choice.h"
#include "results/report/first_screen.h"
#include "results/report/forms.h"
#include "results/report/links.h"
#include "results/report/memory.h"
#include "results/report/timelines.h"
#include "results/runs/place.h"
#include "results/runs/scenario_view.h"

namespace gradwire::results {
namespace {

using Table = HtmlTable;

/// Distinct values of one header field, in order.
std::string distinct(const ReportData& data, std::string (*value)(const RunHeader&),
                     const char* separator = ", ") {
  std::vector<std::string> seen;
  for (const ReportGroup& group : data.groups)
    for (const RunSummary& run : group.group.runs) {
      const std::string text = value(run.header);
      if (!text.empty() && std::ranges::find(seen, text) == seen.end()) seen.push_back(text);
    }
  std::string out;
  for (const std::string& text : seen) out += (out.empty() ? "" : separator) + text;
  return out;
}

std::string answers_html(const std::vector<Answer>& list, bool small) {
  std::string out = small ? "<dl class=\"answers small\">\n" : "<dl class=\"answers\">\n";
  for (const Answer& answer : list)
    out += "<div>" + html_element("dt", answer.question) + html_element("dd", answer.answer) +
           "</div>\n";
  return out + "</dl>\n";
}

std::string title_of(const ReportData& data, const ReportOptions& options) {
  if (!options.title.empty()) return options.title;
  const std::string name = distinct(data, [](const RunHeader& h) { return h.scenario_name; });
  Groups all;
  for (const ReportGroup& group : data.groups) all.push_back(&group);
  return (one_choice(all) ? "Gradwire report: " : "Gradient compression: ") + name;
}

std::string header_html(const ReportData& data, const ReportOptions& options) {
  std::string out = html_element("h1", title_of(data, options));
  const std::string description = distinct(
      data,
      [](const RunHeader& header) { return scenario_value(header.scenario_json, "/description"); },
      " ");
  if (!description.empty()) out += "<p class=\"lead\">" + xml_escape(description) + "</p>\n";
  if (!options.summary.empty()) out += html_element("p", options.summary);
  std::set<std::string> times, learning;
  std::size_t used = 0;
  int diverged = 0;
  for (const ReportGroup& group : data.groups) {
    used += group.group.runs.size();
    diverged += group.group.diverged;
    times.insert(group.time_provenance);
    if (!group.learning_provenance.empty()) learning.insert(group.learning_provenance);
  }
  out += "<ul class=\"chips\">";
  const std::string ended = diverged == 0
                                ? " finished runs in "
                                : " runs, " + std::to_string(diverged) + " of which diverged, in ";
  out += html_element(
      "li", std::to_string(used) + ended + std::to_string(data.groups.size()) + " groups");
  for (const std::string& how : times) out += html_element("li", "time: " + how);
  for (const std::string& how : learning) out += html_element("li", "learning: " + how);
  const std::string compute =
      distinct(data, [](const RunHeader& h) { return h.compute_provenance; });
  if (!compute.empty() && compute != "none") out += html_element("li", "compute times: " + compute);
  if (!data.unfinished.empty())
    out += html_element("li", std::to_string(data.unfinished.size()) + " unfinished runs left out");
  return out + "</ul>\n";
}

std::string answers_section(const ReportData& data) {
  std::string out = "<h2>In short</h2>\n";
  if (data.sections.size() == 1) return out + answers_html(answers(data, data.sections[0]), false);
  return out + html_table(winners_table(data), true, "text") + html_figures(overview_figures(data));
}

/// The closing table with a line above each section's rows.
std::string table_section(const ReportData& data) {
  std::vector<RunGroup> ordered;
  for (const Section& section : data.sections)
    for (const std::size_t i : section.groups) {
      ordered.push_back(data.groups[i].group);
      if (data.sections.size() > 1) ordered.back().label = data.groups[i].name;
    }
  const Table plain = closing_table(ordered);
  Table table = {plain[0]};
  std::size_t row = 1;
  for (const Section& section : data.sections) {
    if (data.sections.size() > 1) table.push_back({section.label});
    for (std::size_t i = 0; i < section.groups.size(); ++i) table.push_back(plain[row++]);
  }
  return "<h2>All figures</h2>\n" + html_table(table, true, "") +
         "<p class=\"note\">Mean \u00b1 sample standard deviation over the seeds, in the unit of "
         "the "
         "mean. Compression ratio: what a worker encodes of its gradients over the bytes of their "
         "fp32 values. Traffic ratio: bytes on the wire over those that the same exchange of fp32 "
         "values puts there. Time to target: simulated time "
         "until the held-out accuracy first reached the target.</p>\n";
}

std::string sections_html(const ReportData& data) {
  std::string out;
  if (data.sections.size() == 1)
    return "<h2>Figures</h2>\n" + html_figures(section_figures(data, data.sections[0]));
  for (const Section& section : data.sections) {
    out += html_element("h2", section.label);
    out += answers_html(answers(data, section), true);
    out += "<h3>Figures</h3>\n" + html_figures(section_figures(data, section));
  }
  return out;
}

/// Every leaf of the scenario that all groups share, and what was swept.
std::string asked_section(const ReportData& data) {
  std::map<std::string, std::set<std::string>> values;
  std::map<std::string, std::size_t> count;
  for (const ReportGroup& group : data.groups)
    for (const auto& [pointer, text] :
         scenario_leaves(group.group.runs.front().header.scenario_json)) {
      values[pointer].insert(text);
      ++count[pointer];
    }
  Table common, swept;
  for (const auto& [pointer, texts] : values) {
    if (pointer == "/name" || pointer == "/description" || pointer.starts_with("/$schema") ||
        pointer.starts_with("/expected") || pointer.starts_with("/seed") ||
        pointer.starts_with("/sweep") || pointer == "/schema_version")
      continue;
    const std::string joined = joined_texts(texts, ", ");
    if (joined.empty()) continue;
    (texts.size() == 1 && count[pointer] == data.groups.size() ? common : swept)
        .push_back({pointer, joined});
  }
  std::string out = "<h2>What was asked</h2>\n";
  if (!swept.empty())
    out += "<h3>What differs between the runs</h3>\n" + html_table(swept, false, "text");
  if (!common.empty())
    out += "<h3>What is the same in all</h3>\n" + html_table(common, false, "text");
  return out;
}

std::string assumptions_section(const ReportData& data, const ReportOptions& options) {
  std::string out = "<h2>What this rests on</h2>\n<ul>\n";
  for (const std::string& sentence : assumptions_of(data)) out += html_element("li", sentence);
  for (const std::string& sentence : options.assumptions) out += html_element("li", sentence);
  return out + "</ul>\n";
}

std::string unfinished_table(const ReportData& data) {
  if (data.unfinished.empty()) return "";
  Table table = {{"left out", "scenario", "method", "seed", "status"}};
  for (const RunSummary& run : data.unfinished)
    table.push_back({"run " + std::to_string(run.id), run.header.scenario_name, run.header.method,
                     std::to_string(run.header.seed), status_in_words(run)});
  return html_table(table, true, "text");
}

std::string provenance_section(const ReportData& data, std::set<std::string>& anchors) {
  using Kind = DataColumn::Kind;
  DataTable table;
  for (const char* title :
       {"group", "time", "learning", "compute times", "scenario hash", "seeds", "learning hashes"})
    table.columns.push_back({title, title, Quantity::kPlain, Kind::kText});
  table.columns.push_back({"first_run", "first run", Quantity::kPlain, Kind::kPlace});
  for (const ReportGroup& group : data.groups) {
    const RunHeader& header = group.group.runs.front().header;
    std::string seeds, hashes;
    for (const RunSummary& run : group.group.runs) {
      seeds += (seeds.empty() ? "" : ", ") + std::to_string(run.header.seed);
      hashes += (hashes.empty() ? "" : " ") + run.learning_hash.substr(0, 8);
    }
    const RunSummary& first = group.group.runs.front();
    table.rows.push_back({group.group.label, group.time_provenance + ", " + engine_of(header),
                          group.learning_provenance.empty() ? "-" : group.learning_provenance,
                          header.compute_provenance + ", " + header.device, header.scenario_hash,
                          seeds, hashes, place_of(first.id, 0, first.simulated_s)});
  }
  const Table facts = {
      {"Scenario files", distinct(data, [](const RunHeader& h) { return h.scenario_file; })},
      {"Gradwire", distinct(data, [](const RunHeader& h) { return h.version; })},
      {"Machines", distinct(data, [](const RunHeader& h) { return h.host; })},
      {"Data sets", distinct(data, [](const RunHeader& h) { return h.data_set; })},
      {"Runs", data.runs.front().started_at + " to " + data.runs.back().ended_at + " (UTC)"}};
  return "<h2>Where the figures come from</h2>\n" + html_table(facts, false, "text") +
         data_html(table, &anchors) + unfinished_table(data) +
         "<p class=\"note\">Under each figure stands where its values come from and the hash of "
         "the "
         "scenarios it was drawn from. A place such as run:42@1s..2s is a time range of a run: an "
         "anchor of this page, and what gradwire gui opens. The same scenario, seed and version "
         "give the same learning "
         "hash on the same kind of machine.</p>\n";
}

std::string body_html(const Store& store, const ReportData& data, const ReportOptions& options) {
  const PlannerPart answer = {"", "", "", planner_lines(data, 8)};
  std::string out = header_html(data, options) + planner_html({answer}) + answers_section(data) +
                    table_section(data) + sections_html(data);
  std::set<std::string> anchors;  // the first that names a place is where it leads to
  out += timelines_section(store, data, anchors);
  out += links_section(store, data, anchors);
  return out + memory_section(store, data) + asked_section(data) +
         assumptions_section(data, options) + provenance_section(data, anchors);
}

/// A whole report as a part of another page: its headings one deeper.
std::string deeper(std::string html) {
  for (const char level : {'3', '2', '1'})
    for (const std::string mark : {"<h", "</h"}) {
      const std::string from = mark + level + ">", to = mark + static_cast<char>(level + 1) + ">";
      for (std::size_t at = html.find(from); at != std::string::npos; at = html.find(from, at))
        html.replace(at, from.size(), to);
    }
  return html;
}

/// Workloads are no alternatives to each other: an answer for each, then a report of each.
std::string contents_html(const Store& store, const std::vector<WorkloadRuns>& workloads,
                          const ReportOptions& options) {
  const std::string title = options.title.empty() ? "Gradwire report" : options.title;
  const AccuracyKnowledge knowledge = knowledge_of(store, options);
  std::vector<PlannerPart> answers;
  std::string parts, unfinished;
  for (const WorkloadRuns& workload : workloads) {
    if (!workload.finished) {
      unfinished += html_element("li", unfinished_words(workload));
      continue;
    }
    const std::string anchor = "workload-" + std::to_string(answers.size() + 1);
    const ReportData data = data_of(store, workload.runs, knowledge, options);
    answers.push_back(planner_part(workload, data, workloads.size()));
    answers.back().link = "#" + anchor;
    ReportOptions own = options;
    own.title = workload.name;
    own.summary.clear();
    parts +=
        "<section id=\"" + anchor + "\">\n" + deeper(body_html(store, data, own)) + "</section>\n";
  }
  std::string head = html_element("h1", title);
  if (!options.summary.empty()) head += html_element("p", options.summary);
  head += "<h2 class=\"contents\">The answers</h2>\n" + planner_html(answers);
  if (!unfinished.empty()) head += "<ul>\n" + unfinished + "</ul>\n";
  return html_page(title, head + parts);
}

}  // namespace

std::string report_html(const Store& store, std::span<const RunId> runs,
                        const ReportOptions& options) {
  const auto workloads = workloads_of(store, runs);
  if (workloads.size() > 1) return contents_html(store, workloads, options);
  const ReportData data = data_of(store, runs, knowledge_of(store, options), options);
  return html_page(title_of(data, options), body_html(store, data, options));
}

void write_report(const Store& store, std::span<const RunId> runs, const std::string& path,
                  const ReportOptions& options) {
  write_file(path, report_html(store, runs, options));
}

}  // namespace gradwire::results
