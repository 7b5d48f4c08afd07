#include "cli/reports/recipe.h"

#include <cstdio>
#include <filesystem>

#include "base/file_descriptor.h"
#include "base/folder.h"
#include "base/plain_text.h"
#include "results/recipes/recipe.h"

namespace gradwire::cli {
namespace {

using results::Recipe;
using results::RecipeAnswer;

std::string written_as(const std::string& ending, const Recipe& recipe,
                       const RecipeAnswer& answer) {
  if (ending == ".html") return results::recipe_html(recipe, answer);
  if (ending == ".md") return results::recipe_markdown(recipe, answer);
  if (ending == ".csv") return results::recipe_csv(answer);
  if (ending == ".json") return results::recipe_json(recipe, answer);
  return {};
}

void print(const Recipe& recipe, const RecipeAnswer& answer, const Context& context) {
  if (context.format() == Format::kCsv)
    std::fputs(results::recipe_csv(answer).c_str(), stdout);
  else if (context.format() != Format::kText)
    std::fputs(results::recipe_json(recipe, answer).c_str(), stdout);
  else if (context.markdown())
    std::fputs(results::recipe_markdown(recipe, answer).c_str(), stdout);
  else
    for (const std::string& sentence : answer.sentences)
      std::printf("%s\n", printable(sentence).c_str());
  std::fflush(stdout);
}

}  // namespace

std::vector<std::string> recipe_names() {
  std::vector<std::string> names;
  for (const Recipe& recipe : results::recipes()) names.emplace_back(recipe.name);
  return names;
}

std::string report_recipe(const std::string& name, std::span<const results::RunId> runs,
                          const results::Store& store, const std::string& file,
                          const Context& context) {
  const Recipe& recipe = *results::find_recipe(name);
  const bool for_people = context.format() == Format::kText && !context.markdown();
  const std::string path = file.empty() && for_people ? "gradwire-report/" + name + ".html" : file;
  const std::string ending = std::filesystem::path(path).extension().string();
  const RecipeAnswer answer = results::answer_of(recipe, store, runs);
  if (!path.empty()) {
    const std::string text = written_as(ending, recipe, answer);
    if (text.empty())
      throw Error(ErrorKind::kUsage, "write", path, "its ending says no form that there is",
                  "name it .html, .md, .csv or .json");
    make_folder_of(path);
    write_file(path, text);
  }
  for (const std::string& reason : answer.left_out) context.say("left out: " + reason);
  print(recipe, answer, context);
  if (!path.empty()) context.say("report: " + path);
  return ending == ".html" ? path : "";
}

}  // namespace gradwire::cli
