#include "gui/topology/topology_view.h"

#include <QPainter>
#include <QSignalSpy>
#include <QTest>
#include <catch2/catch.hpp>
#include <set>

#include "sim/cluster/topologies/topologies.h"

using namespace gradwire::gui;
using namespace gradwire;
using results::LinkSeries;

namespace {

sim::LinkSpec gigabit(double loss = 0) {
  sim::LinkSpec link;
  link.rate = BitsPerSecond(1e9);
  link.delay = Seconds(1e-5);
  link.loss = loss;
  return link;
}

/// Worker `worker` of a star sends 50 % of 1 Gbps in the first second, 100 % in the second.
LinkSeries busy(int worker) {
  LinkSeries series;
  series.channel = 2 * worker;
  series.name = "worker" + std::to_string(worker) + " -> switch";
  series.rate_bps = 1e9;
  series.intervals = {{0, 1, 62'500'000}, {1, 2, 125'000'000}};
  return series;
}

TopologyPtr star_of(int workers) {
  return std::make_shared<const Topology>(
      topology_of(sim::Cluster::star(workers, gigabit()), {busy(0), busy(2)}));
}

/// 1,024 nodes: hosts of two tiers whose links all carry something.
TopologyPtr large() {
  sim::TwoTierPlan plan;
  plan.workers = 896;
  plan.racks = 64;
  plan.spines = 64;
  plan.link = plan.uplink = gigabit();
  const sim::Cluster cluster = sim::two_tier(plan);
  std::vector<LinkSeries> series;
  for (int channel = 0; channel < cluster.channel_count(); channel += 2) {
    LinkSeries one = busy(0);
    one.channel = channel;
    series.push_back(one);
  }
  return std::make_shared<const Topology>(topology_of(cluster, series));
}

}  // namespace

TEST_CASE("a star is hosts below a switch, with what its links carried", "[unit]") {
  const TopologyPtr star = star_of(8);
  REQUIRE(star->nodes.size() == 9);
  REQUIRE(star->links.size() == 8);
  std::set<std::pair<double, double>> places;
  for (const TopologyNode& node : star->nodes) {
    CHECK(node.tier == (node.host ? 0 : 1));
    CHECK(places.insert({node.x, node.y}).second);
    CHECK(node.x > 0);
    CHECK(node.x < 1);
  }
  CHECK(star->end_s == 2);
  CHECK(utilisation_at(*star, star->links[0], 0.5) == Approx(0.5));
  CHECK(utilisation_at(*star, star->links[0], 1.5) == Approx(1.0));
  CHECK(utilisation_at(*star, star->links[0], 3) == 0);
  CHECK(utilisation_at(*star, star->links[1], 0.5) < 0);  // nothing is stored of it
  CHECK(by_load(*star)[0] == 0);
  CHECK(by_load(*star)[1] == 2);
}

TEST_CASE("hosts joined to hosts stand in a circle; many nodes become a node a tier", "[unit]") {
  const Topology ring = topology_of(sim::host_ring(6, gigabit()), {});
  CHECK(ring.nodes.size() == 6);
  for (const TopologyNode& node : ring.nodes) {
    CHECK(std::hypot(node.x - 0.5, node.y - 0.5) == Approx(0.45));
  }
  sim::FatTreePlan plan;
  plan.k = 16;
  plan.workers = 1000;
  plan.link = plan.uplink = gigabit();
  LinkSeries one = busy(3);
  const Topology tree = topology_of(sim::fat_tree(plan), {one});
  CHECK(tree.aggregated);
  // Hosts, edge, aggregation and core switches.
  REQUIRE(tree.nodes.size() == 4);
  CHECK(tree.nodes[0].count == 1000);
  int switches = 0, links = 0;
  for (const TopologyNode& node : tree.nodes) switches += node.host ? 0 : node.count;
  for (const TopologyLink& link : tree.links) links += link.count;
  CHECK(switches == 5 * 16 * 16 / 4);
  CHECK(links == 1000 + 16 * 16 * 16 / 2);
  REQUIRE(tree.links.size() == 3);
  CHECK(utilisation_at(tree, tree.links[0], 0.5) == Approx(0.5));
}

