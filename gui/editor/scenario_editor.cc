#include "gui/editor/scenario_editor.h"

#include <QEvent>
#include <QFileInfo>
#include <QFontDatabase>
#include <QTextBlock>
#include <QVBoxLayout>

#include "base/file_descriptor.h"

namespace gradwire::gui {

namespace {
constexpr int kCheckDelayMs = 150;
constexpr int kProblemLines = 5;
constexpr qsizetype kShownDifferences = 3;
}  // namespace

ScenarioEditor::ScenarioEditor(QWidget* parent) : QWidget(parent), job_("scenario", this) {
  build();
  timer_.setSingleShot(true);
  timer_.setInterval(kCheckDelayMs);
  connect(&timer_, &QTimer::timeout, this, &ScenarioEditor::check);
  connect(text_, &QPlainTextEdit::textChanged, &timer_, qOverload<>(&QTimer::start));
  connect(text_->document(), &QTextDocument::modificationChanged, this, &ScenarioEditor::changed);
  connect(form_, &ScenarioForm::edited, this, &ScenarioEditor::take_field);
  connect(form_, &ScenarioForm::refused, this, [this](const QString& message) {
    refused_->setText(message);
    refused_->show();
  });
  connect(problems_, &QListWidget::itemActivated, this,
          [this](QListWidgetItem* item) { jump_to(problems_->row(item)); });
  connect(problems_, &QListWidget::itemClicked, this,
          [this](QListWidgetItem* item) { jump_to(problems_->row(item)); });
}

void ScenarioEditor::build() {
  text_ = new QPlainTextEdit(this);
  text_->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
  text_->setLineWrapMode(QPlainTextEdit::NoWrap);
  text_->setTabChangesFocus(true);
  text_->setAccessibleName("Text of the scenario");
  text_->setPlaceholderText("Open a scenario, or start from one that ships (Edit menu).");
  highlighter_ = new JsonHighlighter(text_->document(), theme_of(palette()));
  form_ = new ScenarioForm(this);
  problems_ = new QListWidget(this);
  problems_->setWordWrap(true);
  problems_->setAccessibleName("Problems of the scenario");
  problems_->setMaximumHeight(fontMetrics().height() * 2 * kProblemLines);
  problems_->hide();
  const auto label = [this](const char* name) {
    auto* made = new QLabel(this);
    made->setWordWrap(true);
    made->setTextFormat(Qt::PlainText);
    made->setContentsMargins(8, 2, 8, 2);
    made->setAccessibleName(name);
    return made;
  };
  state_ = label("What the scenario runs");
  refused_ = label("Why a field was not taken over");
  refused_->hide();
  difference_ = label("What differs from the file");
  auto* split = new QSplitter(Qt::Horizontal, this);
  split->addWidget(text_);
  split->addWidget(form_);
  split->setStretchFactor(0, 3);
  split->setStretchFactor(1, 2);
  split->setChildrenCollapsible(false);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(2);
  layout->addWidget(state_);
  layout->addWidget(split, 1);
  layout->addWidget(refused_);
  layout->addWidget(problems_);
  layout->addWidget(difference_);
}

void ScenarioEditor::open(const QString& path) {
  const std::string text = read_file(path.toStdString());
  open_text(QString::fromStdString(text), path);
  saved_ = text;
  text_->document()->setModified(false);
  show_state();
}

void ScenarioEditor::open_text(const QString& text, const QString& path) {
  path_ = path;
  saved_.clear();
  text_->setPlainText(text);
  text_->document()->setModified(true);
  timer_.stop();
  check();
  emit changed();
}

void ScenarioEditor::save(const QString& path) {
  const std::string text = text_->toPlainText().toStdString();
  write_file(path.toStdString(), text);
  path_ = path;
  saved_ = text;
  text_->document()->setModified(false);
  check();
  emit changed();
}

void ScenarioEditor::set_runs(Snapshot runs) {
  runs_ = std::move(runs);
  if (!text_->document()->isEmpty()) timer_.start();
}

void ScenarioEditor::check() {
  const std::string text = text_->toPlainText().toStdString();
  form_->show_text(text);
  refused_->hide();
  if (text.empty()) {
    job_.cancel();
    return take({});
  }
  job_.start([this, text, path = path_.toStdString(), runs = runs_](const LatestJob::Current&) {
    const std::vector<results::RunSummary> none;
    ScenarioVerdict verdict = check_scenario(text, path, runs ? runs->runs : none);
    return [this, verdict = std::move(verdict)] { take(verdict); };
  });
}

void ScenarioEditor::take(const ScenarioVerdict& verdict) {
  verdict_ = verdict;
  problems_->clear();
  for (const ScenarioProblem& problem : verdict.problems) problems_->addItem(problem.text());
  problems_->setVisible(!verdict.problems.empty());
  mark_problems();
  show_state();
  emit checked();
}

void ScenarioEditor::show_state() {
  QStringList lines;
  if (text_->document()->isEmpty()) {
    lines << "No scenario is open.";
  } else {
    const QString name = path_.isEmpty() ? QString("not saved yet") : QFileInfo(path_).fileName();
    lines << name + (modified() ? ", changed: " : ": ") + verdict_.in_short();
    if (!verdict_.basis.isEmpty()) lines.last() += " (" + verdict_.basis + ")";
  }
  for (const QString& warning : verdict_.warnings) lines << "Suspicious: " + warning;
  state_->setText(lines.join("\n"));
  QStringList fields;
  if (modified() && !saved_.empty()) {
    fields = differing_fields(saved_, text_->toPlainText().toStdString());
  }
  QString text = fields.mid(0, kShownDifferences).join(" · ");
  if (fields.size() > kShownDifferences) {
    text += QString(" · and %1 more").arg(fields.size() - kShownDifferences);
  }
  difference_->setText("Differs from the file in " + text);
  difference_->setToolTip(fields.join("\n"));
  difference_->setVisible(!fields.isEmpty());
}

void ScenarioEditor::mark_problems() {
  const Theme theme = theme_of(palette());
  QList<QTextEdit::ExtraSelection> marks;
  const QString text = text_->toPlainText();
  for (const ScenarioProblem& problem : verdict_.problems) {
    if (problem.line <= 0) continue;
    const auto [at, length] = place_of(text, problem);
    QTextEdit::ExtraSelection mark;
    mark.cursor = QTextCursor(text_->document());
    mark.cursor.setPosition(at);
    mark.cursor.setPosition(at + length, QTextCursor::KeepAnchor);
    if (length == 0) mark.cursor.select(QTextCursor::LineUnderCursor);
    mark.format.setUnderlineStyle(QTextCharFormat::WaveUnderline);
    mark.format.setUnderlineColor(with_contrast(QColor(0xD5, 0x5E, 0x00), theme.background, 3));
    mark.format.setToolTip(problem.text());
    marks << mark;
  }
  text_->setExtraSelections(marks);
}

void ScenarioEditor::jump_to(int row) {
  if (row < 0 || row >= static_cast<int>(verdict_.problems.size())) return;
  const auto [at, length] =
      place_of(text_->toPlainText(), verdict_.problems[static_cast<std::size_t>(row)]);
  QTextCursor cursor = text_->textCursor();
  cursor.setPosition(at);
  cursor.setPosition(at + length, QTextCursor::KeepAnchor);
  text_->setTextCursor(cursor);
  text_->ensureCursorVisible();
  text_->setFocus();
}

void ScenarioEditor::jump_to_next() {
  const int next = problems_->currentRow() + 1;
  const int row = next < problems_->count() ? next : 0;
  problems_->setCurrentRow(row);
  jump_to(row);
}

void ScenarioEditor::take_field(const QString& pointer, const QString& value) {
  const std::string before = text_->toPlainText().toStdString();
  const auto after = with_field(before, pointer.toStdString(), value);
  if (!after || *after == before) return;
  // One step of undo, and the caret where it was: what both texts begin with stays.
  const QString text = QString::fromStdString(*after), old = text_->toPlainText();
  qsizetype same = 0;
  while (same < text.size() && same < old.size() && text[same] == old[same]) ++same;
  qsizetype tail = 0;
  while (tail < text.size() - same && tail < old.size() - same &&
         text[text.size() - 1 - tail] == old[old.size() - 1 - tail]) {
    ++tail;
  }
  QTextCursor cursor(text_->document());
  cursor.setPosition(static_cast<int>(same));
  cursor.setPosition(static_cast<int>(old.size() - tail), QTextCursor::KeepAnchor);
  cursor.insertText(text.mid(same, text.size() - same - tail));
  timer_.stop();
  check();
}

void ScenarioEditor::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() != QEvent::PaletteChange) return;
  highlighter_->set_theme(theme_of(palette()));
  mark_problems();
}

}  // namespace gradwire::gui
