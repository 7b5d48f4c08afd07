#include <QElapsedTimer>
#include <QFile>
#include <QTemporaryDir>
#include <algorithm>

#include "base/error.h"
#include "bench/gui/figures.h"
#include "gui/jobs/run_panel.h"
#include "gui/topology/topology_view.h"
#include "gui/whatif/what_if_base.h"
#include "scenarios/share.h"
#include "sim/cluster/topologies/topologies.h"

namespace gradwire::bench {

namespace {

constexpr int kTries = 5;

double best_of_tries(const std::function<double(int)>& milliseconds) {
  double best = 1e9;
  for (int i = 0; i < kTries; ++i) best = std::min(best, milliseconds(i));
  return best;
}

/// 1,024 nodes and more than 4,096 links, all of which carried something.
gui::TopologyPtr large_network() {
  sim::TwoTierPlan plan;
  plan.workers = 896;
  plan.racks = plan.spines = 64;
  plan.link.rate = plan.uplink.rate = BitsPerSecond(1e9);
  const sim::Cluster cluster = sim::two_tier(plan);
  std::vector<results::LinkSeries> series;
  for (int channel = 0; channel < cluster.channel_count(); channel += 2)
    series.push_back({channel, "link", 1e9, {{0, 1, 62'500'000}, {1, 2, 125'000'000}}});
  return std::make_shared<const gui::Topology>(gui::topology_of(cluster, series));
}

/// A picture of another time.
double paint_network() {
  gui::TopologyMap map;
  map.resize(1000, 700);
  map.set_topology(large_network());
  QImage image(map.size(), QImage::Format_ARGB32_Premultiplied);
  return best_of_tries([&](int i) {
    map.set_time(0.3 * i);
    return milliseconds_of([&] { map.render(&image); });
  });
}

/// The slowest of the sliders, once what stays the same is known.
double answer_what_if() {
  gui::WhatIf model(
      gui::base_of_scenario(scenarios::share_folder() + "/alexnet.json", gui::knowledge_of({})));
  const auto ask = [&](const gui::Changes& changes) {
    return milliseconds_of([&] {
      const gui::WhatIfAnswer answer = model.answer(changes);
      if (!answer.with)
        throw Error(ErrorKind::kFailure, "ask the model", "alexnet", answer.problem.toStdString());
    });
  };
  ask({});
  double slowest = 0;
  for (const gui::Changes& changes :
       {gui::Changes{{gui::Knob::kBandwidth, "3Gbps"}}, gui::Changes{{gui::Knob::kLoss, "0.001"}},
        gui::Changes{{gui::Knob::kWorkers, "256"}}, gui::Changes{{gui::Knob::kDelay, "2ms"}}})
    slowest = std::max(slowest, best_of_tries([&](int) { return ask(changes); }));
  return slowest;
}

/// A program that says when it was interrupted.
QString interruptible_program(const QTemporaryDir& folder) {
  QFile script(folder.filePath("gradwire"));
  if (!script.open(QIODevice::WriteOnly))
    throw Error(ErrorKind::kFailure, "write", script.fileName().toStdString(),
                script.errorString().toStdString());
  script.write(R"(#!/bin/sh
trap 'echo interrupted >&2; exit 130' INT
while :; do
  echo '{"type":"progress","run":0,"runs":1,"name":"a","method":"none","seed":1,"step":1,"steps":9}'
  sleep 0.01
done
)");
  script.close();
  script.setPermissions(QFile::ReadOwner | QFile::ExeOwner);
  return script.fileName();
}

void process_until(const std::function<bool()>& done) {
  while (!done()) QApplication::processEvents(QEventLoop::AllEvents, 20);
}

/// From the cancel until the run says, in the window's log, that it was interrupted: real time.
double cancel_run() {
  const QTemporaryDir folder;
  qputenv("GRADWIRE_PROGRAM", interruptible_program(folder).toUtf8());
  const double best = best_of_tries([&](int) {
    gui::RunPanel panel;
    panel.set_scenario(folder.filePath("scenario.json"));
    panel.set_database(folder.filePath("runs.db"));
    panel.start();
    process_until([&] { return panel.queue()->rowCount() > 0; });
    QElapsedTimer since;
    since.start();
    panel.cancel();
    process_until([&] { return panel.log_text().contains("interrupted"); });
    const double milliseconds = double(since.nsecsElapsed()) / 1e6;
    process_until([&] { return !panel.process()->running(); });
    return milliseconds;
  });
  qunsetenv("GRADWIRE_PROGRAM");
  return best;
}

}  // namespace

std::vector<GuiFigure> panel_figures() {
  return {{"gui.nodes1024.paint", paint_network()},
          {"gui.what_if.answer", answer_what_if()},
          {"gui.run.cancel", cancel_run()}};
}

}  // namespace gradwire::bench