TEST_CASE("the map of 1,024 nodes and 4,096 links and more is painted and hovered", "[gui]") {
  const TopologyPtr topology = large();
  CHECK(topology->nodes.size() == 1024);
  CHECK(topology->links.size() >= 4096);
  CHECK_FALSE(topology->aggregated);
  TopologyMap map;
  map.resize(1000, 700);
  map.set_topology(topology);
  const auto picture = [&](double time_s) {
    map.set_time(time_s);
    return map.grab().toImage();
  };
  // Half and full links differ, and the same time gives the same picture.
  const QImage half = picture(0.5);
  CHECK(picture(1.5) != half);
  CHECK(picture(0.5) == half);
  // Each link is found where it is drawn, or one that crosses it there.
  for (int link = 0; link < 4096; link += 512) {
    const TopologyLink& its = topology->links[static_cast<std::size_t>(link)];
    CHECK(map.link_at((map.position_of(its.a) + map.position_of(its.b)) / 2));
  }
}

TEST_CASE("time moves the map: links grow with their load, and the card says it", "[gui]") {
  TopologyView view;
  view.resize(700, 500);
  view.show();
  QSignalSpy chosen(&view, &TopologyView::time_chosen);
  view.set_topology(star_of(4));
  view.slider()->setValue(250);
  REQUIRE(chosen.size() == 1);
  CHECK(view.map()->time() == Approx(0.5));
  CHECK(view.map()->link_lines(0).join(" ").contains("to switch: 50.0 %"));
  CHECK(view.map()->link_lines(0).join(" ").contains("to worker0: not stored"));
  CHECK(view.note().contains("busiest over the run: worker0"));
  const TopologyPtr star = star_of(4);
  const QPointF middle =
      (view.map()->position_of(star->links[0].a) + view.map()->position_of(star->links[0].b)) / 2;
  CHECK(view.map()->link_at(middle) == 0);
  CHECK_FALSE(view.map()->link_at({2, 2}));
  const auto inked = [&] {
    const QImage image = view.map()->grab().toImage();
    int count = 0;
    for (int y = 0; y < image.height(); ++y) {
      for (int x = 0; x < image.width(); ++x) count += image.pixelColor(x, y).lightness() < 250;
    }
    return count;
  };
  const int half = inked();
  view.slider()->setValue(750);
  CHECK(view.map()->link_lines(0).join(" ").contains("to switch: 100.0 %"));
  CHECK(inked() > half);
  // Playing moves the time and stops at the end.
  view.toggle_play();
  CHECK(view.playing());
  CHECK(QTest::qWaitFor([&] { return view.map()->time() > 1.51; }, 2000));
  view.toggle_play();
  CHECK_FALSE(view.playing());
  // Links that lose packets say so.
  view.set_topology(
      std::make_shared<const Topology>(topology_of(sim::Cluster::star(2, gigabit(0.01)), {})));
  CHECK(view.map()->link_lines(0).contains("loses 1.00 %"));
  CHECK(view.note().contains("nothing is stored"));
}

TEST_CASE("loads can be told apart in grey, on light and on dark", "[unit]") {
  for (const bool dark : {false, true}) {
    QPalette palette;
    palette.setColor(QPalette::Base, dark ? QColor(0x1e, 0x1e, 0x1e) : QColor(Qt::white));
    palette.setColor(QPalette::Text, dark ? QColor(0xdd, 0xdd, 0xdd) : QColor(Qt::black));
    const Theme theme = theme_of(palette);
    int previous = -1;
    for (const double load : {0.0, 0.5, 1.0}) {
      const QColor colour = load_colour(theme, load);
      CHECK(contrast(colour, theme.background) >= 3);
      const int grey = qGray(colour.rgb());
      if (previous >= 0) CHECK((dark ? grey >= previous : grey <= previous));
      previous = grey;
    }
  }
}
