#include "results/reproductions/parameter_server.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.h"
#include "results/export/csv.h"
#include "results/reproductions/predicted_row.h"
#include "results/store/store.h"

namespace gradwire::results {
namespace {

constexpr double kRatioErrorAllowed = 0.2;
constexpr double kLeastCompressed = 65536, kPart = 4096000, kValue = 4, kScale = 4, kPair = 8;

struct MethodTime {
  std::string method;
  MessageEncoding encoding = MessageEncoding::kDense;
  double kept = 0;
  Bytes message{0};
  Seconds time{0};
};

struct ServerConstants {
  Seconds fixed{0}, transmission{0};
  Bytes dense{0};
  Seconds time(Bytes message) const {
    return fixed + transmission * (message.bits() / dense.bits());
  }
};

MessageEncoding encoding_of(const CsvTable& table, std::size_t row) {
  const std::string& name = table.text(row, "encoding");
  if (name == "dense") return MessageEncoding::kDense;
  if (name == "sign_bytes") return MessageEncoding::kSignBytes;
  if (name == "pairs") return MessageEncoding::kPairs;
  table.refuse(row, "encoding", "\"" + name + "\" is none of dense, sign_bytes, pairs");
}

std::vector<TrainedTensors> tensors_of(std::string_view csv, const std::string& file) {
  const CsvTable table(csv, file);
  table.expect({"layer", "tensors", "values"}, {});
  std::vector<TrainedTensors> tensors;
  for (std::size_t i = 0; i < table.rows(); ++i)
    tensors.push_back({table.positive(i, "tensors"), table.positive(i, "values")});
  return tensors;
}

/// Rows of each bandwidth in Gbps, those that send most first.
std::map<double, std::vector<MethodTime>> times_by_bandwidth(
    const CsvTable& table, const std::vector<TrainedTensors>& tensors) {
  std::map<double, std::vector<MethodTime>> rows;
  for (std::size_t i = 0; i < table.rows(); ++i) {
    MethodTime row{table.text(i, "method"), encoding_of(table, i), table.positive(i, "kept", 0),
                   Bytes(0), Seconds(table.positive(i, "time_s"))};
    row.message = message_bytes(tensors, row.encoding, row.kept);
    rows[table.positive(i, "gbps")].push_back(std::move(row));
  }
  for (auto& [gbps, those] : rows)
    std::ranges::stable_sort(
        those, [](const MethodTime& a, const MethodTime& b) { return a.message > b.message; });
  return rows;
}

ServerConstants constants_of(const std::vector<MethodTime>& rows, const std::string& file) {
  const MethodTime &dense = rows.front(), &least = rows.back();
  if (rows.size() < 3 || dense.encoding != MessageEncoding::kDense ||
      least.message == dense.message || least.time >= dense.time)
    throw Error(ErrorKind::kFailure, "reproduce", file,
                "a bandwidth has no dense time, a shorter one that sends less, and one in between");
  const double share = least.message.bits() / dense.message.bits();
  const Seconds transmission = (dense.time - least.time) * (1 / (1 - share));
  return {dense.time - transmission, transmission, dense.message};
}

constexpr const char* kFromTwoRows = "fixed and sent of the dense and the least row";

std::string row_name(const std::string& method, double gbps, const char* what) {
  return "byteps." + method + "_" + published_figure(gbps) + "gbps." + what;
}

ReproductionRow judged_ratio(const MethodTime& row, const MethodTime& dense, Seconds predicted,
                             double gbps, bool control) {
  return predicted_row(row_name(row.method, gbps, control ? "as_one_bit" : "error"),
                       control ? "one bit a value" : kFromTwoRows, row.time / dense.time,
                       predicted / dense.time, " of the dense time", kRatioErrorAllowed, control);
}

/// Neighbours whose predicted times are not in the order of the measured ones.
ReproductionRow order_of(std::vector<MethodTime> rows, const ServerConstants& constants,
                         double gbps) {
  std::ranges::sort(rows, [](const MethodTime& a, const MethodTime& b) { return a.time > b.time; });
  ReproductionRow result;
  result.name = row_name("methods", gbps, "out_of_order");
  result.method = kFromTwoRows;
  for (const MethodTime& row : rows)
    result.claim += (result.claim.empty() ? "" : " > ") + row.method;
  for (std::size_t i = 1; i < rows.size(); ++i)
    result.value += constants.time(rows[i - 1].message) <= constants.time(rows[i].message);
  result.provenance = name_of(Provenance::kPredicted);
  result.pass_mark = PassMark{{}, 0};
  return result;
}

}  // namespace

Bytes message_bytes(const std::vector<TrainedTensors>& tensors, MessageEncoding encoding,
                    double kept) {
  double bytes = 0;
  for (const TrainedTensors& each : tensors) {
    const double dense = kValue * each.values, parts = std::ceil(dense / kPart);
    if (encoding == MessageEncoding::kDense || dense < kLeastCompressed)
      bytes += each.tensors * dense;
    else if (encoding == MessageEncoding::kPairs)
      bytes += each.tensors * parts * kPair * kept;
    else
      bytes += each.tensors *
               (each.values / (encoding == MessageEncoding::kSignBits ? 8 : 1) + parts * kScale);
  }
  return Bytes(static_cast<std::int64_t>(bytes));
}

std::vector<ReproductionRow> reproduce_byteps(std::string_view csv, const std::string& file,
                                              std::string_view tensors_csv,
                                              const std::string& tensors_file) {
  const CsvTable table(csv, file);
  table.expect({"method", "encoding", "kept", "gbps", "time_s"}, {});
  const std::vector<TrainedTensors> tensors = tensors_of(tensors_csv, tensors_file);
  const auto by_bandwidth = times_by_bandwidth(table, tensors);
  std::vector<ReproductionRow> rows;
  for (const auto& [gbps, those] : by_bandwidth) {
    const ServerConstants constants = constants_of(those, file);
    const bool slowest = gbps == by_bandwidth.begin()->first;
    for (std::size_t i = 1; i + 1 < those.size(); ++i) {
      rows.push_back(
          judged_ratio(those[i], those[0], constants.time(those[i].message), gbps, false));
      if (!slowest || those[i].encoding != MessageEncoding::kSignBytes) continue;
      const Bytes bits = message_bytes(tensors, MessageEncoding::kSignBits, 0);
      rows.push_back(judged_ratio(those[i], those[0], constants.time(bits), gbps, true));
    }
    if (slowest) rows.push_back(order_of(those, constants, gbps));
  }
  return rows;
}

}  // namespace gradwire::results
