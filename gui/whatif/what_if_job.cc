#include "gui/whatif/what_if_job.h"

#include <QMetaObject>

namespace gradwire::gui {

WhatIfJob::WhatIfJob(QObject* parent) : QObject(parent), worker_(new QObject) {
  qRegisterMetaType<std::shared_ptr<const WhatIfAnswer>>();
  worker_->moveToThread(&thread_);
  connect(&thread_, &QThread::finished, worker_, &QObject::deleteLater);
  thread_.setObjectName("what-if");
  thread_.start();
}

WhatIfJob::~WhatIfJob() {
  ++generation_;
  thread_.quit();
  thread_.wait();
}

void WhatIfJob::set_base(WhatIfBasePtr base) {
  ++generation_;
  QMetaObject::invokeMethod(worker_, [this, base = std::move(base)] {
    model_ = base ? std::make_unique<WhatIf>(base) : nullptr;
  });
}

void WhatIfJob::ask(const Changes& changes) {
  const quint64 generation = ++generation_;
  QMetaObject::invokeMethod(worker_, [this, generation, changes] { work(generation, changes); });
}

void WhatIfJob::work(quint64 generation, const Changes& changes) {
  if (generation != generation_ || !model_) return;
  auto answer = std::make_shared<const WhatIfAnswer>(model_->answer(changes));
  QMetaObject::invokeMethod(this, [this, generation, answer] {
    if (generation == generation_) emit answered(answer);
  });
}

}  // namespace gradwire::gui
