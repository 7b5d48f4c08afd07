#include "emulator/hosts/gloo.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "base/environment.h"
#include "base/error.h"
#include "base/joined_texts.h"
#include "emulator/hosts/host_program.h"

namespace gradwire::emulator {
namespace {

constexpr const char* kRank = R"(
import sys, time
import torch, torch.distributed as dist
rank, ranks, turns = map(int, sys.argv[1:4])
sizes = [int(size) for size in sys.argv[5].split(",")]
dist.init_process_group("gloo", init_method="tcp://" + sys.argv[4] + ":29400", rank=rank, world_size=ranks)
values = torch.ones(max(sizes))
dist.all_reduce(values[:1024])
for _ in range(turns):
    dist.barrier()
    start = time.monotonic()
    for size in sizes:
        dist.all_reduce(values[:size])
    print(time.monotonic() - start, flush=True)
dist.destroy_process_group()
)";

std::string python() {
  const std::string given = environment_variable("GRADWIRE_PYTHON");
  return given.empty() ? "python3" : given;
}

}  // namespace

std::string gloo_version() {
  ProgramResult result;
  try {
    result = run_program({python(), "-c", "import torch; print(torch.__version__)"});
  } catch (const Error& error) {
    result = {127, {}, error.what()};
  }
  if (result.exit_code != 0)
    throw Error(ErrorKind::kCapability, "run", "Gloo beside the emulator's workers",
                python() + " cannot import torch",
                "name a Python that has PyTorch in GRADWIRE_PYTHON");
  return result.output.substr(0, result.output.find('\n'));
}

std::vector<std::string> gloo_rank(int rank, int ranks, std::span<const std::int64_t> elements,
                                   int turns, const std::string& address) {
  GRADWIRE_ASSERT(!elements.empty() && turns > 0);
  const std::string sizes =
      joined_texts(elements, ",", [](std::int64_t size) { return std::to_string(size); });
  return {
      "/usr/bin/env",        "GLOO_SOCKET_IFNAME=eth0", python(), "-c", kRank, std::to_string(rank),
      std::to_string(ranks), std::to_string(turns),     address,  sizes};
}

std::vector<double> gloo_times(std::span<const std::string> outputs, int turns) {
  std::vector<double> slowest(static_cast<std::size_t>(turns), 0.0);
  for (const std::string& output : outputs) {
    std::istringstream lines(output);
    for (double& time : slowest) {
      double own = 0;
      if (!(lines >> own) || !std::isfinite(own) || own <= 0)
        throw Error(ErrorKind::kFailure, "read", "the times of Gloo", "a rank wrote: " + output);
      time = std::max(time, own);
    }
  }
  return slowest;
}

}  // namespace gradwire::emulator
