// Hosts joined to their neighbours: ring and torus. sim/cluster/cluster_routes.cc relies on this
// order of links.
#include "sim/cluster/topologies/parts.h"

namespace gradwire::sim {

Cluster torus(int workers, int columns, int rows, const LinkSpec& link, const ServerPlan& server) {
  Cluster cluster;
  const int hosts = add_hosts(cluster, workers, server);
  if (columns < 1 || rows < 1 || static_cast<std::int64_t>(columns) * rows != hosts) {
    refuse_topology("a torus", "it has " + std::to_string(columns) + " columns and " +
                                   std::to_string(rows) + " rows for " + std::to_string(hosts) +
                                   " hosts");
  }
  // Of two nodes in a line, the second's link back would be the same cable once more.
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; columns > 1 && column < (columns == 2 ? 1 : columns); ++column) {
      cluster.add_link(row * columns + column, row * columns + (column + 1) % columns, link);
    }
  }
  for (int column = 0; column < columns; ++column) {
    for (int row = 0; rows > 1 && row < (rows == 2 ? 1 : rows); ++row) {
      cluster.add_link(row * columns + column, (row + 1) % rows * columns + column, link);
    }
  }
  cluster.set_routing({Routing::Kind::kTorus, columns, rows});
  cluster.finish(server.hosts());
  return cluster;
}

Cluster host_ring(int workers, const LinkSpec& link, const ServerPlan& server) {
  return torus(workers, workers + server.hosts(), 1, link, server);
}

}  // namespace gradwire::sim
