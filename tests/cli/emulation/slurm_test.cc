#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "base/child_process.h"
#include "base/file_descriptor.h"
#include "results/store/store.h"
#include "tests/cli/program.h"
#include "tests/skip.h"
#include "tests/store_rows.h"

using namespace gradwire;
using namespace gradwire::testing;
using Catch::Contains;
using results::Store;
namespace fs = std::filesystem;

namespace {

/// 60 runs, short and long ones.
constexpr const char* kSweep = R"({"schema_version": 1, "name": "queued",
  "workload": {"collective": "ring-all-reduce", "bytes": "1MB", "repetitions": 1500},
  "cluster": {"workers": 8},
  "network": {"link": {"bandwidth": "1Gbps", "delay": "50us"}},
  "sweep": {"/executor": ["model", "flow"],
            "/network/link/bandwidth": {"log_range": ["10Mbps", "10Gbps", 10]},
            "/cluster/workers": [4, 8, 12]}})";

const std::set<std::string> kOwn = {"uid",        "node",     "rank",   "host",
                                    "started_at", "ended_at", "wall_s", "peak_rss_bytes"};

std::string find_program(const std::string& name) {
  for (const char* folder : {"/usr/sbin/", "/usr/bin/", "/sbin/", "/usr/local/sbin/"})
    if (::access((folder + name).c_str(), X_OK) == 0) return folder + name;
  return {};
}

