#include "gui/models/database.h"

#include <QMetaObject>
#include <algorithm>
#include <unordered_map>

#include "gui/models/database_worker.h"
#include "gui/whatif/what_if_base.h"

namespace gradwire::gui {

using results::RunId;

namespace {
constexpr int kPollMs = 1000;
constexpr std::size_t kKeptTimelines = 3;
}  // namespace

Database::Database(Opener opener, QObject* parent)
    : QObject(parent), opener_(opener), worker_(new DatabaseWorker(this, std::move(opener))) {
  qRegisterMetaType<Snapshot>();
  qRegisterMetaType<CurvePtr>();
  qRegisterMetaType<TimelinePtr>();
  qRegisterMetaType<WhatIfBasePtr>();
  qRegisterMetaType<TopologyPtr>();
  worker_->moveToThread(&thread_);
  connect(&thread_, &QThread::finished, worker_, &QObject::deleteLater);
  connect(worker_, &DatabaseWorker::runs_loaded, this, &Database::runs_loaded);
  connect(worker_, &DatabaseWorker::changed, this, &Database::changed);
  connect(worker_, &DatabaseWorker::failed, this, &Database::failed);
  connect(worker_, &DatabaseWorker::curve_loaded, this,
          [this](const CurvePtr& curve, quint64 generation) {
            if (generation == curves_generation_) emit curve_loaded(curve);
          });
  connect(worker_, &DatabaseWorker::timelines_loaded, this,
          [this](const TimelinePtr& timeline, const TimelinePtr& second, quint64 generation) {
            if (generation == timeline_generation_) emit timelines_loaded(timeline, second);
          });
  connect(worker_, &DatabaseWorker::what_if_loaded, this,
          [this](const WhatIfBasePtr& base, quint64 generation) {
            if (generation == what_if_generation_) emit what_if_loaded(base);
          });
  connect(worker_, &DatabaseWorker::topology_loaded, this,
          [this](const TopologyPtr& topology, quint64 generation) {
            if (generation == topology_generation_) emit topology_loaded(topology);
          });
  thread_.setObjectName("database");
  thread_.start();
}

Database::~Database() {
  ++curves_generation_;
  ++timeline_generation_;
  thread_.quit();
  thread_.wait();
}

void Database::open(const QString& path) {
  path_ = path;
  ++curves_generation_;
  ++timeline_generation_;
  QMetaObject::invokeMethod(worker_, [worker = worker_, path] { worker->open(path); });
}

void Database::refresh() {
  QMetaObject::invokeMethod(worker_, [worker = worker_] { worker->refresh(); });
}

void Database::request_curves(std::vector<RunId> runs) {
  const std::uint64_t generation = ++curves_generation_;
  if (runs.empty()) return;
  QMetaObject::invokeMethod(worker_, [worker = worker_, runs = std::move(runs), generation] {
    worker->load_curves(runs, generation);
  });
}

void Database::request_timelines(RunId run, RunId second) {
  const std::uint64_t generation = ++timeline_generation_;
  if (run == 0) return;
  QMetaObject::invokeMethod(worker_, [worker = worker_, run, second, generation] {
    worker->load_timelines(run, second, generation);
  });
}

void Database::request_topology(RunId run) {
  const std::uint64_t generation = ++topology_generation_;
  if (run == 0) return;
  QMetaObject::invokeMethod(
      worker_, [worker = worker_, run, generation] { worker->load_topology(run, generation); });
}

void Database::request_what_if(RunId run, const QString& scenario) {
  const std::uint64_t generation = ++what_if_generation_;
  QMetaObject::invokeMethod(worker_, [worker = worker_, run, scenario, generation] {
    worker->load_what_if(run, scenario, generation);
  });
}

DatabaseWorker::DatabaseWorker(Database* front, Database::Opener opener)
    : front_(front), opener_(std::move(opener)), timer_(new QTimer(this)) {
  timer_->setInterval(kPollMs);
  connect(timer_, &QTimer::timeout, this, &DatabaseWorker::poll);
}

template <typename Work>
void DatabaseWorker::guarded(Work&& work) {
  // A thread's event loop is a `main` of its own: an exception must end here, as a message.
  try {
    work();
  } catch (const std::exception& error) {
    emit failed(QString::fromUtf8(error.what()));
  }
}

void DatabaseWorker::open(const QString& path) {
  path_ = path;
  store_.reset();
  runs_.reset();
  refresh();
}

void DatabaseWorker::refresh() {
  guarded([this] {
    // The connections of a process share their locks and the log's index: while this one is open,
    // the next would be as blind as it is to what became of the files.
    store_.reset();
    store_ = opener_(path_.toStdString());
    load_runs();
    if (!timer_->isActive()) timer_->start();
  });
}

void DatabaseWorker::load_runs() {
  version_ = store_->data_version();
  told_ = false;
  timelines_.clear();
  runs_ = make_run_set(store_->runs());
  knowledge_.reset();
  emit runs_loaded(runs_);
}

void DatabaseWorker::poll() {
  if (!store_ || told_) return;
  guarded([this] {
    if (store_->data_version() == version_) return;
    told_ = true;
    emit changed();
  });
}

CurvePtr DatabaseWorker::read_curve(RunId run) const {
  auto curve = std::make_shared<RunCurve>();
  curve->run = run;
  std::unordered_map<std::int64_t, double> end_of_step;
  for (const results::StepRow& step : store_->steps(run)) end_of_step[step.step] = step.end_s;
  for (const results::MetricRow& metric : store_->metrics(run)) {
    const auto end = end_of_step.find(metric.step);
    if (metric.name == "accuracy" && end != end_of_step.end()) {
      curve->points.emplace_back(end->second, metric.value);
    }
  }
  std::sort(curve->points.begin(), curve->points.end());
  return curve;
}

void DatabaseWorker::load_curves(const std::vector<RunId>& runs, std::uint64_t generation) {
  guarded([&] {
    for (RunId run : runs) {
      if (!store_ || generation != front_->curves_generation_) return;
      emit curve_loaded(read_curve(run), generation);
    }
  });
}

TimelinePtr DatabaseWorker::timeline_of(RunId run) {
  const auto known = std::ranges::find(timelines_, run, [](const auto& each) { return each->run; });
  if (known != timelines_.end()) return *known;
  RunTimeline read;
  read.run = run;
  read.title = QString("run %1").arg(run);
  if (const auto summary = store_->run(run)) {
    read.workers = summary->header.workers;
    for (const std::string& part : {summary->header.scenario_name, summary->header.method}) {
      if (!part.empty()) read.title += QStringLiteral(" · ") + QString::fromStdString(part);
    }
    read.title += QString(" · %1 workers · seed %2").arg(read.workers).arg(summary->header.seed);
  }
  read.segments = store_->timeline(run);
  read.path = store_->critical_path(run);
  read.links = store_->links(run);
  read.provenance = QString::fromStdString(store_->timeline_provenance(run));
  TimelinePtr timeline = make_timeline(std::move(read));
  if (timelines_.size() >= kKeptTimelines) timelines_.erase(timelines_.begin());
  timelines_.push_back(timeline);
  return timeline;
}

void DatabaseWorker::load_timelines(RunId run, RunId second, std::uint64_t generation) {
  guarded([&] {
    if (!store_ || generation != front_->timeline_generation_) return;
    const TimelinePtr timeline = timeline_of(run);
    const TimelinePtr other = second == 0 || second == run ? nullptr : timeline_of(second);
    emit timelines_loaded(timeline, other, generation);
  });
}

void DatabaseWorker::load_topology(RunId run, std::uint64_t generation) {
  guarded([&] {
    if (!store_ || generation != front_->topology_generation_) return;
    const auto summary = store_->run(run);
    if (!summary) return;
    std::shared_ptr<Topology> topology;
    try {
      const auto file = scenarios::read_scenario_text(summary->header.scenario_json,
                                                      summary->header.scenario_file);
      topology = std::make_shared<Topology>(
          topology_of(scenarios::build_cluster(file.runs.at(0)), store_->links(run)));
      topology->run = run;
    } catch (const std::exception&) {
      // A run of another version, whose scenario is none any more: there is nothing to draw.
    }
    emit topology_loaded(topology, generation);
  });
}

void DatabaseWorker::load_what_if(RunId run, const QString& scenario, std::uint64_t generation) {
  if (generation != front_->what_if_generation_) return;
  const std::vector<results::RunSummary> none;
  const auto& runs = runs_ ? runs_->runs : none;
  if (!knowledge_) knowledge_ = knowledge_of(runs);
  WhatIfBasePtr base;
  try {
    if (run != 0 && store_) base = base_of_run(*store_, runs, run, *knowledge_);
    if (run == 0 && !scenario.isEmpty())
      base = base_of_scenario(scenario.toStdString(), *knowledge_);
  } catch (const std::exception&) {
    // A scenario that cannot be read is explained where it is written, not here.
  }
  emit what_if_loaded(base, generation);
}

}  // namespace gradwire::gui
