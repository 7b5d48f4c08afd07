#include "trainers/methods/by_settings.h"

#include <algorithm>
#include <iterator>

namespace gradwire::methods {
namespace {

std::vector<MethodRow> federated() {
  std::vector<MethodRow> rows = {
      {
          .name = "fedavg",
          .summary = "federated averaging: clients take local steps, a server averages what they "
                     "changed (/schedule/kind rounds)",
          .paper = "McMahan and others, Communication-Efficient Learning of Deep Networks from "
                   "Decentralized Data, arXiv 1602.05629",
          .state = Reproduction::kPartly,
      },
      {
          .name = "fedprox",
          .summary = "federated averaging whose clients are held near the server's model "
                     "(/schedule/proximal)",
          .paper =
              "Li and others, Federated Optimization in Heterogeneous Networks, arXiv 1812.06127",
          .state = Reproduction::kPartly,
      },
      {
          .name = "fedbuff",
          .summary = "rounds that end with the first few updates, older ones discounted "
                     "(/schedule/buffer)",
          .paper = "Nguyen and others, Federated Learning with Buffered Asynchronous Aggregation, "
                   "arXiv 2106.06639",
          .state = Reproduction::kPartly,
      }};
  for (MethodRow& row : rows) {
    row.schedule = "rounds";
    row.routes = "parameter server";
    row.sends = "what a client changed, as /method says";
    row.page = "methods/fedavg.md";
  }
  return rows;
}

std::vector<MethodRow> of_other_schedules() {
  return {{.name = "local-sgd",
           .summary = "several local steps between two exchanges (/schedule/local_steps)",
           .paper = "Stich, Local SGD Converges Fast and Communicates Little, arXiv 1805.09767",
           .state = Reproduction::kReproduced,
           .schedule = "synchronous",
           .routes = "any",
           .sends = "what a worker changed, as /method says",
           .page = "methods/local-sgd.md"},
          {.name = "async-ps",
           .summary = "no worker waits for another; rates may heed the staleness (/schedule/kind "
                      "asynchronous)",
           .paper = "Dean and others 2012; Zhang and others, Staleness-aware Async-SGD, arXiv "
                    "1511.05950; Xie and others, arXiv 1903.03934",
           .state = Reproduction::kReproduced,
           .schedule = "asynchronous",
           .routes = "parameter server",
           .sends = "gradients, as /method says",
           .page = "methods/async-ps.md"}};
}

/// What an update does, or where it stands.
std::vector<MethodRow> of_updates() {
  return {
      {.name = "lars",
       .summary = "each layer's rate follows its norms (/workload/optimizer/name)",
       .state = Reproduction::kPartly,
       .schedule = "synchronous",
       .routes = "any",
       .sends = "gradients, as /method says",
       .page = "methods/optimisers.md"},
      {.name = "lamb",
       .summary = "adam, with each layer's rate by its norms (/workload/optimizer/name)",
       .state = Reproduction::kPartly,
       .schedule = "synchronous",
       .routes = "any",
       .sends = "gradients, as /method says",
       .page = "methods/optimisers.md"},
      {.name = "zero",
       .summary = "parts of the optimiser's state, of gradients and of weights on each worker "
                  "(/exchange/zero)",
       .paper = "Rajbhandari and others, ZeRO: Memory Optimizations Toward Training Trillion "
                "Parameter Models, arXiv 1910.02054",
       .state = Reproduction::kPartly,
       .schedule = "synchronous",
       .routes = "ring",
       .sends = "gradients, as /method says, and weights",
       .page = "methods/large-scale-toolbox.md"},
      {.name = "toolbox",
       .summary = "scaled rates, warm-up, micro-batches, checkpointed activations, offload "
                  "(several settings)",
       .paper = "He and others, Large-Scale Deep Learning Optimizations: A Comprehensive Survey, "
                "arXiv 2111.00856",
       .state = Reproduction::kPartly,
       .schedule = "synchronous",
       .routes = "any",
       .sends = "gradients, as /method says",
       .page = "methods/large-scale-toolbox.md"}};
}

}  // namespace

const std::vector<MethodRow>& methods_by_settings() {
  static const std::vector<MethodRow> rows = [] {
    std::vector<MethodRow> all = federated();
    std::ranges::move(of_other_schedules(), std::back_inserter(all));
    std::ranges::move(of_updates(), std::back_inserter(all));
    return all;
  }();
  return rows;
}

}  // namespace gradwire::methods
