#include <catch2/catch.hpp>
#include <cmath>

#include "bench/measured/collective_form.h"
#include "bench/measured/constants.h"
#include "bench/measured/rank_layout.h"
#include "bench/measured/step_form.h"
#include "bench/measured/transformer_shape.h"
#include "bench/measured/transformer_work.h"
#include "tests/bench/measured/measured_tables.h"

namespace gradwire::bench {

using testing::prior_means;

namespace {

/// A GPT on `gpus` A100s, eight a node of 200 GB/s.
MeasuredStep gpt(int tensor, int data, int stages) {
  MeasuredStep step;
  step.workload = "gpt";
  step.device = "a100";
  step.precision = "fp16";
  step.layers = 24;
  step.hidden = 2048;
  step.heads = 16;
  step.sequence = 1024;
  step.vocabulary = 51200;
  step.tensor_parallel = tensor;
  step.workers = data;
  step.pipeline_parallel = stages;
  step.micro_batch_stated = true;
  step.batch = 4;
  step.gpus_per_node = 8;
  step.between_nodes = BitsPerSecond(1600e9);
  return step;
}

double seconds(const MeasuredStep& step) {
  return StepForm(step).time(constants_at(prior_means())).value();
}

TEST_CASE("transformers by name have the parameters that are published", "[measured]") {
  for (const auto& [name, parameters] : std::map<std::string, double>{
           {"llama-7b", 6'738'415'616},
           {"llama-8b", 8'030'261'248},
           {"llama-13b", 13'015'864'320},
           {"llama2-70b", 68'976'648'192},
           {"llama3-70b", 70'553'706'496},
           {"llama3-405b", 405'853'388'800},
           {"gpt2-medium", 354'823'168},
       }) {
    INFO(name);
    MeasuredStep step;
    step.workload = name;
    CHECK(transformer_work(step).parameters == parameters);
  }
  MeasuredStep step;
  step.workload = "gpt3-175b";
  CHECK(transformer_work(step).parameters == Approx(175e9).epsilon(0.005));
  // A row's own length of the sequence wins over the model's longest; BERT has none.
  step.sequence = 512;
  CHECK(shape_of(step).sequence == 512);
  step = {};
  step.workload = "bert-base";
  CHECK_FALSE(shape_of(step).is_whole());
  step.sequence = 128;
  CHECK(shape_of(step).is_whole());
  // 32 layers of 4,096 with 32,000 words are Llama 7B, with 128,256 Llama 3 8B.
  step = {};
  step.workload = "llama";
  step.layers = 32, step.hidden = 4096, step.heads = 32, step.sequence = 2048;
  step.vocabulary = 32000;
  CHECK((shape_of(step).key_heads == 32 && shape_of(step).inner == 11008));
  step.vocabulary = 128256;
  CHECK((shape_of(step).key_heads == 8 && shape_of(step).inner == 14336));
}

TEST_CASE("ranks count through tensors, then workers, then stages", "[measured]") {
  // 64 GPUs: groups of 2 x 8 x 4 on nodes of 8.
  const MeasuredStep step = gpt(2, 8, 4);
  CHECK(step.gpus() == 64);
  CHECK_FALSE(tensor_group(step).is_between_nodes());
  // A worker's 8 parts of the data are 2 ranks apart: 4 on each of two nodes, whose adapters two
  // groups share.
  const RankGroup data = data_group(step);
  CHECK(data.members_per_node == 4);
  CHECK(data.is_between_nodes());
  CHECK(data.between_nodes.value() == Approx(800e9));
  CHECK(ring_bytes_per_second("a100", data) == Approx(100e9));
  // Stages are 16 ranks apart: on other nodes, each GPU with an eighth of the adapters.
  const RankGroup stages = stage_neighbours(step);
  CHECK(ring_bytes_per_second("a100", stages) == Approx(25e9));
  // All on one node.
  CHECK_FALSE(stage_neighbours(gpt(2, 2, 2)).is_between_nodes());
  CHECK(ring_bytes_per_second("a100", data_group(gpt(2, 2, 2))) ==
        node_bytes_per_second("a100", 2));
}

TEST_CASE("tensor parallelism shares products out and adds reductions", "[measured]") {
  const auto products = [](const MeasuredStep& step) {
    double flops = 0;
    const StepWork work = transformer_work(step);
    for (const auto* kernels : {&work.kernels, &work.head})
      for (const scenarios::Kernel& one : *kernels)
        flops += one.repeats * one.count * one.m * one.n * one.k;
    return flops;
  };
  const MeasuredStep whole = gpt(1, 1, 1), four = gpt(4, 1, 1);
  CHECK(products(four) == Approx(products(whole) / 4));
  CHECK(transformer_work(four).parameters == Approx(transformer_work(whole).parameters / 4));
  CHECK(seconds(four) < 0.6 * seconds(whole));
  // 24 layers, two reductions forward and two back, of 4 x 1,024 x 2,048 elements of 2 B: without
  // bandwidth between the GPUs the step takes so much longer.
  MeasuredStep slow = four;
  slow.gpus_per_node = 1;
  const auto reduction = [&](const MeasuredStep& step) {
    const RankGroup group = tensor_group(step);
    MeasuredCollective one{"",
                           "all-reduce",
                           "a100",
                           4,
                           group.members_per_node,
                           group.between_nodes,
                           Bytes(2 * 4 * 1024 * 2048),
                           {}};
    std::vector<double> usual;
    for (const auto& unknown : collective_unknowns()) usual.push_back(unknown.prior_mean);
    return collective_time(one, usual).value();
  };
  CHECK(seconds(slow) - seconds(four) == Approx(96 * (reduction(slow) - reduction(four))));
  slow.checkpointing = four.checkpointing == "" ? "full" : "";
  CHECK(seconds(slow) - seconds(four) > 144 * (reduction(slow) - reduction(four)));
}

TEST_CASE("a pipeline's stages wait for the first and for the last micro-batch", "[measured]") {
  // m passes through p stages of 1 / p of the layers: (m + p - 1) / (m p) of what one GPU takes,
  // beside the head, the update and fixed costs.
  MeasuredStep step = gpt(1, 1, 4);
  step.vocabulary = 8;  // hardly a head
  const auto passes = [&](int stages, int accumulated) {
    step.pipeline_parallel = stages;
    step.accumulated = accumulated;
    const double with = seconds(step);
    step.accumulated = accumulated + 8;
    return (seconds(step) - with) / 8;  // a further micro-batch
  };
  const double one = passes(1, 8), four = passes(4, 8);
  CHECK(four == Approx(one / 4).epsilon(0.03));
  step.accumulated = 8;
  step.pipeline_parallel = 4;
  const double eight = seconds(step);
  step.accumulated = 4;
  CHECK(eight - seconds(step) == Approx(4 * four).epsilon(0.01));
  // Not without knowing how many go through at once.
  step.micro_batch_stated = false;
  CHECK_THAT(why_no_step_form(step), Catch::Contains("micro_batch"));
  step.micro_batch_stated = true;
  step.tensor_parallel = 3;
  CHECK_THAT(why_no_step_form(step), Catch::Contains("heads"));
}

TEST_CASE("sharded states of the optimiser are updated by their owners", "[measured]") {
  MeasuredStep step = gpt(1, 8, 1);
  const double whole = seconds(step);
  step.sharding = "zero-1";
  const double shared = seconds(step);
  // Adam moves 28 B a parameter at 1,555 GB/s, 1.5 times what is counted; 7 / 8 of that is saved.
  const double update = 1.5 * 28 * transformer_work(step).parameters / 1555e9;
  CHECK(whole - shared == Approx(7.0 / 8 * update).epsilon(1e-6));
}

TEST_CASE("tf32 reaches what is assumed of tensor cores, not fp32's share", "[measured]") {
  MeasuredStep step = gpt(1, 1, 1);
  step.batch = 32;
  step.precision = "tf32";
  const double tf32 = seconds(step);
  step.precision = "fp32";
  CHECK(seconds(step) / tf32 > 2);
  CHECK(seconds(step) / tf32 < 156 / 19.5);
  step.precision = "fp16";
  CHECK(tf32 / seconds(step) > 2);  // half of the peak, 0.6 of the share, twice the bytes
}

TEST_CASE("chains, exchanges and links to the host have times of their own", "[measured]") {
  MeasuredCollective one{"s", "broadcast", "a100", 8, 8, BitsPerSecond(0), Bytes(4'000'000'000),
                         {}};
  const double known[] = {std::log(10e-6), 0, 0, 0};
  const auto time = [&] { return collective_time(one, known).value(); };
  // Simple: 10 + 8.4 + 7 x 3.4 us, and all bytes at 230 GB/s.
  CHECK(time() == Approx(42.2e-6 + 4e9 / 230e9));
  one.collective = "all-to-all";
  CHECK(time() == Approx(10e-6 + 8.4e-6 + 3.4e-6 + 7.0 / 8 * 4e9 / 230e9));
  // Two nodes of 200 GB/s: half of what their 16 GPUs have crosses each node's adapters.
  one.workers = 16;
  one.between_nodes = BitsPerSecond(1600e9);
  CHECK(time() == Approx(10e-6 + 8.4e-6 + 14e-6 + 8 * 8 * (4e9 / 16) / 200e9));
  // Sums inside switches are an all-reduce's.
  one = {"s", "all-gather", "h100", 8, 8, BitsPerSecond(0), Bytes(8'000'000'000), {}};
  CHECK(time() > 7.0 / 8 * 8e9 / 370e9);
  // PCIe 3.0: 0.65 x 15.75 GB/s. A GPU that no profile knows has no links.
  CHECK(node_bytes_per_second("t4", 4) == Approx(0.65 * 15.75e9));
  CHECK(node_bytes_per_second("abacus", 4) == 0);
  // One GPU a node: the network alone.
  one = {"s", "all-reduce", "t4", 4, 1, BitsPerSecond(10e9), Bytes(1'000'000'000), {}};
  CHECK(why_no_collective_form(one).empty());
  CHECK(time() == Approx(1.5 * 1e9 / 1.25e9).epsilon(0.1));
}

}  // namespace
}  // namespace gradwire::bench
