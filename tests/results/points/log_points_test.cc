#include "results/points/log_points.h"

#include <catch2/catch.hpp>

#include "base/error.h"
#include "base/philox.h"
#include "results/points/residual_figure.h"
#include "results/prediction/step_fit.h"
#include "tests/results/points/samples.h"

using namespace gradwire;
using namespace gradwire::results;
using Catch::Contains;

namespace {

LogPoints points_of(const std::vector<std::string>& names, const LinkFacts& facts = {}) {
  std::vector<LogFile> logs;
  for (const std::string& name : names) logs.push_back({name, sample(name)});
  return points_from_logs(logs, facts);
}

LinkFacts stated(double bits_per_s, double delay_s) {
  LinkFacts facts;
  facts.bandwidth = bits_per_s / 8;
  facts.delay_s = delay_s;
  return facts;
}

double constant(const StepFit& fit, StepConstant which) {
  return fit.constants[static_cast<std::size_t>(which)];
}

}  // namespace

TEST_CASE("An all-reduce log fits to what it was made of: busbw over line rate, delay a hop") {
  // Made of 11 GB/s of bus bandwidth and 6 us a hop. Stated: 100 Gbps = 12.5 GB/s and 4 us, so
  // e / (1 + acknowledgements) = 11 / 12.5 = .88 and a = 6 / 4 = 1.5.
  const auto log = points_of({"all_reduce.txt"}, stated(100e9, 4e-6));
  REQUIRE(log.list.points.size() == 10);  // 5 sizes, out of place and in place
  CHECK(log.list.warnings.empty());
  const StepFit fit = fit_steps(log.list.points);
  CHECK(constant(fit, StepConstant::kEfficiency) ==
        Approx(0.88 * (1 + kAcknowledgements)).epsilon(0.01));
  CHECK(constant(fit, StepConstant::kLatency) == Approx(1.5).epsilon(0.02));
  for (const double residual : fit.residuals) CHECK(std::abs(residual) < 0.02);
}

TEST_CASE("A gathered size is of all ranks: messages of a rank are 1 / n of it") {
  const auto log = points_of({"all_gather.txt"}, stated(100e9, 6e-6));
  CHECK(log.list.points[0].step.exchange == ExchangeKind::kRingAllGather);
  CHECK(log.list.points[0].step.message_bytes() == 4096 / 4);
  const StepFit fit = fit_steps(log.list.points);
  CHECK(constant(fit, StepConstant::kEfficiency) ==
        Approx(0.88 * (1 + kAcknowledgements)).epsilon(0.01));
}

TEST_CASE("An all-to-all has its messages side by side: one hop of n - 1 flows") {
  // 268,435,456 B of 64 ranks: 63 of 64 parts leave a rank, in 520 ms.
  const auto log = points_of({"nccl_alltoall.txt"}, stated(5e9, 10e-6));
  REQUIRE(log.list.points.size() == 2);  // in place it was wrong
  const StepPoint& point = log.list.points[0];
  CHECK(point.step.exchange == ExchangeKind::kDirectAllGather);
  CHECK(point.step.message_bytes() == 268435456 / 64);
  // 264,241,152 B over 625 MB/s at e = .94 / 1.029: .46 s; 520 ms measured: e = .837.
  const StepFit fit = fit_steps(log.list.points);
  CHECK(constant(fit, StepConstant::kEfficiency) ==
        Approx(264241152 / (625e6 * 0.52) * (1 + kAcknowledgements)).epsilon(0.01));
}

TEST_CASE("Points of nccl-tests' JSON are named by their sizes, which have no line") {
  const auto log = points_of({"nccl_json_g8_32proc.json"}, stated(800e9, 1e-6));
  REQUIRE(log.list.points.size() == 3);  // in place as out of place
  CHECK(log.list.points[0].step.workers == 256);
  CHECK(log.list.points[0].name == "nccl_json_g8_32proc.json 1.05 MB out of place");
}

TEST_CASE("What a log has and is not used is said with the log and its line") {
  const auto warned = [](const std::string& text, const std::string& what) {
    const LogFile file{"a", text};
    const auto list = points_from_logs({&file, 1}, stated(100e9, 4e-6)).list;
    for (const std::string& warning : list.warnings)
      if (warning.find(what) != std::string::npos) return true;
    return false;
  };
  const std::string log = sample("all_reduce.txt"), row = "        1024           256 ";
  const std::string none =
      "           0             0     float     sum      -1    9.00    0.00    "
      "0.00      0     9.00    0.00    0.00      0\n";
  CHECK(warned(replaced(log, row, none + row), "a:15: a row of size 0"));
  CHECK(warned(log + "# size count type redop root time algbw busbw #wrong\n",
               "a:25: no size was measured in this table"));
  CHECK(warned(log + sample("iperf3.txt"), "a:29: lines of iperf3 are not read here"));
  CHECK(warned("Wed May  6 07:00:00 UTC\n" + sample("iperf3.json"), "a:1: not read: Wed May  6"));
  std::string groups = log;
  for (const char* rank : {"Rank  2 Group  0", "Rank  3 Group  0"})
    groups = replaced(groups, rank, replaced(rank, "Group  0", "Group  1"));
  // Of two ranks busbw is algbw: no size of this log.
  const LogFile file{"a", groups};
  CHECK_THROWS_WITH(points_from_logs({&file, 1}, {}), Contains("2 ranks and algbw make it"));
}

