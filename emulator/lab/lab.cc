#include "emulator/lab/lab.h"

#include <nlohmann/json.hpp>

#include "base/child_process.h"
#include "base/error.h"
#include "emulator/hub/answers.h"
#include "emulator/hub/hub_link.h"

namespace gradwire::emulator {

LabResult run_lab(const LabPlan& plan, const std::string& program) {
  ChildProcess::Options options;
  options.pipe_stdin = options.pipe_stdout = true;
  ChildProcess process({hub_program(program), "lab"}, options);
  const std::vector<std::uint8_t> request = nlohmann::json::to_cbor(to_json(plan));
  process.stdin_pipe().write_all(std::as_bytes(std::span(request)), "the lab");
  process.stdin_pipe().close();
  std::string answer;
  std::byte block[1 << 14];
  while (const std::size_t got = process.stdout_pipe().read_some(block, "the lab"))
    answer.append(reinterpret_cast<const char*>(block), got);
  const int code = process.wait();
  if (answer.empty())
    throw Error(ErrorKind::kFailure, "measure with", "kernel TCP",
                "its process ended with code " + std::to_string(code));
  const nlohmann::json message =
      understood("the lab's answer", [&] { return nlohmann::json::from_cbor(answer); });
  kind_of(message);
  return lab_result_from_json(message);
}

}  // namespace gradwire::emulator
