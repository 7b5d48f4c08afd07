#include "cli/emulation/torch_compute.h"

#include <cstdio>

#include "base/error.h"
#include "base/joined_texts.h"

namespace gradwire::cli {
namespace {

constexpr const char* kDefaultPrecision = "fp32";

[[noreturn]] void refuse(const std::string& text, const std::string& reason,
                         const std::string& remedy) {
  throw Error(ErrorKind::kUsage, "use --compute", "\"" + text + "\"", reason, remedy);
}

/// What follows `prefix`; nothing where it does not begin so.
std::optional<std::string> after(const std::string& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return std::nullopt;
  return text.substr(prefix.size());
}

std::optional<double> number_in(const std::string& text, double least, double most) {
  std::size_t used = 0;
  double number = -1;
  try {
    number = std::stod(text, &used);
  } catch (const std::exception&) {
  }
  if (number >= least && number <= most && used == text.size()) return number;
  return std::nullopt;
}

std::string three_digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

std::string flops_text(double flops_per_second) {
  return flops_per_second < 1e12 ? three_digits(flops_per_second / 1e9) + " Gflop/s"
                                 : three_digits(flops_per_second / 1e12) + " Tflop/s";
}

/// How far the profile says that it may be off; empty where it says that it is certain.
std::string range_text(const PlausibleRange& range) {
  if (range.certain()) return {};
  return ": the profile's own range is " + three_digits(range.low) + " to " +
         three_digits(range.high) + " times";
}

}  // namespace

double matrix_flops_per_second(const scenarios::DeviceProfile& device,
                               const std::string& precision) {
  const std::string& name = device.origin.name;
  if (!device.peak)
    refuse("profile=" + name, "that profile has no peak figures (" + device.origin.file + ")",
           "name one that has, or a multiple: --compute scale=0.02");
  const auto found = device.peak->compute.find(precision);
  if (found == device.peak->compute.end())
    refuse("profile=" + name + ":" + precision, "the device has no peak figure of " + precision,
           "it has " + joined_texts(device.peak->compute, ", ",
                                    [](const auto& peak) { return peak.first; }));
  const auto& [flops_per_second, efficiency] = found->second;
  if (!device.kernels) return flops_per_second * efficiency;
  const auto shares = device.kernels->shares.find(precision);
  return flops_per_second *
         (shares == device.kernels->shares.end() ? efficiency : shares->second.matrix);
}

TorchCompute::TorchCompute(const std::string& text) {
  if (text == "cpu") return;
  if (const auto scale = after(text, "scale=")) {
    factor_ = number_in(*scale, 0, 1e6);
    if (!factor_) refuse(text, "its factor is no number from 0 to 1000000", "write scale=0.02");
    return;
  }
  if (const auto rate = after(text, "flops=")) {
    rate_ = number_in(*rate, 1, 1e18);
    if (!rate_)
      refuse(text, "its rate is no number of operations a second from 1 to 1e18",
             "write flops=100e12 for 100 Tflop/s");
    return;
  }
  const auto profile = after(text, "profile");
  if (!profile || !(profile->empty() || profile->starts_with('=')))
    refuse(text, "it is none of cpu, scale=FACTOR, flops=RATE and profile=DEVICE",
           "for example: --compute scale=0.02");
  if (profile->size() < 2)
    refuse(text, "it names no device",
           "one of " + joined_texts(scenarios::shipped_profiles("device"), ", "));
  std::string device = profile->substr(1);
  precision_ = kDefaultPrecision;
  const std::size_t colon = device.rfind(':');
  if (colon != std::string::npos && device.find('/', colon) == std::string::npos) {
    precision_ = device.substr(colon + 1);
    device.resize(colon);
  }
  device_ = scenarios::load_device_profile(device, "");
  matrix_flops_per_second(*device_, precision_);  // refuses before a script runs
}

ComputeScale TorchCompute::scale(const bridge::Header& header, const std::string& recording) const {
  if (device_ || rate_) return by_rate(header, recording);
  if (header.counted > 0 && !factor_)
    throw Error(ErrorKind::kFailure, "take compute times from", recording,
                std::to_string(header.counted) +
                    " of its computing nodes have operations (num_ops) and no duration",
                "say how many operations a second the device makes: --compute flops=100e12, or "
                "--compute profile=a100");
  return {factor_.value_or(1), {}};
}

ComputeScale TorchCompute::by_rate(const bridge::Header& header,
                                   const std::string& recording) const {
  const std::string name = device_ ? device_->origin.name : "a device of that rate";
  if (!header.flops_per_second)
    throw Error(ErrorKind::kFailure, "take compute as on " + name + " from", recording,
                "it does not say how fast the machine that recorded multiplies matrices",
                "record the script anew, or say a multiple: --compute scale=0.02");
  const double there = device_ ? matrix_flops_per_second(*device_, precision_) : *rate_;
  const double factor = *header.flops_per_second / there;
  const std::string on = device_ ? name + " (" + precision_ + ")" : name;
  const std::string range = device_ ? range_text(device_->origin.compute) : std::string();
  if (header.counted > 0)
    return {factor, "compute is " + std::to_string(header.counted) + " nodes' operations at " +
                        flops_text(there) +
                        (device_ ? ", as large matrix products on " + on + range : std::string()) +
                        "; what memory bounds takes longer"};
  return {factor, "compute is as on " + on + ": " + three_digits(factor) +
                      " of the processor time recorded, " + flops_text(*header.flops_per_second) +
                      " of a thread against " + flops_text(there) +
                      "; that is a rule of matrix products" + range +
                      ", and what memory bounds differs"};
}

}  // namespace gradwire::cli
