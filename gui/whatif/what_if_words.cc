#include "gui/whatif/what_if_words.h"

#include "gui/models/columns.h"

namespace gradwire::gui {

namespace {

QString words_of(const WhatIfCost& cost, const std::string& currency) {
  const auto digits = [](double value) { return quantity_text(value, Quantity::kPlain, {}); };
  QString words =
      digits(cost.gpu_hours) + " GPU h, " + quantity_text(cost.bytes, Quantity::kBytes, {});
  if (cost.money > 0) words += ", " + QString::fromStdString(currency) + " " + digits(cost.money);
  return words;
}

QString time_text(double seconds) {
  return quantity_text(seconds, Quantity::kDuration, {});
}

const QString kToFindOut = QString::fromUtf8(results::kToFindOut.data());

QString sentence_of(const WhatIfAnswer& answer) {
  return answer.advice ? QString::fromStdString(results::verdict_sentence(*answer.advice))
                       : QString();
}

QString row_text(const char* name, const QString& value) {
  return QString("<tr><td style='padding-right:10px'>%1</td><td>%2</td></tr>")
      .arg(name, value.toHtmlEscaped());
}

QString step_text(const results::RankedCandidate& step) {
  return QString("%1 (%2 to %3)")
      .arg(time_text(step.seconds()), time_text(step.prediction.low_s),
           time_text(step.prediction.high_s));
}

}  // namespace

QString cost_text(const WhatIfAnswer& answer) {
  if (!answer.cost) return {};
  QString text = QString("%1 steps: %2")
                     .arg(quantity_text(kCostedSteps, Quantity::kCount, {}),
                          words_of(*answer.cost, answer.currency));
  if (answer.dense_cost && answer.with->candidate.baseline != results::Baseline::kFp32)
    text += "; without compression " + words_of(*answer.dense_cost, answer.currency);
  return text;
}

QString verdict_word(const WhatIfAnswer& answer) {
  if (!answer.advice) return {};
  switch (answer.advice->verdict()) {
    case results::Verdict::kDoNotCompress:
      return "Do not compress";
    case results::Verdict::kHalves:
      return "Send fp16, compress no further";
    case results::Verdict::kCompress:
      return "Compress";
    case results::Verdict::kNothing:
      return "No method keeps the accuracy";
  }
  return {};
}

QString details_text(const WhatIfAnswer& answer) {
  if (!answer.with) return {};
  const results::RankedCandidate& with = *answer.with;
  QString rows = row_text("Step", step_text(with));
  if (answer.dense) {
    rows += row_text("Without compression", step_text(*answer.dense));
    const double factor = answer.dense->seconds() / with.seconds();
    if (with.candidate.baseline != results::Baseline::kFp32)
      rows += row_text("Faster", QStringLiteral("×") + quantity_text(factor, Quantity::kPlain, {}));
  }
  if (const auto* chosen = answer.advice ? answer.advice->chosen() : nullptr;
      chosen && chosen->candidate.method != with.candidate.method) {
    rows +=
        row_text("Advised", QString("%1, %2").arg(QString::fromStdString(chosen->candidate.method),
                                                  time_text(chosen->seconds())));
  }
  const results::StepTime& time = with.prediction.time;
  rows += row_text("Computing", time_text(time.compute_s));
  rows += row_text("Coding", time_text(time.encode_s + time.decode_s));
  rows += row_text("Exposed communication", time_text(time.exposed_s));
  if (answer.alone_s > 0) {
    rows += row_text("Scaling efficiency",
                     quantity_text(answer.alone_s / with.seconds(), Quantity::kShare, {}));
  }
  if (answer.crossover) {
    const results::Crossover& at = *answer.crossover;
    rows += row_text("Compressing pays",
                     at.pays.empty() ? QString("on no link that was tried")
                     : at.wins_always
                         ? QString("on links of any rate that was tried")
                         : "on links of " + QString::fromStdString(results::pays_words(at)));
  }
  QString text = "<table>" + rows + "</table>";
  if (answer.advice) {
    text += "<p>" + sentence_of(answer).section(kToFindOut, 0, 0).toHtmlEscaped() + "</p>";
  }
  for (const QString& remark : answer.remarks) text += "<p>" + remark.toHtmlEscaped() + "</p>";
  return text;
}

QString find_out_command(const WhatIfAnswer& answer) {
  return sentence_of(answer).section(kToFindOut, 1).trimmed();
}

}  // namespace gradwire::gui
