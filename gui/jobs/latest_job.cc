#include "gui/jobs/latest_job.h"

#include <QMetaObject>

namespace gradwire::gui {

LatestJob::LatestJob(const char* name, QObject* parent) : QObject(parent), worker_(new QObject) {
  worker_->moveToThread(&thread_);
  connect(&thread_, &QThread::finished, worker_, &QObject::deleteLater);
  thread_.setObjectName(name);
  thread_.start();
}

LatestJob::~LatestJob() {
  ++generation_;
  thread_.quit();
  thread_.wait();
}

void LatestJob::start(Work work) {
  const quint64 generation = ++generation_;
  QMetaObject::invokeMethod(worker_, [this, generation, work = std::move(work)] {
    const auto current = [this, generation] { return generation == generation_; };
    if (!current()) return;
    QMetaObject::invokeMethod(this, [current, done = work(current)] {
      if (current() && done) done();
    });
  });
}

}  // namespace gradwire::gui
