#include "results/store/saved_queries.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/environment.h"
#include "base/error.h"
#include "base/file_descriptor.h"
#include "base/folder.h"
#include "base/plain_text.h"

namespace gradwire::results {
namespace {

constexpr std::size_t kLongestName = 100;

using Queries = std::map<std::string, std::string>;

void write_queries(const std::string& path, const Queries& queries) {
  make_folder_of(path);
  const nlohmann::json document = {{"schema_version", 1}, {"queries", queries}};
  write_file(path, document.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

}  // namespace

std::string saved_queries_path() {
  std::string folder = environment_variable("XDG_CONFIG_HOME");
  if (const std::string home = environment_variable("HOME"); folder.empty() && !home.empty())
    folder = home + "/.config";
  if (folder.empty())
    throw Error(ErrorKind::kFailure, "find", "the saved queries",
                "neither XDG_CONFIG_HOME nor HOME is set", "set one of them");
  return folder + "/gradwire/queries.json";
}

Queries saved_queries(const std::string& path) {
  if (!std::filesystem::exists(path)) return {};
  const auto document = nlohmann::json::parse(read_file(path), nullptr, false);
  Queries queries;
  bool sound =
      document.is_object() && document.contains("queries") && document["queries"].is_object();
  if (sound) {
    for (const auto& [name, sql] : document["queries"].items()) {
      sound = sound && sql.is_string();
      if (sql.is_string()) queries[name] = sql.get<std::string>();
    }
  }
  if (!sound)
    throw Error(ErrorKind::kFailure, "read", path, "it is not a file of saved queries",
                R"(it holds {"schema_version":1,"queries":{"name":"SELECT ..."}}; move it away)");
  return queries;
}

void save_query(const std::string& path, const std::string& name, const std::string& sql) {
  if (name.empty() || name.size() > kLongestName || !is_utf8(name) || has_control(name))
    throw Error(ErrorKind::kUsage, "save a query as", name, "that is no name",
                "take up to 100 bytes of text without control characters");
  Queries queries = saved_queries(path);
  queries[name] = sql;
  write_queries(path, queries);
}

bool forget_query(const std::string& path, const std::string& name) {
  Queries queries = saved_queries(path);
  if (queries.erase(name) == 0) return false;
  write_queries(path, queries);
  return true;
}

}  // namespace gradwire::results
