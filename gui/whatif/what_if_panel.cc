#include "gui/whatif/what_if_panel.h"

#include <QGridLayout>
#include <QHBoxLayout>
#include <QVBoxLayout>

#include "gui/models/run_set.h"
#include "gui/whatif/what_if_words.h"

namespace gradwire::gui {

WhatIfPanel::WhatIfPanel(QWidget* parent) : QWidget(parent), job_("what-if", this) {
  build();
  ask_timer_.setSingleShot(true);
  ask_timer_.setInterval(0);
  connect(&ask_timer_, &QTimer::timeout, this, &WhatIfPanel::ask);
  connect(reset_, &QPushButton::clicked, this, &WhatIfPanel::reset);
  connect(copy_, &QPushButton::clicked, this, &WhatIfPanel::copy_to_scenario);
  set_base(nullptr);
}

void WhatIfPanel::build() {
  const auto text_label = [this](const char* name) {
    auto* label = new QLabel(this);
    label->setWordWrap(true);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    label->setAccessibleName(name);
    return label;
  };
  about_ = text_label("What is asked about");
  badge_ = new QLabel("Model, not run", this);
  badge_->setAccessibleName("Where the figures come from");
  badge_->setFrameShape(QFrame::StyledPanel);
  badge_->setToolTip("The closed form with its constants at their usual values (gradwire advise)");
  verdict_ = text_label("Whether to compress");
  QFont bold = verdict_->font();
  bold.setBold(true);
  verdict_->setFont(bold);
  cost_ = text_label("What it costs");
  details_ = text_label("Times of a step");
  problem_ = text_label("Why there is no answer");
  find_out_ = new QLineEdit(this);
  find_out_->setReadOnly(true);
  find_out_->setAccessibleName("Command that finds out the accuracy");
  find_out_->setToolTip("Trains with and without the method, to find out its accuracy");
  find_out_->hide();
  problem_->setTextFormat(Qt::PlainText);
  auto* grid = new QGridLayout;
  for (int k = 0; k < kKnobs; ++k) {
    if (knob_at(k) != Knob::kOverlap) build_row(knob_at(k), grid);
  }
  overlap_ = new QCheckBox("&Overlap: send while computing", this);
  overlap_->setToolTip(info(Knob::kOverlap).help);
  grid->addWidget(overlap_, kKnobs, 0, 1, 3);
  reset_ = new QPushButton("As it &was", this);
  copy_ = new QPushButton("Copy to scenario", this);
  auto* buttons = new QHBoxLayout;
  buttons->addWidget(reset_);
  buttons->addWidget(copy_);
  auto* head = new QHBoxLayout;
  head->addWidget(about_, 1);
  head->addWidget(badge_);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(6, 6, 6, 6);
  layout->addLayout(head);
  layout->addLayout(grid);
  layout->addWidget(problem_);
  layout->addWidget(verdict_);
  layout->addWidget(cost_);
  layout->addWidget(details_);
  layout->addWidget(find_out_);
  layout->addStretch(1);
  layout->addLayout(buttons);
  connect(overlap_, &QCheckBox::toggled, this, [this] {
    if (!showing_) ask_timer_.start();
  });
}

void WhatIfPanel::build_row(Knob knob, QGridLayout* grid) {
  Row& row = rows_[static_cast<std::size_t>(knob)];
  const KnobInfo& its = info(knob);
  row.label = new QLabel(its.label, this);
  row.label->setToolTip(its.help);
  row.slider = new QSlider(Qt::Horizontal, this);
  row.slider->setRange(0, kSliderSteps);
  row.slider->setPageStep(kSliderSteps / 20);
  row.slider->setAccessibleName(QString("%1, %2").arg(its.label, its.help));
  row.field = new QLineEdit(this);
  row.field->setAccessibleName(QString("%1, exactly").arg(its.label));
  row.field->setToolTip(QString("%1 (%2)").arg(its.help, its.pointer));
  row.field->setMaximumWidth(fontMetrics().horizontalAdvance("0.000125 Gbps0"));
  row.label->setBuddy(row.field);
  const int line = static_cast<int>(knob);
  grid->addWidget(row.label, line, 0);
  grid->addWidget(row.slider, line, 1);
  grid->addWidget(row.field, line, 2);
  connect_row(knob);
}

void WhatIfPanel::connect_row(Knob knob) {
  Row& row = rows_[static_cast<std::size_t>(knob)];
  connect(row.slider, &QSlider::valueChanged, this, [this, knob, &row](int position) {
    if (showing_) return;
    showing_ = true;
    row.field->setText(spaced_unit(text_of(knob, value_at(knob, position))));
    showing_ = false;
    ask_timer_.start();
  });
  connect(row.field, &QLineEdit::textChanged, this, [this, knob, &row](const QString& text) {
    if (showing_) return;
    QString problem;
    // The slider shows where the value lies; the field keeps what was typed.
    if (const auto value = value_of(knob, text, problem)) {
      showing_ = true;
      row.slider->setValue(position_of(knob, *value));
      showing_ = false;
    }
    ask_timer_.start();
  });
}

void WhatIfPanel::set_base(WhatIfBasePtr base) {
  // The same again, of a refreshed database: what was turned stays.
  const bool same =
      base_ && base && base_->name == base->name && base_->scenario_json == base->scenario_json;
  base_ = std::move(base);
  answer_.reset();
  job_.cancel();
  model_ = base_ ? std::make_shared<WhatIf>(base_) : nullptr;
  about_->setText(base_ ? base_->name
                        : "Select a run, or open a scenario, to ask what would change.");
  badge_->setVisible(base_ != nullptr);
  copy_->setEnabled(base_ != nullptr);
  forget_answer();
  problem_->clear();
  if (!same) show_values();
  if (base_) ask_timer_.start();
}

void WhatIfPanel::show_values() {
  const auto values = base_ ? knob_values(*base_) : std::array<std::optional<double>, kKnobs>();
  showing_ = true;
  for (int k = 0; k < kKnobs; ++k) {
    const auto& value = values[static_cast<std::size_t>(k)];
    if (knob_at(k) == Knob::kOverlap) {
      overlap_->setEnabled(value.has_value());
      overlap_->setChecked(value.value_or(0) != 0);
      continue;
    }
    const Row& row = rows_[static_cast<std::size_t>(k)];
    for (QWidget* widget : std::initializer_list<QWidget*>{row.label, row.slider, row.field}) {
      widget->setEnabled(value.has_value());
    }
    row.field->setText(value ? spaced_unit(text_of(knob_at(k), *value)) : QString());
    row.slider->setValue(value ? position_of(knob_at(k), *value) : 0);
  }
  showing_ = false;
  reset_->setEnabled(false);
}

bool WhatIfPanel::read(Changes& changes) {
  const auto own = knob_values(*base_);
  for (int k = 0; k < kKnobs; ++k) {
    const auto& was = own[static_cast<std::size_t>(k)];
    if (!was) continue;
    const Knob knob = knob_at(k);
    const QString text = knob == Knob::kOverlap ? (overlap_->isChecked() ? "true" : "false")
                                                : rows_[static_cast<std::size_t>(k)].field->text();
    QString problem;
    const auto value = value_of(knob, text, problem);
    if (!value) {
      problem_->setText(QString("%1: %2").arg(info(knob).label, problem));
      return false;
    }
    if (*value != *was) changes[knob] = text_of(knob, *value);
  }
  return true;
}

void WhatIfPanel::ask() {
  if (!base_) return;
  Changes changes;
  const bool readable = read(changes);
  reset_->setEnabled(!readable || !changes.empty());
  copy_->setEnabled(readable);
  if (readable) {
    job_.start([this, model = model_, changes](const LatestJob::Current&) {
      auto answer = std::make_shared<const WhatIfAnswer>(model->answer(changes));
      return [this, answer] { take(answer); };
    });
    return;
  }
  forget_answer();
}

void WhatIfPanel::forget_answer() {
  for (QLabel* label : {verdict_, cost_, details_}) label->clear();
  find_out_->hide();
}

void WhatIfPanel::take(const std::shared_ptr<const WhatIfAnswer>& answer) {
  answer_ = answer;
  problem_->setText(answer->problem);
  verdict_->setText(verdict_word(*answer));
  cost_->setText(cost_text(*answer));
  details_->setText(answer->problem.isEmpty() ? details_text(*answer) : QString());
  find_out_->setText(find_out_command(*answer));
  find_out_->setCursorPosition(0);
  find_out_->setVisible(!find_out_->text().isEmpty());
  emit answered();
}

void WhatIfPanel::reset() {
  show_values();
  if (base_) ask_timer_.start();
}

void WhatIfPanel::copy_to_scenario() {
  Changes changes;
  if (!base_ || !read(changes)) return;
  try {
    emit scenario_wanted(changed_scenario(*base_, changes),
                         QString::fromStdString(base_->scenario_file));
  } catch (const Error& error) {
    problem_->setText(QString::fromUtf8(error.what()));
  }
}

void WhatIfPanel::focus_first() {
  rows_[0].field->setFocus();
  rows_[0].field->selectAll();
}

}  // namespace gradwire::gui
