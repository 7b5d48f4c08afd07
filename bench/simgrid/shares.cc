// Flows over links that they share, by SimGrid's model CM02.
#include <cstdio>
#include <iostream>
#include <simgrid/s4u.hpp>
#include <string>
#include <vector>

#include "bench/simgrid/peer.h"

namespace sg4 = simgrid::s4u;

int run_shares() {
  // As exact as it goes: at its default it ends a flow when 1e-5 bytes are left.
  sg4::Engine::set_config("surf/precision:1e-12");
  sg4::Engine::set_config("maxmin/precision:1e-12");
  std::size_t link_count = 0, flow_count = 0;
  std::cin >> link_count >> flow_count;
  auto* zone = sg4::create_full_zone("zone");
  std::vector<sg4::Link*> links;
  for (std::size_t l = 0; l < link_count; ++l) {
    double rate = 0;
    std::cin >> rate;
    links.push_back(zone->create_link("link" + std::to_string(l), rate)->set_latency(0));
  }
  std::vector<sg4::CommPtr> comms;
  std::vector<double> ends(flow_count, -1);
  for (std::size_t f = 0; f < flow_count; ++f) {
    std::uint64_t bytes = 0;
    std::size_t hops = 0;
    std::cin >> bytes >> hops;
    std::vector<sg4::LinkInRoute> route;
    for (std::size_t h = 0; h < hops; ++h) {
      std::size_t link = 0;
      std::cin >> link;
      route.emplace_back(links.at(link));
    }
    auto* from = zone->create_host("from" + std::to_string(f), 1e9);
    auto* to = zone->create_host("to" + std::to_string(f), 1e9);
    zone->add_route(from->get_netpoint(), to->get_netpoint(), nullptr, nullptr, route, false);
    comms.push_back(sg4::Comm::sendto_init(from, to)->set_payload_size(bytes));
  }
  if (!std::cin) return 2;
  zone->seal();
  sg4::Activity::on_completion_cb([&](const sg4::Activity& activity) {
    for (std::size_t f = 0; f < flow_count; ++f) {
      if (comms[f].get() == &activity) ends[f] = sg4::Engine::get_clock();
    }
  });
  for (const sg4::CommPtr& comm : comms) comm->vetoable_start();
  sg4::Engine::get_instance()->run();
  for (const double end : ends) std::printf("%.15g\n", end);
  return 0;
}
