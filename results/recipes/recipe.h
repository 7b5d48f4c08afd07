#pragma once
#include <span>
#include <string>
#include <vector>

#include "results/pages/data_table.h"
#include "results/report/data.h"

/// Recipes: each answers one question about stored runs with a sentence a workload, a table and
/// figures, in any of the reports' forms.
namespace gradwire::results {

struct RecipeAnswer {
  std::vector<std::string> sentences;
  DataTable table;
  std::vector<DrawnFigure> figures;
  std::vector<std::string> left_out;  ///< workloads that lack something, and what
};

/// One workload's runs.
struct RecipeRuns {
  const Store& store;
  const ReportData& data;
  std::string workload;
};

struct Recipe {
  const char* name;
  const char* question;
  const char* method;  ///< how its figures are made, a note under the table
  const char* remedy;  ///< for stores that lack what it needs
  std::vector<DataColumn> columns;
  /// Adds a workload's part; or says what its runs lack, and adds nothing.
  std::string (*add)(const RecipeRuns& runs, RecipeAnswer& answer);
};

std::span<const Recipe> recipes();
/// Null where there is none of that name.
const Recipe* find_recipe(const std::string& name);

/// Throws StoreError: no such run, none that is finished, or no workload has what the recipe needs.
RecipeAnswer answer_of(const Recipe& recipe, const Store& store, std::span<const RunId> runs);

std::string recipe_html(const Recipe& recipe, const RecipeAnswer& answer);
std::string recipe_markdown(const Recipe& recipe, const RecipeAnswer& answer);
std::string recipe_csv(const RecipeAnswer& answer);
/// {"schema_version":1,"recipe":...,"question":...,"answer":[...],"rows":[...],"left_out":[...]}
std::string recipe_json(const Recipe& recipe, const RecipeAnswer& answer);

// One a file, of its name.
Recipe overlap_recipe();
Recipe links_recipe();
Recipe stragglers_recipe();
Recipe break_even_recipe();
Recipe fairness_recipe();

/// "bandwidth 1Gbps: terngrad": a group's name in its workload.
std::string name_in_workload(const ReportData& data, const ReportGroup& group);
/// The first run of a group, whose timeline and links stand for all seeds.
inline RunId first_run(const ReportGroup& group) {
  return group.group.runs.front().id;
}

}  // namespace gradwire::results
