#pragma once
#include <QObject>
#include <QThread>
#include <atomic>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "gui/models/run_set.h"
#include "gui/timeline/run_timeline.h"
#include "gui/topology/topology_graph.h"
#include "gui/whatif/what_if.h"
#include "results/store/store.h"

namespace gradwire::gui {

/// A run's accuracy on held-out samples over virtual time.
struct RunCurve {
  results::RunId run = 0;
  std::vector<std::pair<double, double>> points;  ///< seconds, share of one
};
using CurvePtr = std::shared_ptr<const RunCurve>;

class DatabaseWorker;

/// Reads the results database on a thread of its own, so that a slow disk or a large table never
/// blocks the window. Answers arrive as signals in the window's thread; answers to requests that a
/// later one replaced are dropped.
class Database : public QObject {
  Q_OBJECT

 public:
  using Opener = std::function<std::unique_ptr<results::Store>(const std::string& path)>;

  /// `opener` is results::Store::open(path, kReadOnly) in the program and a fake in some tests.
  explicit Database(Opener opener, QObject* parent = nullptr);
  ~Database() override;

  /// Opens another database and loads its runs.
  void open(const QString& path);
  /// Opens the file again and loads its runs: what stands there now, whatever became of the file
  /// that was open.
  void refresh();
  void request_curves(std::vector<results::RunId> runs);
  /// Of a run, and of another one to compare it with (0: none).
  void request_timelines(results::RunId run, results::RunId second = 0);
  void request_topology(results::RunId run);
  /// What the what-if panel starts from: of a run, or (run 0) of a scenario file; both absent:
  /// none.
  void request_what_if(results::RunId run, const QString& scenario);
  const QString& path() const { return path_; }
  /// For work on a thread of its own: each store is one thread's.
  const Opener& opener() const { return opener_; }

 signals:
  void runs_loaded(const gradwire::gui::Snapshot& runs);
  void curve_loaded(const gradwire::gui::CurvePtr& curve);
  void timelines_loaded(const gradwire::gui::TimelinePtr& timeline,
                        const gradwire::gui::TimelinePtr& second);
  void what_if_loaded(const gradwire::gui::WhatIfBasePtr& base);
  /// Null: the run has no network that can be drawn.
  void topology_loaded(const gradwire::gui::TopologyPtr& topology);
  /// Something was written since the runs were loaded.
  void changed();
  void failed(const QString& message);

 private:
  friend class DatabaseWorker;

  Opener opener_;
  QString path_;
  QThread thread_;
  DatabaseWorker* worker_;
  std::atomic<std::uint64_t> curves_generation_{0};
  std::atomic<std::uint64_t> timeline_generation_{0};
  std::atomic<std::uint64_t> what_if_generation_{0};
  std::atomic<std::uint64_t> topology_generation_{0};
};

}  // namespace gradwire::gui
