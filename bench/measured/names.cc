#include "bench/measured/names.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <vector>

#include "base/joined_texts.h"
#include "bench/measured/transformer_shape.h"
#include "scenarios/profiles/profile.h"

namespace gradwire::bench {
namespace {

using Words = std::vector<std::string>;
using Aliases = std::map<std::string, std::string>;

/// Runs of letters and digits, in lower case; a slash is the word "per".
Words words_of(const std::string& written) {
  Words words = {""};
  const auto next = [&words] {
    if (!words.back().empty()) words.emplace_back();
  };
  for (const char c : written) {
    if (std::isalnum(static_cast<unsigned char>(c))) {
      words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      continue;
    }
    next();
    if (c == '/') words.back() = "per", next();
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

std::string squeezed(const std::string& written) {
  return joined_texts(words_of(written), "");
}

std::string found_in(const Aliases& aliases, const std::string& written) {
  const auto found = aliases.find(squeezed(written));
  return found == aliases.end() ? written : found->second;
}

/// Each name under its letters and digits alone.
Aliases squeezed_names(const std::vector<std::string>& names, Aliases others) {
  for (const std::string& name : names) others.emplace(squeezed(name), name);
  return others;
}

bool is_size(const std::string& word) {
  return word.size() > 2 && word.ends_with("gb") &&
         std::all_of(word.begin(), word.end() - 2, [](unsigned char c) { return std::isdigit(c); });
}

/// Words of a board that say nothing of its rates.
bool says_nothing(const std::string& word) {
  static const std::set<std::string> idle = {
      "nvidia", "amd",   "tesla", "geforce", "quadro", "gpu",  "gpus", "instinct", "hbm2", "hbm2e",
      "hbm3",   "hbm3e", "nvl",   "nvlink",  "tensor", "core", "ada",  "dgx",      "x"};
  return idle.contains(word) || word.starts_with("sxm");
}

}  // namespace

std::string device_named(const std::string& written) {
  static const Aliases names =
      squeezed_names(scenarios::shipped_profiles("device"), {{"1080", "gtx-1080"},
                                                             {"1080ti", "gtx-1080-ti"},
                                                             {"2080ti", "rtx-2080-ti"},
                                                             {"3090", "rtx-3090"},
                                                             {"4090", "rtx-4090"},
                                                             {"rtxa6000", "a6000"},
                                                             {"v10032gb", "v100"},
                                                             {"v10016gb", "v100"},
                                                             {"p10016gb", "p100"},
                                                             {"a10040gb", "a100"},
                                                             {"h10080gb", "h100"},
                                                             {"h200141gb", "h200"}});
  Words words, without_size;
  for (const std::string& word : words_of(written)) {
    if (says_nothing(word)) continue;
    words.push_back(word);
    if (!is_size(word)) without_size.push_back(word);
  }
  for (const Words& tried : {words, without_size})
    if (const auto found = names.find(joined_texts(tried, "")); found != names.end())
      return found->second;
  return written;
}

std::string workload_named(const std::string& written) {
  static const Aliases names = [] {
    std::vector<std::string> all = scenarios::shipped_profiles("workload");
    for (const std::string& name : transformer_names()) all.push_back(name);
    return squeezed_names(all, {{"rn18", "resnet18"},
                                {"rn34", "resnet34"},
                                {"rn50", "resnet50"},
                                {"rn101", "resnet101"},
                                {"rn152", "resnet152"},
                                {"vgg11", "vgg-a"},
                                {"inception3", "inception-v3"},
                                {"bertlargeuncased", "bert-large"},
                                {"bertlargecased", "bert-large"},
                                {"bertlargepretraining", "bert-large"},
                                {"bertbaseuncased", "bert-base"},
                                {"bertbasecased", "bert-base"},
                                {"gpt2", "gpt2-small"},
                                {"gpt2117m", "gpt2-small"},
                                {"gpt2124m", "gpt2-small"},
                                {"gpt2345m", "gpt2-medium"},
                                {"gpt2355m", "gpt2-medium"},
                                {"gpt2774m", "gpt2-large"},
                                {"gpt215b", "gpt2-xl"},
                                {"gpt3", "gpt"},
                                {"megatrongpt", "gpt"},
                                {"llama27b", "llama-7b"},
                                {"llama213b", "llama-13b"},
                                {"llama38b", "llama-8b"},
                                {"llama318b", "llama-8b"},
                                {"metallama38b", "llama-8b"},
                                {"llama3170b", "llama3-70b"},
                                {"llama31405b", "llama3-405b"},
                                {"llama3405b", "llama3-405b"},
                                {"llama70b", "llama2-70b"}});
  }();
  const std::string found = found_in(names, written);
  if (found != written) return found;
  // "ResNet-101 v1.5": which of a model's variants, where none of them is known apart.
  Words without_version;
  for (const std::string& word : words_of(written)) {
    if (word.size() > 1 && word[0] == 'v' && std::isdigit(static_cast<unsigned char>(word[1])))
      break;
    without_version.push_back(word);
  }
  const auto model = names.find(joined_texts(without_version, ""));
  return model == names.end() ? written : model->second;
}

std::string precision_named(const std::string& written) {
  static const Aliases names = {{"fp32", "fp32"},
                                {"float32", "fp32"},
                                {"float", "fp32"},
                                {"single", "fp32"},
                                {"f32", "fp32"},
                                {"tf32", "tf32"},
                                {"tensorfloat32", "tf32"},
                                {"fp16", "fp16"},
                                {"float16", "fp16"},
                                {"half", "fp16"},
                                {"f16", "fp16"},
                                {"amp", "amp"},
                                {"mixed", "amp"},
                                {"mixedprecision", "amp"},
                                {"automaticmixedprecision", "amp"},
                                {"ampo1", "amp"},
                                {"ampo2", "amp"},
                                {"o1", "amp"},
                                {"o2", "amp"},
                                {"fp16mixed", "amp"},
                                {"mixedfp16", "amp"},
                                {"ampfp16", "amp"},
                                {"bf16", "bf16"},
                                {"bfloat16", "bf16"},
                                {"ampbf16", "bf16"},
                                {"bf16mixed", "bf16"},
                                {"mixedbf16", "bf16"},
                                {"fp8", "fp8"},
                                {"float8", "fp8"},
                                {"bf16fp8", "fp8"},
                                {"fp8hybrid", "fp8"},
                                {"bf16float8", "fp8"}};
  return found_in(names, written);
}

std::string collective_named(const std::string& written) {
  static const Aliases names = {{"allreduce", "all-reduce"},
                                {"allreduceperf", "all-reduce"},
                                {"allgather", "all-gather"},
                                {"allgatherperf", "all-gather"},
                                {"reducescatter", "reduce-scatter"},
                                {"reducescatterperf", "reduce-scatter"},
                                {"broadcast", "broadcast"},
                                {"broadcastperf", "broadcast"},
                                {"bcast", "broadcast"},
                                {"reduce", "reduce"},
                                {"reduceperf", "reduce"},
                                {"alltoall", "all-to-all"},
                                {"alltoallperf", "all-to-all"}};
  return found_in(names, written);
}

std::string checkpointing_named(const std::string& written) {
  static const Aliases names = {{"none", ""},
                                {"no", ""},
                                {"false", ""},
                                {"0", ""},
                                {"off", ""},
                                {"yes", "full"},
                                {"true", "full"},
                                {"1", "full"},
                                {"on", "full"},
                                {"full", "full"},
                                {"selective", "selective"}};
  return found_in(names, written);
}

std::string sharding_named(const std::string& written) {
  static const Aliases names = {{"none", ""},
                                {"no", ""},
                                {"ddp", ""},
                                {"zero0", ""},
                                {"0", ""},
                                {"zero1", "zero-1"},
                                {"zerostage1", "zero-1"},
                                {"zero2", "zero-2"},
                                {"zerostage2", "zero-2"},
                                {"zero3", "fsdp"},
                                {"zerostage3", "fsdp"},
                                {"fsdp", "fsdp"},
                                {"fsdp2", "fsdp"},
                                {"hsdp", "hsdp"}};
  return found_in(names, written);
}

std::string method_named(const std::string& written) {
  static const Aliases names = {{"none", ""},
                                {"no", ""},
                                {"dense", ""},
                                {"sgd", ""},
                                {"ddp", ""},
                                {"allreduce", ""},
                                {"localsgd", "local-sgd"}};
  return found_in(names, written);
}

std::optional<Metric> metric_named(const std::string& written) {
  using Counts = Metric::Counts;
  static const Aliases units = {{"sec", "s"},
                                {"second", "s"},
                                {"seconds", "s"},
                                {"milliseconds", "ms"},
                                {"msec", "ms"},
                                {"image", "samples"},
                                {"images", "samples"},
                                {"img", "samples"},
                                {"imgs", "samples"},
                                {"sample", "samples"},
                                {"sequence", "samples"},
                                {"sequences", "samples"},
                                {"seq", "samples"},
                                {"seqs", "samples"},
                                {"sentence", "samples"},
                                {"sentences", "samples"},
                                {"example", "samples"},
                                {"examples", "samples"},
                                {"token", "tokens"},
                                {"iteration", "step"},
                                {"iter", "step"},
                                {"it", "step"},
                                {"iterations", "steps"},
                                {"iters", "steps"},
                                {"device", "gpu"},
                                {"worker", "gpu"}};
  static const std::map<std::string, Metric> metrics = {
      {"step_s", {}},
      {"s_per_step", {}},
      {"step_ms", {Counts::kSeconds, 1e-3, false}},
      {"ms_per_step", {Counts::kSeconds, 1e-3, false}},
      {"step_per_s", {Counts::kSteps, 1, false}},
      {"steps_per_s", {Counts::kSteps, 1, false}},
      {"samples_per_s", {Counts::kSamples, 1, false}},
      {"samples_per_s_per_gpu", {Counts::kSamples, 1, true}},
      {"samples_per_gpu_per_s", {Counts::kSamples, 1, true}},
      {"tokens_per_s", {Counts::kTokens, 1, false}},
      {"tokens_per_s_per_gpu", {Counts::kTokens, 1, true}},
      {"tokens_per_gpu_per_s", {Counts::kTokens, 1, true}}};
  Words words;
  for (const std::string& word : words_of(written)) {
    const auto unit = units.find(word);
    if (word != "time") words.push_back(unit == units.end() ? word : unit->second);
  }
  const auto found = metrics.find(joined_texts(words, "_"));
  if (found == metrics.end()) return std::nullopt;
  return found->second;
}

}  // namespace gradwire::bench
