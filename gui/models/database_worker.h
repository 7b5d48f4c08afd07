#pragma once
#include <QTimer>

#include "gui/models/database.h"

namespace gradwire::gui {

/// Lives in Database's thread and owns the store. Its signals carry answers to the window's thread.
class DatabaseWorker : public QObject {
  Q_OBJECT

 public:
  DatabaseWorker(Database* front, Database::Opener opener);

  void open(const QString& path);
  void refresh();
  void load_curves(const std::vector<results::RunId>& runs, std::uint64_t generation);
  void load_timelines(results::RunId run, results::RunId second, std::uint64_t generation);
  void load_topology(results::RunId run, std::uint64_t generation);
  void load_what_if(results::RunId run, const QString& scenario, std::uint64_t generation);

 signals:
  void runs_loaded(const gradwire::gui::Snapshot& runs);
  void curve_loaded(const gradwire::gui::CurvePtr& curve, quint64 generation);
  void timelines_loaded(const gradwire::gui::TimelinePtr& timeline,
                        const gradwire::gui::TimelinePtr& second, quint64 generation);
  void topology_loaded(const gradwire::gui::TopologyPtr& topology, quint64 generation);
  void what_if_loaded(const gradwire::gui::WhatIfBasePtr& base, quint64 generation);
  void changed();
  void failed(const QString& message);

 private:
  /// Runs `work` and turns an exception into failed().
  template <typename Work>
  void guarded(Work&& work);
  void load_runs();
  void poll();
  CurvePtr read_curve(results::RunId run) const;
  TimelinePtr timeline_of(results::RunId run);

  Database* front_;
  Database::Opener opener_;
  QTimer* timer_;
  QString path_;
  std::unique_ptr<results::Store> store_;
  std::vector<TimelinePtr> timelines_;                   ///< the last ones, of this state
  Snapshot runs_;                                        ///< as last loaded
  std::optional<results::AccuracyKnowledge> knowledge_;  ///< of runs_
  std::int64_t version_ = 0;
  bool told_ = false;
};

}  // namespace gradwire::gui
