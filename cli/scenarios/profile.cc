#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "base/file_descriptor.h"
#include "base/temporary_file.h"
#include "cli/context.h"
#include "cli/scenarios/profile_table.h"
#include "runner/training/trainer_module.h"
#include "scenarios/data_sets.h"
#include "scenarios/methods.h"
#include "scenarios/profiles/profile_json.h"

namespace gradwire::cli {
namespace {

/// Sets that need no option beside their path: a profile has none to give.
bool needs_no_option(const scenarios::DataSetInfo& set) {
  return std::none_of(set.options.begin(), set.options.end(),
                      [](const OptionSpec& option) { return option.name == "labels"; });
}

struct ProfileArguments {
  trainers::ModelProfileRequest request;
  std::string kind = "workload";
  std::string name, out;
  std::string method = "terngrad", bucket = "25MB";
  bool counts = false;
};

/// A line on a terminal that is written over, else nothing: measuring takes seconds.
class Line {
 public:
  explicit Line(const Context& context) : shown_(context.use_progress_bar()) {}
  ~Line() {
    if (shown_) std::fputs("\r\033[K", stderr);
  }
  void show(const std::string& text) const {
    if (!shown_) return;
    std::fprintf(stderr, "\r\033[K%s", text.c_str());
    std::fflush(stderr);
  }

 private:
  bool shown_;
};

std::string counted(int done, int total) {
  return "[" + std::to_string(done) + "/" + std::to_string(total) + "] ";
}

/// A profile's name from a path: letters, digits, ".", "_" and "-".
std::string identifier(const std::string& text) {
  std::string name = std::filesystem::path(text).stem().string();
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '_' && c != '-') c = '-';
  return name.empty() ? "profile" : name;
}

void check_model(const ProfileArguments& arguments) {
  const std::string& model = arguments.request.model;
  if (trainers::is_torchscript(model)) return;
  const std::vector<std::string> names = scenarios::model_names();
  if (std::find(names.begin(), names.end(), model) != names.end()) return;
  const std::vector<std::string> tables = scenarios::shipped_profiles("workload");
  if (model.ends_with(".json") || std::find(tables.begin(), tables.end(), model) != tables.end())
    throw Error(ErrorKind::kUsage, "profile", model,
                "a layer table has shapes but no operations to run",
                "run it on a device profile, or profile the model as a TorchScript file");
  const std::string near = nearest_name(model, names);
  throw Error(
      ErrorKind::kUsage, "profile", model, "there is no such model",
      near.empty()
          ? "choose logistic, mlp, lenet5, cnn, resnet20, char-lstm, transformer or a TorchScript "
            "file (.pt)"
          : "did you mean " + near + "?");
}

trainers::ModelProfileResult profiled(const trainers::ModelProfileRequest& request,
                                      const Context& context) {
  const auto profile = reinterpret_cast<trainers::ModelProfiler>(
      runner::trainer_module_symbol(trainers::kModelProfilerSymbol));
  const Line line(context);
  trainers::ModelProfileResult result;
  profile(
      request, [&](int done, int total) { line.show(counted(done, total) + "passes"); }, result);
  for (const std::string& name : result.unused)
    context.say("gradwire: no operation of a pass takes parameter " + name + "; it is left out");
  return result;
}

scenarios::ProfileOrigin origin_of(const ProfileArguments& arguments, const std::string& device,
                                   int repetitions) {
  const auto& request = arguments.request;
  scenarios::ProfileOrigin origin;
  origin.name = arguments.name.empty() ? identifier(request.model) : arguments.name;
  origin.source = repetitions > 0 ? "measured" : "computed";
  const std::string of = request.model + (request.input.empty() ? "" : ", input " + request.input) +
                         ", batch " + std::to_string(request.batch);
  origin.note = repetitions > 0 ? "gradwire profile of " + of + " on " + device + ", medians of " +
                                      std::to_string(repetitions) + " passes."
                                : "Counted by gradwire profile from a pass of " + of + ".";
  return origin;
}

/// What a step of training measures by bucket, encoding and decoding included.
std::optional<scenarios::ComputeProfile> bucket_times(const ProfileArguments& arguments,
                                                      const std::string& table_text) {
  const auto& request = arguments.request;
  scenarios::Scenario scenario;
  scenario.name = "profile";
  scenario.workload.batch_per_worker = request.batch;
  scenario.workload.steps = 1;
  scenario.cluster.device = request.device;
  scenario.method.name = arguments.method;
  scenario.method.error_feedback = scenarios::feeds_back_by_default(arguments.method, {});
  scenario.exchange.bucket = parse_bytes(arguments.bucket);
  if (!trainers::is_torchscript(request.model)) {
    scenario.workload.model = request.model;
    scenario.workload.data_set = request.data_set;
    scenario.workload.data_path = request.data_path;
    return runner::make_trainer(scenario, {})->prepare();
  }
  if (request.device != "cpu") return std::nullopt;
  const TemporaryFile table(table_text, ".json");
  scenario.workload.kind = scenarios::WorkloadKind::kProfile;
  scenario.workload.profile = table.path();
  return runner::make_trainer(scenario, {})->prepare();
}

void save(const ProfileArguments& arguments, const std::string& text, const char* field,
          const Context& context) {
  if (arguments.out.empty()) {
    context.say("nothing is stored without -o FILE");
    return;
  }
  write_file(arguments.out, text);
  context.say("stored in " + arguments.out + "; use it as \"" + field + "\": \"" + arguments.out +
              "\"");
}

void profile_workload(const ProfileArguments& arguments, const Context& context) {
  trainers::ModelProfileResult result = profiled(arguments.request, context);
  result.table.origin = origin_of(arguments, result.device, result.repetitions);
  const std::string text = scenarios::profile_text(result.table);
  std::optional<scenarios::ComputeProfile> buckets;
  if (!arguments.counts) {
    buckets = bucket_times(arguments, text);
    if (!buckets)
      context.say("codecs of a TorchScript model are timed on device cpu only: no buckets");
  }
  print_model_profile(result, arguments.request.batch, buckets ? &*buckets : nullptr, context);
  save(arguments, text, "profile", context);
}

/// A line through two batches, B and a quarter of it.
scenarios::DeviceProfile::Pass line_through(Seconds all, int batch, Seconds part, int quarter) {
  if (batch == quarter) return {Seconds(0), all / batch};
  const Seconds slope = (all - part) / (batch - quarter);
  const Seconds per_sample = std::max(Seconds(0), slope);
  return {std::max(Seconds(0), all - per_sample * batch), per_sample};
}

void profile_device(const ProfileArguments& arguments, const Context& context) {
  const trainers::ModelProfileResult all = profiled(arguments.request, context);
  trainers::ModelProfileRequest smaller = arguments.request;
  smaller.batch = std::max(1, smaller.batch / 4);
  const trainers::ModelProfileResult part = profiled(smaller, context);
  scenarios::DeviceProfile profile;
  profile.origin = origin_of(arguments, all.device, all.repetitions);
  if (!trainers::is_torchscript(arguments.request.model))
    profile.models[arguments.request.model] = {
        line_through(all.forward, arguments.request.batch, part.forward, smaller.batch),
        line_through(all.backward, arguments.request.batch, part.backward, smaller.batch),
        *all.table.update};
  const auto measure = reinterpret_cast<trainers::DeviceMeasurer>(
      runner::trainer_module_symbol(trainers::kDeviceMeasurerSymbol));
  {
    const Line line(context);
    measure(
        arguments.request.device,
        [&](int done, int total, const std::string& doing) {
          line.show(counted(done, total) + doing);
        },
        profile);
  }
  if (profile.codecs.empty())
    context.say(
        "codecs are timed on device cpu only: the profile has none, so it takes method none");
  print_device_profile(profile, context);
  save(arguments, scenarios::profile_text(profile), "device", context);
}

void run(ProfileArguments arguments, const Context& context) {
  check_model(arguments);
  if (arguments.counts && arguments.kind == "device")
    throw Error(ErrorKind::kUsage, "profile", arguments.request.model,
                "a device profile is measured", "leave out --counts");
  trainers::ModelProfileRequest& request = arguments.request;
  request.measure = !arguments.counts;
  const scenarios::ModelInfo* info = scenarios::find_model(request.model);
  const bool reads_text = info && info->takes.front() == scenarios::SampleKind::kText;
  if (request.data_set.empty()) request.data_set = reads_text ? "text" : "digits";
  if (!compressors::find_codec(arguments.method))
    throw Error(ErrorKind::kUsage, "profile with method", arguments.method,
                "there is no such codec", "see `gradwire codec list`");
  arguments.kind == "device" ? profile_device(arguments, context)
                             : profile_workload(arguments, context);
}

}  // namespace

