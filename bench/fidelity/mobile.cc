#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/file_descriptor.h"
#include "base/philox.h"
#include "bench/fidelity/regimes.h"

namespace gradwire::bench {
namespace {

constexpr std::uint32_t kRegime = 7;

std::vector<std::filesystem::path> files_in(const std::string& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string extension = entry.path().extension().string();
    if (extension == ".up" || extension == ".down") files.push_back(entry.path());
  }
  if (files.empty())
    throw Error(ErrorKind::kUsage, "find Mahimahi traces in", folder,
                "there is no file whose name ends in .up or .down");
  std::sort(files.begin(), files.end());
  return files;
}

sim::RateSchedulePtr read_trace(const std::filesystem::path& path) {
  return sim::RateSchedule::from_mahimahi(path.filename().string(), read_file(path.string()));
}

}  // namespace

std::vector<FidelityCase> mobile_cases(std::uint64_t seed, int count, const std::string& folder) {
  std::vector<FidelityCase> cases;
  const auto files = files_in(folder);
  for (std::size_t i = 0; i < std::max<std::size_t>(files.size(), count); ++i) {
    const RandomStream stream{seed, static_cast<std::uint32_t>(i), kRegime, kFirstReservedTensor};
    sim::LinkSpec radio;
    radio.delay = Seconds(10e-3 + 20e-3 * static_cast<double>(uniform(stream, 0)));
    radio.schedule = read_trace(files[i % files.size()]);
    radio.schedule_back = radio.schedule;
    radio.schedule_offset = radio.schedule->period() * static_cast<double>(uniform(stream, 1));
    sim::Cluster cluster;
    cluster.add_host("phone");
    cluster.add_host("server");
    const sim::NodeId tower = cluster.add_switch("tower");
    cluster.add_link(0, tower, radio);
    cluster.add_link(1, tower, sim::LinkSpec{});
    cluster.finish();
    const Bytes bytes(500'000 +
                      static_cast<std::int64_t>(4.5e6 * static_cast<double>(uniform(stream, 2))));
    FidelityCase result{{.name = files[i % files.size()].filename().string() + ", " +
                                 std::to_string(bytes.count() / 1000) + " kB",
                         .cluster = std::move(cluster)},
                        2 * radio.delay.value()};
    result.experiment.chains.push_back({0, 1, bytes});
    result.experiment.gap = Seconds(0.5);
    cases.push_back(std::move(result));
  }
  return cases;
}

}  // namespace gradwire::bench