template <class Happened>
bool comes_about(Happened happened, int seconds = 60) {
  for (int i = 0; i < seconds * 20 && !happened(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  return happened();
}

/// Slurm on this machine alone, as long as the object lives. The case is skipped where that cannot
/// be.
class OneNode {
 public:
  OneNode() {
    if (::geteuid() != 0) skip("Slurm's daemons need root");
    for (const char* name : {"munged", "slurmctld", "slurmd", "sbatch"})
      if (find_program(name).empty())
        skip(std::string(name) + " is absent (packages slurmctld, slurmd, slurm-client, munge)");
    for (const char* name : {"run", "state", "spool"}) fs::create_directory(folder_.file(name));
    fs::permissions(folder_.path(), fs::perms(0755));  // munge asks for it
    write_file(folder_.file("key"), std::string(64, 'k'));
    fs::permissions(folder_.file("key"), fs::perms(0400));
    write_file(folder_.file("slurm.conf"), configuration());
    ::setenv("SLURM_CONF", folder_.file("slurm.conf").c_str(), 1);
    start();
    if (!comes_about([] { return answers({"sinfo", "--noheader", "--format=%T"}, "idle"); }, 20))
      skip("a one-node Slurm does not come up here");
  }
  ~OneNode() { ::unsetenv("SLURM_CONF"); }

  static bool answers(const std::vector<std::string>& command, const std::string& answer) {
    ChildProcess child(command, {.pipe_stdout = true, .pipe_stderr = true});
    std::string text;
    std::byte block[4096];
    while (const std::size_t got = child.stdout_pipe().read_some(block, "a command"))
      text.append(reinterpret_cast<const char*>(block), got);
    return text.find(answer) != std::string::npos;
  }

 private:
  std::string configuration() const {
    char host[256] = "localhost";
    ::gethostname(host, sizeof host - 1);
    const std::string name = host, here = folder_.path();
    return "ClusterName=test\nSlurmctldHost=" + name + "\nSlurmUser=root\nSlurmdUser=root\n" +
           "AuthType=auth/munge\nAuthInfo=socket=" + here + "/run/munge\n" +
           "StateSaveLocation=" + here + "/state\nSlurmdSpoolDir=" + here + "/spool\n" +
           "SlurmctldPidFile=" + here + "/run/slurmctld\nSlurmdPidFile=" + here + "/run/slurmd\n" +
           "SlurmctldPort=16817\nSlurmdPort=16818\nProctrackType=proctrack/linuxproc\n"
           "TaskPlugin=task/none\nSelectType=select/cons_tres\nSelectTypeParameters=CR_CPU\n"
           "MpiDefault=none\nReturnToService=2\nJobAcctGatherType=jobacct_gather/none\n"
           "AccountingStorageType=accounting_storage/none\n" +
           "NodeName=" + name + " CPUs=2 State=UNKNOWN\n" +
           "PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n";
  }

  /// In the foreground, so that they end with this.
  void start() {
    const auto add = [this](std::vector<std::string> command) {
      daemons_.emplace_back(command,
                            ChildProcess::Options{.pipe_stdout = true, .pipe_stderr = true});
    };
    const std::string configuration = folder_.file("slurm.conf");
    add({find_program("munged"), "--force", "--foreground", "--socket=" + folder_.file("run/munge"),
         "--key-file=" + folder_.file("key"), "--pid-file=" + folder_.file("run/munged"),
         "--log-file=" + folder_.file("munged.log"), "--seed-file=" + folder_.file("run/seed")});
    comes_about([&] { return fs::exists(folder_.file("run/munge")); }, 10);
    add({find_program("slurmctld"), "-D", "-f", configuration});
    add({find_program("slurmd"), "-D", "-f", configuration});
  }

  TemporaryFolder folder_;
  std::vector<ChildProcess> daemons_;
};

class Sweep {
 public:
  Sweep() { write_file(file("s.json"), kSweep); }
  std::string file(const std::string& name) const { return folder_.file(name); }
  std::vector<std::string> command(const std::string& database,
                                   const std::vector<std::string>& more) const {
    std::vector<std::string> arguments = {"run", file("s.json"), "--no-report", "--db",
                                          file(database)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  Result run(const std::string& database, const std::vector<std::string>& more) const {
    return run_program(command(database, more));
  }
  /// Two tasks, left to themselves.
  ChildProcess start(const std::string& database) const {
    std::vector<std::string> argv = command(database, {"--engine", "slurm", "-j", "2"});
    argv.insert(argv.begin(), program_path());
    return ChildProcess(argv, {.pipe_stdout = true});
  }
  std::int64_t stored(const std::string& database) const { return runs_in(file(database)); }

 private:
  TemporaryFolder folder_;
};

/// Processes `gradwire task` that work for the database.
std::vector<pid_t> tasks_of(const std::string& database) {
  std::vector<pid_t> tasks;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream file(entry.path() / "cmdline");
    std::string program, command, folder;
    std::getline(file, program, '\0');
    std::getline(file, command, '\0');
    std::getline(file, folder, '\0');
    if (command == "task" && folder == database + ".parts")
      tasks.push_back(static_cast<pid_t>(std::stol(name)));
  }
  return tasks;
}

}  // namespace

TEST_CASE("an array job of Slurm brings what one process does, row for row; cancelled, the rest",
          "[unit][needs-slurm]") {
  const OneNode slurm;
  const Sweep sweep;
  REQUIRE(sweep.run("local.db", {"-q"}).exit_code == 0);
  ChildProcess child = sweep.start("s.db");
  REQUIRE(comes_about([&] { return sweep.stored("s.db") >= 1; }));
  CHECK_THAT(read_file(sweep.file("s.db.sbatch")),
             Contains("#SBATCH --array=0-1") && Contains("gradwire-queued"));
  child.signal(SIGINT);
  CHECK(child.wait() == 130);
  CHECK_FALSE(OneNode::answers({"squeue", "--noheader"}, "gradwire"));
  CHECK(sweep.stored("s.db") < 60);
  const Result rest = sweep.run("s.db", {"--engine", "slurm", "-j", "2", "--resume"});
  INFO(rest.err);
  CHECK(rest.exit_code == 0);
  CHECK_THAT(rest.err, Contains("submitted as Slurm job"));
  CHECK_FALSE(fs::exists(sweep.file("s.db.parts")));
  auto resumed = rows_by_run(sweep.file("s.db"), kOwn);
  auto local = rows_by_run(sweep.file("local.db"), kOwn);
  std::ranges::sort(resumed);  // what had finished when it was cancelled came first
  std::ranges::sort(local);
  CHECK((resumed == local));

  // A task that is killed costs what it had under way: that is submitted again.
  ChildProcess losing = sweep.start("k.db");
  REQUIRE(comes_about([&] { return sweep.stored("k.db") >= 1; }));
  const std::vector<pid_t> tasks = tasks_of(sweep.file("k.db"));
  REQUIRE_FALSE(tasks.empty());
  ::kill(tasks.back(), SIGKILL);
  CHECK(losing.wait() == 0);
  CHECK((rows_by_run(sweep.file("k.db"), kOwn) == rows_by_run(sweep.file("local.db"), kOwn)));
  CHECK_FALSE(fs::exists(sweep.file("k.db.parts")));
}

TEST_CASE("without Slurm the engine says what is missing", "[unit]") {
  const Sweep sweep;
  const Result result =
      run_program(sweep.command("x.db", {"--engine", "slurm"}), "PATH= exec \"$@\"");
  CHECK(result.exit_code == 5);
  CHECK_THAT(result.err, Contains("sbatch") && Contains("not in PATH"));
  const Result wrong = run_program({"task", sweep.file("none"), "--index", "2", "--of", "2"});
  CHECK(wrong.exit_code == 2);
  CHECK_THAT(wrong.err, Contains("--index"));
}
