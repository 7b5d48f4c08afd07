#include "tests/cli/output/stored_figures.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "results/store/sqlite.h"
#include "tests/cli/program.h"

// SQL and arithmetic of this file alone.
namespace gradwire::testing {
namespace {

/// Adds what is wrong with a cell.
void check_cell(Compared& compared, const Cells& cells, const std::string& column,
                const std::vector<double>& expected) {
  const std::string wrong = wrong_in(cells.at(column), expected);
  if (!wrong.empty())
    compared.wrong.push_back(cells.at("workload") + ", " + cells.at("take") + ", " + column +
                             ": \"" + cells.at(column) + "\" " + wrong);
}

struct Group {
  std::string workload, method, condition;
  double seeds = 0, workers = 0, bandwidth = 0, delay = 0, loss = 0, target = 0;
  std::map<std::string, double> mean, spread;
  bool has(const char* name) const { return mean.contains(name); }
};

double number_of(const std::string& text) {
  static const std::map<std::string, double> units = {{"", 1},      {"s", 1},      {"ms", 1e-3},
                                                      {"us", 1e-6}, {"Mbps", 1e6}, {"Gbps", 1e9}};
  std::size_t used = 0;
  const double value = std::stod(text, &used);
  return value * units.at(text.substr(used));
}

/// One for each scenario without its seed, from the runs' own columns.
std::vector<Group> stored(const results::Connection& database) {
  results::Statement rows(database, R"(
    SELECT s.name, r.method, r.scenario_hash, count(*), min(r.workers),
      json_extract(s.json, '$.network.link.bandwidth'), json_extract(s.json, '$.network.link.delay'),
      json_extract(s.json, '$.network.link.loss'),
      coalesce(json_extract(s.json, '$.workload.target_accuracy'), 0),
      avg(step_time_s), avg(step_time_s * step_time_s), count(step_time_s),
      avg(final_accuracy), avg(final_accuracy * final_accuracy), count(final_accuracy),
      avg(wire_bytes), avg(wire_bytes * wire_bytes), count(wire_bytes),
      avg(simulated_s), avg(simulated_s * simulated_s), count(simulated_s),
      avg(time_to_target_s), avg(time_to_target_s * time_to_target_s), count(time_to_target_s)
    FROM runs r JOIN scenarios s ON s.id = r.scenario_id WHERE r.status = 'finished'
    GROUP BY s.name, r.scenario_hash ORDER BY min(r.id))",
                          "recompute the first screen of");
  std::vector<Group> all;
  while (rows.step()) {
    Group group{rows.column_text(0), rows.column_text(1), rows.column_text(2),
                rows.column_number(3), rows.column_number(4)};
    group.bandwidth = number_of(rows.column_text(5));
    group.delay = number_of(rows.column_text(6));
    group.loss = rows.column_number(7);
    group.target = rows.column_number(8);
    int column = 9;
    for (const char* name :
         {"step_time_s", "final_accuracy", "wire_bytes", "simulated_s", "target_s"}) {
      const double n = rows.column_number(column + 2);
      if (n > 0) {
        const double mean = rows.column_number(column), squares = rows.column_number(column + 1);
        group.mean[name] = mean;
        // Variance of a sample: n / (n - 1) times the mean square less the squared mean.
        const double variance = n > 1 ? n / (n - 1) * (squares - mean * mean) : 0;
        group.spread[name] = variance > 1e-14 * squares ? std::sqrt(variance) : 0;
      }
      column += 3;
    }
    all.push_back(group);
  }
  return all;
}

/// A mean, and its spread where there is one.
void add(std::vector<double>& list, const Group& group, const char* name) {
  list.push_back(group.mean.at(name));
  if (group.spread.at(name) > 0) list.push_back(group.spread.at(name));
}

/// A range as it is printed: both ends, or one where both print alike.
void add_range(std::vector<double>& list, std::vector<double> values) {
  const auto [low, high] = std::ranges::minmax(values);
  list.push_back(low);
  if (high > low * 1.004) list.push_back(high);
}

using Groups = std::vector<const Group*>;

const Group* same_network(const std::vector<Group>& all, const Group& of,
                          const std::string& method) {
  for (const Group& group : all)
    if (group.workload == of.workload && group.method == method &&
        group.bandwidth == of.bandwidth && group.delay == of.delay && group.loss == of.loss)
      return &group;
  return nullptr;
}

/// Methods that lost more than a point somewhere: nobody may recommend them elsewhere.
std::set<std::string> losers(const std::vector<Group>& all) {
  std::set<std::string> names;
  for (const Group& group : all) {
    const Group* base = same_network(all, group, "none");
    if (base && base->has("final_accuracy") &&
        group.mean.at("final_accuracy") < base->mean.at("final_accuracy") - 0.01)
      names.insert(group.method);
  }
  return names;
}

/// The fastest of those that lose a point at most; among ties of 3 % fp32, then fp16.
const Group* to_take(const std::vector<Group>& all, const Group& of) {
  Groups rivals;
  for (const Group& group : all) {
    const Group* base = same_network(all, of, "none");
    if (same_network(all, of, group.method) != &group || group.workload != of.workload) continue;
    const bool lost = group.has("final_accuracy")
                          ? group.mean.at("final_accuracy") < base->mean.at("final_accuracy") - 0.01
                          : losers(all).contains(group.method);
    if (!lost) rivals.push_back(&group);
  }
  const auto time = [](const Group* group) { return group->mean.at("step_time_s"); };
  const Group* fastest = *std::ranges::min_element(rivals, {}, time);
  for (const char* plain : {"none", "fp16"})
    for (const Group* group : rivals)
      if (group->method == plain && time(group) <= 1.03 * time(fastest)) return group;
  return fastest;
}

std::vector<double> each(const Groups& groups, const std::function<double(const Group&)>& value) {
  std::vector<double> values;
  for (const Group* group : groups) values.push_back(value(*group));
  return values;
}

void check_time(Compared& compared, const Cells& row, const Groups& taken,
                const std::vector<Group>& all) {
  std::vector<double> expected;
  if (taken.size() == 1)
    add(expected, *taken[0], "step_time_s");
  else
    add_range(expected, each(taken, [](const Group& g) { return g.mean.at("step_time_s"); }));
  const auto factor = [&](const Group& g) {
    return same_network(all, g, "none")->mean.at("step_time_s") / g.mean.at("step_time_s");
  };
  if (taken[0]->method != "none") add_range(expected, each(taken, factor));
  check_cell(compared, row, "time", expected);
}

void check_link(Compared& compared, const Cells& row, const Groups& taken) {
  std::vector<double> expected;
  add_range(expected, each(taken, [](const Group& g) { return g.bandwidth; }));
  add_range(expected, each(taken, [](const Group& g) { return g.delay; }));
  add_range(expected, each(taken, [](const Group& g) { return g.loss; }));
  check_cell(compared, row, "link", expected);
}

void check_accuracy(Compared& compared, const Cells& row, const Groups& taken,
                    const std::vector<Group>& all) {
  std::vector<double> expected;
  const Group& group = *taken[0];
  if (taken.size() > 1)
    add_range(expected, each(taken, [](const Group& g) { return g.mean.at("final_accuracy"); }));
  else if (group.has("final_accuracy")) {
    add(expected, group, "final_accuracy");
    add(expected, *same_network(all, group, "none"), "final_accuracy");
    if (group.target > 0) {
      expected.push_back(group.target);
      add(expected, group, "target_s");
    }
  }
  check_cell(compared, row, "accuracy", expected);
}

void check_cost(Compared& compared, const Cells& row, const Groups& taken) {
  std::vector<double> expected;
  const Group& group = *taken[0];
  if (taken.size() == 1 && group.target > 0) {
    expected.push_back(group.workers * group.mean.at("target_s"));
    expected.push_back(group.target);
  }
  if (group.workload != "federated")
    add_range(expected,
              each(taken, [](const Group& g) { return g.workers * g.mean.at("simulated_s"); }));
  if (taken.size() == 1)
    add(expected, group, "wire_bytes");
  else
    add_range(expected, each(taken, [](const Group& g) { return g.mean.at("wire_bytes"); }));
  check_cell(compared, row, "cost", expected);
}

/// The difference to training without compression, and half its 95 % interval: Student's t with two
/// degrees of freedom is 4.303.
void check_uncertain(Compared& compared, const Cells& row, const Groups& taken,
                     const std::vector<Group>& all) {
  std::vector<double> expected;
  const Group& group = *taken[0];
  const Group* base = same_network(all, group, "none");
  if (taken.size() == 1 && base != &group && group.has("final_accuracy")) {
    expected.push_back(group.mean.at("final_accuracy") - base->mean.at("final_accuracy"));
    const double a = group.spread.at("final_accuracy"), b = base->spread.at("final_accuracy");
    if (group.seeds == 3) expected.push_back(100 * 4.303 * std::sqrt((a * a + b * b) / 3));
  }
  if (group.seeds > 1) expected.push_back(group.seeds);
  check_cell(compared, row, "uncertain", expected);
}

/// What the deadline dropped, from the figures of the runs.
void check_dropped(Compared& compared, const Cells& row, const Group& group,
                   const results::Connection& database) {
  std::map<std::string, double> clients;
  results::Statement rows(
      database,
      "SELECT m.name, sum(m.value) FROM metrics m JOIN runs r ON r.id = m.run_id "
      "WHERE m.step = -1 AND m.name LIKE 'clients_%' AND r.scenario_hash = ? "
      "GROUP BY m.name",
      "recompute the first screen of");
  rows.bind(1, group.condition);
  while (rows.step()) clients[rows.column_text(0)] = rows.column_number(1);
  const double asked = clients.at("clients_sampled"), late = clients.at("clients_late"),
               gone = clients.at("clients_dropped_out");
  check_cell(compared, row, "accuracy", {asked, late, late / asked, gone, gone / asked});
}

}  // namespace

