#include "bench/measured/collective_form.h"
#include "bench/measured/step_form.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>

#include "base/file_descriptor.h"
#include "bench/measured/constants.h"
#include "bench/measured/forms.h"
#include "bench/measured/judged.h"
#include "bench/measured/step_work.h"
#include "bench/measured/table.h"
#include "tests/bench/measured/measured_tables.h"

namespace gradwire::bench {

using testing::prior_means;
using testing::read;

namespace {

MeasuredStep transformer(const std::string& workload, int layers, int hidden, int heads,
                         int sequence, int vocabulary) {
  MeasuredStep step;
  step.workload = workload;
  step.layers = layers;
  step.hidden = hidden;
  step.heads = heads;
  step.sequence = sequence;
  step.vocabulary = vocabulary;
  return step;
}

TEST_CASE("transformers by shape have the parameters of the models they are", "[measured]") {
  // GPT-2 medium as its layer table counts it; Llama 3 8B's published 8,030,261,248.
  CHECK(work_of(transformer("gpt", 24, 1024, 16, 1024, 50257)).parameters == 354'823'168);
  CHECK(work_of(transformer("llama-8b", 32, 4096, 32, 8192, 128256)).parameters == 8'030'261'248);
}

TEST_CASE("the products of a layer table are its FLOPs", "[measured]") {
  MeasuredStep step;
  step.workload = "resnet50";
  step.batch = 2;
  double flops = 0;
  for (const scenarios::Kernel& one : work_of(step).kernels) flops += 2 * one.m * one.n * one.k;
  // 4.089 x 10^9 multiply-adds an image.
  CHECK(flops == Approx(2 * 2 * 4.089e9).epsilon(0.002));
}

TEST_CASE("notes and columns say what a program and its board do", "[measured]") {
  const auto rows = read(
                        "source,workload,device,metric,value,note,memory_gb_per_s,power_w,layers\n"
                        "a,bert-large,v100,step_s,1,\"pre-training, 512\",,350,24\n"
                        "a,resnet50,v100,step_s,1,batch normalisation fused with ReLU,,,\n"
                        "a,llama-8b,h100,step_s,1,,2400,500,32\n")
                        .steps;
  CHECK(rows[0].pre_training);
  CHECK_FALSE(rows[0].fused_batch_norm);
  CHECK(rows[0].power_limit_watts == 350);
  CHECK(rows[1].fused_batch_norm);
  CHECK(rows[2].memory_bytes_per_second == 2.4e12);
  CHECK_FALSE(rows[2].pre_training);
}

TEST_CASE("BERT's pre-training has a head over the vocabulary for every token", "[measured]") {
  MeasuredStep step = transformer("bert-large", 24, 1024, 16, 512, 30522);
  const auto products = [&] {
    double flops = 0;
    const StepWork work = work_of(step);
    for (const auto* kernels : {&work.kernels, &work.head})
      for (const scenarios::Kernel& one : *kernels)
        if (one.kind == scenarios::Kernel::Kind::kMatrix)
          flops += one.repeats * 2 * one.m * one.n * one.k;
    return flops;
  };
  const double without = products();
  CHECK(without == Approx(2.0 * 512 * 24 * 12 * 1024 * 1024));
  step.pre_training = true;
  CHECK(products() - without == Approx(2.0 * 512 * (1024.0 * 1024 + 1024.0 * 30522)));
  // Adam in fp32: 14 kernels that move 120 B a parameter; in one kernel 28.
  CHECK(work_of(step).update_bytes == 120);
  step.precision = "amp";
  CHECK(work_of(step).update_bytes == 28);
}

TEST_CASE("a row without a form says why", "[measured]") {
  MeasuredStep step;
  step.workload = "faster-rcnn";
  step.device = "p40";
  CHECK_THAT(why_no_step_form(step), Catch::Contains("layer table faster-rcnn"));
  step.workload = "resnet50";
  step.device = "mi250";
  CHECK_THAT(why_no_step_form(step), Catch::Contains("device profile mi250"));
  step.device = "v100";
  CHECK(why_no_step_form(step).empty());
  step.workers = 2;
  CHECK_THAT(why_no_step_form(step), Catch::Contains("between its nodes"));
}

TEST_CASE("more of anything takes longer", "[measured]") {
  const std::vector<double> priors = prior_means();
  MeasuredStep step = transformer("gpt", 12, 1024, 16, 1024, 51200);
  step.device = "a100";
  step.precision = "fp16";
  step.batch = 4;
  step.gpus_per_node = 8;
  const auto seconds = [&] { return StepForm(step).time(constants_at(priors)).value(); };
  const double one = seconds();
  step.accumulated = 2;
  CHECK(seconds() > 1.5 * one);
  step.accumulated = 1;
  step.workers = 8;
  CHECK(seconds() > one);
  step.workers = 1;
  step.checkpointing = "full";
  CHECK(seconds() > 1.2 * one);
}

TEST_CASE("a board that may draw less computes slower, by the cube root", "[measured]") {
  const std::vector<double> priors = prior_means();
  MeasuredStep step = transformer("llama-8b", 32, 4096, 32, 8192, 128256);
  step.device = "h100";
  step.precision = "bf16";
  step.batch = 2;
  const auto seconds = [&] { return StepForm(step).time(constants_at(priors)).value(); };
  const double usual = seconds();
  step.power_limit_watts = 700;
  CHECK(seconds() == Approx(usual));
  step.power_limit_watts = 700.0 / 8;  // half of the clock: products decide, memory does not change
  CHECK(seconds() > 1.6 * usual);
  CHECK(seconds() < 2 * usual);
  step.power_limit_watts = 0;
  step.memory_bytes_per_second = 3.35e12 / 2;
  CHECK(seconds() > 1.02 * usual);
  CHECK(seconds() < 1.5 * usual);
  // Selective checkpointing is cheaper than all of the forward pass again, and no less than half of
  // it.
  step.memory_bytes_per_second = 0;
  step.checkpointing = "full";
  const double full = seconds() - usual;
  step.checkpointing = "selective";
  CHECK(seconds() - usual < 0.8 * full);
  CHECK(seconds() - usual > 0.5 * full);
}

TEST_CASE("no step is done before its links are", "[measured]") {
  const Constants constants = constants_at(prior_means());
  const auto seconds = [&](MeasuredStep step, double bits_per_second) {
    step.workers = 16;
    step.gpus_per_node = 8;
    step.between_nodes = BitsPerSecond(bits_per_second);
    return StepForm(step).time(constants).value();
  };
  // ResNet-50 in fp32 at 1 Gbit/s: a ring of 16 sends 2 x 15 / 16 x 4 B x 25,557,032 in 1.533 s, of
  // which the backward pass of 64 samples can hide a tenth, not seven.
  MeasuredStep resnet;
  resnet.workload = "resnet50";
  resnet.device = "v100";
  resnet.batch = 64;
  CHECK(seconds(resnet, 1e9) > 1.533);
  CHECK(seconds(resnet, 1e9) < 1.533 + 0.2);
  // Halving a rate that decides doubles the step; one that hides changes little.
  CHECK(seconds(resnet, 1e8) == Approx(10 * seconds(resnet, 1e9)).epsilon(0.1));
  CHECK(seconds(resnet, 1e11) == Approx(seconds(resnet, 2e11)).epsilon(0.05));
  // Sharded weights: gathered twice, gradients scattered once, 2 x 2 x 15 / 16 x 2 B x 8.03e9.
  MeasuredStep llama = transformer("llama-8b", 32, 4096, 32, 8192, 128256);
  llama.device = "h100";
  llama.precision = "bf16";
  llama.batch = 2;
  llama.sharding = "fsdp";
  CHECK(seconds(llama, 1e9) == Approx(4 * 15 / 16.0 * 2 * 8.03e9 / 1.25e8).epsilon(0.02));
}

TEST_CASE("an average after local steps goes tensor by tensor", "[measured]") {
  MeasuredStep step;
  step.workload = "resnet50";
  step.device = "v100";
  step.batch = 128;
  step.workers = 32;
  step.gpus_per_node = 8;
  step.between_nodes = BitsPerSecond(100e9);
  step.method = "local-sgd";
  // 53 convolutions, as many normalisations with two tensors, a dense layer with two.
  CHECK(work_of(step).tensors == 53 + 2 * 53 + 2);
  Constants constants = constants_at(prior_means());
  const auto averages = [&] {
    step.local_steps = 1;
    const double every = StepForm(step).time(constants).value();
    step.local_steps = 4;
    return (every - StepForm(step).time(constants).value()) * 4 / 3;
  };
  // A ring's 2 x 31 / 32 x 4 B x 25,557,032 at 12.5 GB/s take 15.8 ms, of which 0.8 count; five
  // launches of 25 us for each tensor 20.1 ms beside them; and 8 ms of a step with others.
  CHECK(averages() ==
        Approx(8e-3 + std::cbrt(std::pow(0.8 * 15.845e-3, 3) + std::pow(161 * 5 * 25e-6, 3)))
            .epsilon(1e-3));
  // A host that takes no time leaves the reduction alone.
  constants[static_cast<std::size_t>(Constant::kHost)] = 1e-12;
  CHECK(averages() == Approx(8e-3 + 0.8 * 15.845e-3).epsilon(1e-3));
}

TEST_CASE("sums inside switches help where five GPUs or more take part", "[measured]") {
  CHECK(node_bytes_per_second("h200", 4) == node_bytes_per_second("h200", 2));
  CHECK(node_bytes_per_second("h200", 8) > 1.25 * node_bytes_per_second("h200", 4));
  CHECK(node_bytes_per_second("h100", 8) == node_bytes_per_second("h200", 8));
  CHECK(node_bytes_per_second("h100", 64) == node_bytes_per_second("h100", 8));
}

TEST_CASE("an all-reduce takes the fastest of the protocols", "[measured]") {
  MeasuredCollective one{"s", "all-reduce", "v100", 8, 8, BitsPerSecond(0), Bytes(1024), {}};
  const double known[] = {std::log(10e-6), 0, 0, 0};
  const auto micros = [&] { return 1e6 * collective_time(one, known).value(); };
  // LL: 10 + 6.6 + 14 x 0.6 and 1.75 x 1 KiB at 39 GB/s.
  CHECK(micros() == Approx(10 + 6.6 + 14 * 0.6 + 1.75 * 1024 / 39e3));
  // Simple, 1 GiB over six rings of 22.5 GB/s: 10 + 8.4 + 14 x 3.4 + 1.75 x 2^30 / 135e9.
  one.bytes = Bytes(std::int64_t{1} << 30);
  CHECK(micros() == Approx(10 + 8.4 + 14 * 3.4 + 1.75 * 1073741824.0 / 135e3));
  // Half of the steps and of the bytes.
  one.collective = "all-gather";
  CHECK(micros() == Approx(10 + 8.4 + 7 * 3.4 + 0.875 * 1073741824.0 / 135e3));
  one.collective = "gather";
  CHECK_FALSE(why_no_collective_form(one).empty());
}

TEST_CASE("a network slower than InfiniBand shows in the latency between nodes", "[measured]") {
  // 32 B200s on four nodes, through libfabric: docs/validation/measured.md has the figures.
  MeasuredTables tables;
  const char* source = std::getenv("GRADWIRE_SOURCE_DIR");
  const std::string path =
      std::string(source ? source : ".") + "/docs/validation/measured-between-nodes.csv";
  read_measured(read_file(path), path, tables);
  const MeasuredForms forms = forms_of(tables);
  REQUIRE(forms.collectives.size() == 9);
  auto unknowns = collective_unknowns();
  const auto fitted = [&] {
    std::vector<const FormRow*> all;
    for (const FormRow& row : forms.collectives) all.push_back(&row);
    return known_from(all, unknowns).values;
  };
  const std::vector<double> values = fitted();
  CHECK(std::exp(values[0]) < 60e-6);  // a call starts as inside a node
  CHECK(std::exp(values[3]) > 5);
  std::vector<double> errors;
  for (const FormRow& row : forms.collectives)
    errors.push_back(std::abs(row.time(values) / row.measured - 1));
  std::ranges::sort(errors);
  CHECK(errors[4] < 0.06);
  CHECK(errors[8] < 0.2);
  // Were it InfiniBand, its calls would take five times as long to start as those of other logs.
  unknowns[3].prior_deviation = 1e-6;
  CHECK(std::exp(fitted()[0]) > 120e-6);
}

}  // namespace
}  // namespace gradwire::bench