void add_profile(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "profile", "Measure a model's layers and buckets on this device, as a profile to reuse");
  auto arguments = std::make_shared<ProfileArguments>();
  auto& request = arguments->request;
  command
      ->add_option("MODEL", request.model,
                   "logistic, mlp, lenet5, cnn, resnet20, char-lstm, transformer, or a TorchScript "
                   "file (.pt)")
      ->required();
  command->add_option("--device", request.device, "Where it runs")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->capture_default_str();
  command->add_option("--batch", request.batch, "Samples of a pass")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command->add_option("--input", request.input,
                      "A TorchScript file's input for one sample: 3x224x224, or 128:30522 for 128 "
                      "token numbers below 30522; several between commas");
  command->add_option("--data", request.data_set, "Data set of a model by name")
      ->check(CLI::IsMember(scenarios::data_set_names(needs_no_option)));
  command->add_option("--data-path", request.data_path, "Its folder or file");
  command
      ->add_option("--as", arguments->kind,
                   "workload: a layer table; device: passes, codecs and peak figures")
      ->check(CLI::IsMember({"workload", "device"}))
      ->capture_default_str();
  command->add_flag("--counts", arguments->counts,
                    "Count parameters, FLOPs and activations, measure nothing");
  command->add_option("--method", arguments->method, "Codec of the buckets' encode and decode")
      ->capture_default_str();
  command->add_option("--bucket", arguments->bucket, "Largest bucket")->capture_default_str();
  command->add_option("--name", arguments->name, "The profile's name (default: the model's)");
  command->add_option("-o,--output", arguments->out, "File that keeps the profile")
      ->type_name("FILE");
  command->callback([arguments, &context] { run(*arguments, context); });
}

}  // namespace gradwire::cli
