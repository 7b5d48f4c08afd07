#include <cstdio>
#include <iostream>
#include <iterator>

#include "cli/output/table.h"
#include "results/store/own_query.h"
#include "results/store/saved_queries.h"
#include "runner/interrupt.h"

namespace gradwire::cli {
namespace {

struct QueryArguments {
  std::string sql;
  std::string saved, save, forget;
  bool list = false;
  std::string timeout = "60s";
  std::size_t rows = 100'000;
};

void print_rows(const results::OwnResult& result, const Context& context) {
  std::vector<Column> columns;
  for (const std::string& name : result.columns) {
    Column column{name};
    column.style = style_by_unit(name);
    columns.push_back(std::move(column));
  }
  Table table(std::move(columns));
  for (const auto& row : result.rows) {
    std::vector<Cell> cells;
    for (const results::OwnValue& value : row)
      cells.push_back(std::visit([](const auto& v) -> Cell { return v; }, value));
    table.add(std::move(cells));
  }
  table.print(context);
}

void list_saved(const Context& context) {
  const std::string path = results::saved_queries_path();
  Table table({{"name", {}, {}, Importance::kKey}, {"sql"}});
  for (const auto& [name, sql] : results::saved_queries(path)) table.add({name, sql});
  table.print(context);
  context.say("kept in " + path);
}

std::string saved_sql(const std::string& name) {
  const std::string path = results::saved_queries_path();
  const auto all = results::saved_queries(path);
  const auto found = all.find(name);
  if (found == all.end())
    throw Error(ErrorKind::kUsage, "find the saved query", name,
                "there is none of that name in " + path, "gradwire query --list names them");
  return found->second;
}

std::string asked_sql(const QueryArguments& arguments) {
  if (!arguments.saved.empty()) return saved_sql(arguments.saved);
  if (arguments.sql != "-") return arguments.sql;
  return {std::istreambuf_iterator<char>(std::cin), {}};
}

/// An older database is brought up to date first, so that it has the views.
void answer(const std::string& sql, const QueryArguments& arguments, const Context& context) {
  context.open_reader();
  const runner::InterruptGuard guard;
  results::OwnQueryLimits limits;
  limits.seconds = parse_duration(arguments.timeout).value();
  limits.rows = arguments.rows;
  limits.stop = [] { return runner::interrupted_by() != 0; };
  auto end = results::OwnQueryEnd::kDone;
  const results::OwnResult result = results::own_query(context.database, sql, limits, end);
  if (end == results::OwnQueryEnd::kStopped)
    throw Error(runner::interruption(), "answer the query on", context.database,
                "it was interrupted");
  print_rows(result, context);
}

void run_query(const QueryArguments& arguments, const Context& context) {
  if (arguments.list) return list_saved(context);
  if (!arguments.forget.empty()) {
    if (!results::forget_query(results::saved_queries_path(), arguments.forget))
      saved_sql(arguments.forget);  // says that there is none
    return context.say("forgotten: " + arguments.forget);
  }
  const std::string sql = asked_sql(arguments);
  if (sql.empty())
    throw Error(ErrorKind::kUsage, "query", context.database, "there is no SQL",
                "give a SELECT, or --saved NAME; gradwire query --help has examples");
  answer(sql, arguments, context);
  if (arguments.save.empty()) return;
  results::save_query(results::saved_queries_path(), arguments.save, sql);
  context.say("saved: " + arguments.save);
}

}  // namespace

void add_query(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("query", "Ask the results database in SQL, which only reads");
  auto arguments = std::make_shared<QueryArguments>();
  auto* sql = command->add_option("SQL", arguments->sql,
                                  "One SELECT over the views and tables (-: from standard input)");
  command->add_option("--saved", arguments->saved, "Ask what was saved under this name")
      ->excludes(sql);
  command->add_option("--save", arguments->save, "Keep the query under this name, once it worked");
  command->add_option("--forget", arguments->forget, "Remove a saved query")->excludes(sql);
  command->add_flag("--list", arguments->list, "List the saved queries")->excludes(sql);
  command->add_option("--timeout", arguments->timeout, "Stop after so long (0s: never)")
      ->type_name("TIME")
      ->capture_default_str();
  command->add_option("--rows", arguments->rows, "Rows at most; more is an error")
      ->check(CLI::Range(1, 100'000'000))
      ->capture_default_str();
  command->footer(
      "Examples:\n"
      "  gradwire query 'SELECT run, method, step_time_s FROM v_runs ORDER BY 3'\n"
      "  gradwire query 'SELECT * FROM v_groups' --save groups\n"
      "  gradwire query --saved groups --format csv > groups.csv\n"
      "Views and columns: docs/sql.md.");
  command->callback([arguments, &context] { run_query(*arguments, context); });
}

}  // namespace gradwire::cli
