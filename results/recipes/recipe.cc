#include "results/recipes/recipe.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/joined_texts.h"
#include "results/figures/svg.h"
#include "results/report/workloads.h"

namespace gradwire::results {
std::span<const Recipe> recipes() {
  static const std::array all = {overlap_recipe(), links_recipe(), stragglers_recipe(),
                                 break_even_recipe(), fairness_recipe()};
  return all;
}

const Recipe* find_recipe(const std::string& name) {
  const auto all = recipes();
  const auto found = std::ranges::find(all, name, &Recipe::name);
  return found == all.end() ? nullptr : &*found;
}

std::string name_in_workload(const ReportData& data, const ReportGroup& group) {
  for (const Section& section : data.sections)
    for (const std::size_t i : section.groups)
      if (&data.groups[i] == &group && !section.label.empty())
        return section.label + ": " + group.name;
  return group.name;
}

RecipeAnswer answer_of(const Recipe& recipe, const Store& store, std::span<const RunId> runs) {
  RecipeAnswer answer;
  answer.table.columns = recipe.columns;
  for (const WorkloadRuns& workload : workloads_of(store, runs)) {
    if (!workload.finished) {
      answer.left_out.push_back(workload.name + ": none of its runs has finished");
      continue;
    }
    const ReportData data = load_report(store, workload.runs);
    const std::string lacks = recipe.add({store, data, workload.name}, answer);
    if (!lacks.empty()) answer.left_out.push_back(workload.name + ": " + lacks);
  }
  if (!answer.table.rows.empty()) return answer;
  const std::string reasons = joined_texts(answer.left_out, "; ");
  throw StoreError(std::string("answer \"") + recipe.question + "\" from",
                   std::to_string(runs.size()) + (runs.size() == 1 ? " run" : " runs"),
                   reasons.empty() ? "there is no run" : reasons, recipe.remedy);
}

namespace {

std::string left_out_words(const RecipeAnswer& answer) {
  return answer.left_out.empty() ? "" : "Left out: " + joined_texts(answer.left_out, "; ") + ".";
}

}  // namespace

std::string recipe_html(const Recipe& recipe, const RecipeAnswer& answer) {
  std::string body = html_element("h1", recipe.question);
  for (const std::string& sentence : answer.sentences) body += html_element("p", sentence);
  if (!answer.left_out.empty()) body += html_element("p", left_out_words(answer));
  body += data_html(answer.table) + "<p class=\"note\">" + xml_escape(recipe.method) + "</p>\n";
  return html_page(recipe.question, body + html_figures(answer.figures));
}

std::string recipe_markdown(const Recipe& recipe, const RecipeAnswer& answer) {
  std::string out = std::string("# ") + recipe.question + "\n\n";
  for (const std::string& sentence : answer.sentences) out += without_tags(sentence) + "\n\n";
  if (!answer.left_out.empty()) out += without_tags(left_out_words(answer)) + "\n\n";
  return out + without_tags(markdown(shown(answer.table))) + "\n" + recipe.method + "\n";
}

std::string recipe_csv(const RecipeAnswer& answer) {
  return data_csv(answer.table);
}

std::string recipe_json(const Recipe& recipe, const RecipeAnswer& answer) {
  nlohmann::ordered_json document = {
      {"schema_version", 1}, {"recipe", recipe.name}, {"question", recipe.question}};
  document["answer"] = answer.sentences;
  document["rows"] = nlohmann::ordered_json::parse(data_json(answer.table, -1));
  document["left_out"] = answer.left_out;
  return document.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace gradwire::results
