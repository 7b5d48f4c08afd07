#include "results/runs/link_load.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>

namespace gradwire::results {
namespace {

struct Ends {
  std::string from, to;
};

Ends ends_of(const std::string& name) {
  const std::size_t arrow = name.find(" -> ");
  if (arrow == std::string::npos) return {name, name};
  return {name.substr(0, arrow), name.substr(arrow + 4)};
}

/// Nodes and links of what is stored; all else than the hosts are switches.
class Graph {
 public:
  explicit Graph(const std::vector<LinkSeries>& links) {
    for (const LinkSeries& link : links) {
      const auto [from, to] = ends_of(link.name);
      next_[from].insert(to);
      next_[to].insert(from);
    }
    std::deque<std::string> wave;
    for (const auto& [node, ignored] : next_)
      if (is_host(node)) height_[node] = 0, wave.push_back(node);
    for (; !wave.empty(); wave.pop_front())
      for (const std::string& node : next_[wave.front()])
        if (height_.try_emplace(node, height_[wave.front()] + 1).second) wave.push_back(node);
  }

  static bool is_host(const std::string& node) {
    return node.starts_with("worker") || node.starts_with("server") ||
           node.starts_with("aggregator");
  }

  /// From the hosts: 0 = a host.
  int height(const std::string& node) const {
    const auto found = height_.find(node);
    return found == height_.end() ? 0 : found->second;
  }

  /// Hosts that are reached by going down alone.
  std::set<std::string> below(const std::string& node) const {
    std::set<std::string> hosts, seen = {node};
    std::deque<std::string> wave = {node};
    for (; !wave.empty(); wave.pop_front()) {
      if (is_host(wave.front())) hosts.insert(wave.front());
      for (const std::string& next : next_.at(wave.front()))
        if (height(next) < height(wave.front()) && seen.insert(next).second) wave.push_back(next);
    }
    return hosts;
  }

 private:
  std::map<std::string, std::set<std::string>> next_;
  std::map<std::string, int> height_;
};

/// "worker0", "worker0, worker1", "worker0, worker1 and 6 more".
std::string list_of(const std::set<std::string>& hosts) {
  std::string list;
  std::size_t named = 0;
  for (const std::string& host : hosts) {
    if (named == 2 && hosts.size() > 3)
      return list + " and " + std::to_string(hosts.size() - named) + " more";
    list += (list.empty() ? "" : ", ") + host;
    ++named;
  }
  return list;
}

std::string flows_of(const Graph& graph, const std::string& name) {
  const auto [from, to] = ends_of(name);
  const int out = graph.height(from), in = graph.height(to);
  if (out == 0 && in == 0) return "from " + from + " and what it passes on to " + to;
  const bool up = out < in;
  const auto hosts = graph.below(up ? from : to);
  return hosts.empty() ? "" : (up ? "from " : "to ") + list_of(hosts);
}

LinkLoad load_of(const LinkSeries& link) {
  LinkLoad load;
  load.name = link.name;
  load.rate_bps = link.rate_bps;
  double time = 0, full = 0;
  for (const LinkSeries::Interval& interval : link.intervals) {
    const double length = interval.end_s - interval.start_s, share = link.utilisation(interval);
    time += length;
    load.wire_bytes += static_cast<double>(interval.wire_bytes);
    if (share >= kFull) full += length;
    if (share <= load.peak) continue;
    load.peak = share;
    load.start_s = interval.start_s;
    load.end_s = interval.end_s;
  }
  if (time <= 0) return load;
  load.mean = link.rate_bps > 0 ? load.wire_bytes * 8 / (link.rate_bps * time) : 0;
  load.full_share = full / time;
  return load;
}

}  // namespace

std::vector<LinkLoad> link_loads(const std::vector<LinkSeries>& links) {
  const Graph graph(links);
  std::vector<LinkLoad> loads;
  for (const LinkSeries& link : links) {
    loads.push_back(load_of(link));
    loads.back().flows = flows_of(graph, link.name);
  }
  std::ranges::stable_sort(loads, [](const LinkLoad& a, const LinkLoad& b) {
    return a.mean != b.mean ? a.mean > b.mean : a.peak > b.peak;
  });
  return loads;
}

}  // namespace gradwire::results