void run_shipped_scenarios(const std::string& database) {
  for (const std::string name :
       {"quickstart", "sweep", "alexnet", "mobile", "federated", "codecs"}) {
    std::vector<std::string> arguments = {
        "run", source_path("scenarios/" + name + ".json"), "--db", database, "--no-report", "-q"};
    if (name == "quickstart")
      for (const char* seed : {"1", "2", "3"}) arguments.insert(arguments.end(), {"--seed", seed});
    const Result result = run_program(arguments);
    INFO(name << ": " << result.err);
    REQUIRE(result.exit_code == 0);
  }
}

Compared compare_with_store(const std::vector<Cells>& screen, const results::Connection& database) {
  const std::vector<Group> all = stored(database);
  std::map<std::string, double> runs;
  Compared compared;
  for (const Cells& row : screen) {
    const std::string workload = row.at("workload");
    compared.seen.insert(workload);
    Groups taken;
    std::set<std::string> conditions;
    const bool federated = workload == "federated";
    for (const Group& group : all) {
      if (group.workload != workload) continue;
      runs[workload] += row.contains("count") ? group.seeds : 0;
      conditions.insert(federated ? group.condition
                                  : std::to_string(group.bandwidth) + std::to_string(group.loss));
      if (federated ? row.at("runs").find(
                          "deadline " +
                          [&] {
                            results::Statement deadline(
                                database,
                                "SELECT json_extract(json, '$.workload.federated.deadline') "
                                "FROM scenarios WHERE hash = ?",
                                "test");
                            deadline.bind(1, group.condition).step();
                            return deadline.column_text(0);
                          }()) != std::string::npos
                    : group.method == row.at("take") && to_take(all, group) == &group)
        taken.push_back(&group);
    }
    if (taken.empty()) {
      compared.wrong.push_back(workload + ": nobody would take " + row.at("take"));
      continue;
    }
    if (row.contains("count") && std::stod(row.at("count")) != runs[workload])
      compared.wrong.push_back(workload + ": there are not " + row.at("count") + " runs");
    const std::string of =
        std::to_string(taken.size()) + " of " + std::to_string(conditions.size()) + " conditions";
    if (!federated && conditions.size() > 1 && row.at("runs").find(of) == std::string::npos)
      compared.wrong.push_back(workload + ": it is for " + of);
    check_cell(compared, row, "workers", {taken[0]->workers});
    check_link(compared, row, taken);
    check_time(compared, row, taken, all);
    check_cost(compared, row, taken);
    check_uncertain(compared, row, taken, all);
    if (federated)
      check_dropped(compared, row, *taken[0], database);
    else
      check_accuracy(compared, row, taken, all);
  }
  return compared;
}

std::vector<std::string> missed_damage(const std::vector<Cells>& screen,
                                       const results::Connection& database) {
  std::vector<std::string> missed;
  for (std::size_t row = 0; row < screen.size(); ++row)
    for (const char* column : {"workers", "link", "time", "accuracy", "cost", "uncertain"}) {
      std::vector<Cells> damaged = screen;
      std::string& text = damaged[row].at(column);
      const std::size_t digit = text.find_first_of("123456789");
      if (digit == std::string::npos || figures(text).empty()) continue;
      // By two: by one might be the other way to round.
      text[digit] = static_cast<char>(text[digit] + (text[digit] > '7' ? -2 : 2));
      if (compare_with_store(damaged, database).wrong.empty()) missed.push_back(text);
    }
  return missed;
}

}  // namespace gradwire::testing
