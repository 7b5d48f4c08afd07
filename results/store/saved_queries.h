#pragma once
#include <map>
#include <string>

/// Queries that a user keeps by name, the same on the command line and in the desktop program: a
/// JSON file {"schema_version":1,"queries":{"name":"SELECT ..."}}.
namespace gradwire::results {

/// $XDG_CONFIG_HOME/gradwire/queries.json, or under ~/.config. Throws Error where neither
/// XDG_CONFIG_HOME nor HOME is set.
std::string saved_queries_path();

/// By name; none where there is no file. Throws Error where it is not such a file.
std::map<std::string, std::string> saved_queries(const std::string& path);
/// In the place of one of that name. Throws Error: a name that is empty, too long (100 bytes), no
/// UTF-8, or has control characters.
void save_query(const std::string& path, const std::string& name, const std::string& sql);
/// False where there is none of that name.
bool forget_query(const std::string& path, const std::string& name);

}  // namespace gradwire::results
