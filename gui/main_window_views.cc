#include <QHeaderView>
#include <QInputDialog>
#include <QMenu>
#include <QStatusBar>

#include "base/error.h"
#include "gui/main_window.h"

/// Named views, and going back to where one was.
namespace gradwire::gui {

namespace {
/// What is changed within so long is one step back.
constexpr int kSettleMs = 400;
}  // namespace

ViewState MainWindow::view_state() const {
  ViewState view;
  table_->store_view(view);
  tradeoff_->store_view(view);
  view.tab = charts_->currentIndex();
  return view;
}

void MainWindow::show_view(const ViewState& view) {
  restoring_ = true;
  table_->show_view(view);
  tradeoff_->show_view(view);
  if (view.tab < charts_->count()) charts_->setCurrentIndex(view.tab);
  restoring_ = false;
}

void MainWindow::connect_history() {
  history_timer_.setSingleShot(true);
  history_timer_.setInterval(kSettleMs);
  connect(&history_timer_, &QTimer::timeout, this, [this] { visit_view(); });
  const auto settle = [this] {
    if (!restoring_) history_timer_.start();
  };
  connect(table_, &RunTable::view_changed, this, settle);
  connect(tradeoff_, &TradeoffView::view_changed, this, settle);
  connect(charts_, &QTabWidget::currentChanged, this, settle);
}

void MainWindow::visit_view() {
  history_timer_.stop();
  history_.visit(view_state());
}

void MainWindow::go(bool back) {
  visit_view();
  if (const auto view = back ? history_.back() : history_.forward()) {
    show_view(*view);
  } else {
    statusBar()->showMessage(back ? "This is the first view." : "This is the last view.", 3000);
  }
}

void MainWindow::open_views() {
  exporting_quietly([this] { saved_views_.open(database_->path()); });
  rebuild_views();
}

void MainWindow::exporting_quietly(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    error_bar_->show_message(QString::fromUtf8(error.what()));
  }
}

void MainWindow::rebuild_views() {
  views_menu_->clear();
  for (const QString& name : saved_views_.names()) {
    add_action(views_menu_, QString(name).replace("&", "&&"), {}, [this, name] {
      visit_view();
      if (const auto view = saved_views_.find(name)) show_view(*view);
    });
  }
  QMenu* forget = views_menu_->addMenu("&Forget");
  for (const QString& name : saved_views_.names()) {
    add_action(forget, QString(name).replace("&", "&&"), {}, [this, name] {
      exporting_quietly([&] { saved_views_.remove(name); });
      rebuild_views();
    });
  }
  views_menu_->setEnabled(!saved_views_.names().isEmpty());
}

void MainWindow::save_view(const QString& name) {
  if (name.trimmed().isEmpty()) return;
  exporting_quietly([&] { saved_views_.save(name.trimmed(), view_state()); });
  rebuild_views();
}

void MainWindow::ask_view_name() {
  auto* dialog = new QInputDialog(this);
  dialog->setWindowTitle("Save the view");
  dialog->setLabelText("Name of this filter, sort, axes and zoom:");
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setModal(false);
  connect(dialog, &QInputDialog::textValueSelected, this, &MainWindow::save_view);
  dialog->show();
}

}  // namespace gradwire::gui