TEST_CASE("Without a stated link a log gives its own, and says so") {
  const auto log = points_of({"all_reduce.txt"});
  // 11.03 GB/s x (1 + 2.9 %) / .94 = 12.08 GB/s = 96.6 Gbps; 36.03 us over 6 hops.
  CHECK(8 * log.list.points[0].step.bandwidth == Approx(96.6e9).epsilon(0.01));
  CHECK(log.list.points[0].step.delay_s == Approx(5.98e-6).epsilon(0.01));
  REQUIRE(log.list.notes.size() == 2);
  CHECK_THAT(log.list.notes[0], Contains("line rate not stated"));
  CHECK_THAT(log.list.notes[1], Contains("delay not stated"));
}

TEST_CASE("iperf3 gives the line rate and delay of the other log, or a point of its own") {
  const auto both = points_of({"all_reduce.txt", "iperf3.json"});
  // 9.4 Gbps are .94 of 10 Gbps; half of 120 us.
  CHECK(8 * both.list.points[0].step.bandwidth == Approx(10e9));
  CHECK(both.list.points[0].step.delay_s == Approx(60e-6));
  CHECK(both.list.points.size() == 10);
  CHECK(both.list.notes.size() == 2);  // what arrived, the line rate; nothing of a log's own
  REQUIRE(both.list.warnings.size() >= 1);
  CHECK_THAT(both.list.warnings[0], Contains("88.2 Gbps, is above the line rate, 10.0 Gbps"));
  CHECK(points_of({"iperf3.txt"}).list.points.empty());
  // 9.4 of a stated 10.8 Gbps: e = .87. Its prior (.94, 5 %) gives way to the points.
  const auto known = points_of({"iperf3.json"}, stated(10.8e9, 60e-6));
  REQUIRE(known.list.points.size() == 1);
  CHECK(known.list.points[0].seconds == 10);
  const StepFit fit = fit_steps(known.list.points);
  CHECK(constant(fit, StepConstant::kEfficiency) == Approx(9.4 / 10.8).epsilon(0.01));
}

TEST_CASE("Wrong results are left out, unfinished logs and shared hosts named") {
  const std::string log = sample("all_reduce.txt");
  const auto warnings_of = [](const std::string& text) {
    const LogFile file{"a", text};
    const auto points = points_from_logs({&file, 1}, stated(100e9, 4e-6));
    std::string all;
    for (const std::string& warning : points.list.warnings) all += warning + "\n";
    return std::to_string(points.list.points.size()) + " points\n" + all;
  };
  CHECK_THAT(warnings_of(replaced(log, "8.75      0    178.5", "8.75      3    178.5")),
             Contains("9 points") && Contains("line 17 out of place: its results were wrong"));
  CHECK_THAT(warnings_of(log.substr(0, log.find("# Out of"))), Contains("ends before its summary"));
  CHECK_THAT(warnings_of(replaced(log, "node-b", "node-a")), Contains("ranks share 3 hosts"));
  const LogFile other{"notes.txt", "nothing of the kind\n"};
  CHECK_THROWS_WITH(points_from_logs({&other, 1}, {}), Contains("neither a log of nccl-tests"));
}

TEST_CASE("Without short messages no delay is made up") {
  std::string log = sample("all_reduce.txt");
  const auto first = log.find("        1024 "), large = log.find("    33554432 ");
  log.erase(first, large - first);  // 32 MiB and 1 GiB are left
  const LogFile file{"a", log};
  const auto points = points_from_logs({&file, 1}, {}).list;
  CHECK(points.points.size() == 4);
  CHECK(points.points[0].step.delay_s == 0);
  REQUIRE_FALSE(points.warnings.empty());
  CHECK_THAT(points.warnings[0], Contains("no size is short enough"));
}

TEST_CASE("Cut and damaged logs give sound points or an error, never anything else") {
  int read = 0, refused = 0;
  const auto try_log = [&](const std::string& text) {
    const LogFile file{"a", text};
    try {
      for (const StepPoint& point : points_from_logs({&file, 1}, stated(100e9, 4e-6)).list.points) {
        CHECK(std::isfinite(point.seconds));
        CHECK(point.seconds > 0);
        CHECK(std::isfinite(point.step.message_bytes()));
        CHECK(point.step.workers >= 2);
      }
      ++read;
    } catch (const Error&) {
      ++refused;
    }
  };
  for (const char* name :
       {"all_reduce.txt", "all_gather.txt", "nccl_json_g8_2proc.json", "nccl_alltoall.txt",
        "nccl_pdsh.txt", "iperf3.txt", "iperf3.json", "iperf3_stream.jsonl"}) {
    const std::string log = sample(name);
    for (std::size_t cut = 0; cut < log.size(); cut += 7) try_log(log.substr(0, cut));
    const RandomStream stream{1, 0, 0, 0};
    for (std::uint64_t i = 0; i < 500; ++i) {
      std::string damaged = log;
      damaged[philox_word(stream, 2 * i) % log.size()] =
          static_cast<char>(philox_word(stream, 2 * i + 1));
      try_log(damaged);
    }
  }
  CHECK(read > 500);
  CHECK(refused > 500);
}

TEST_CASE("The residuals' figure has a mark a point, by provenance") {
  auto points = points_of({"all_reduce.txt"}, stated(100e9, 4e-6)).list.points;
  points[0].provenance = Provenance::kPublished;
  const StepFit fit = fit_steps(points);
  const Figure figure = residual_figure(fit, points);
  REQUIRE(figure.series.size() == 2);
  CHECK(figure.series[0].name == "measured");
  CHECK(figure.series[0].x.size() == 9);
  CHECK(figure.series[1].y[0] == fit.residuals[0]);
}
