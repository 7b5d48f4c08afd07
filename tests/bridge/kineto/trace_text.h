#pragma once
#include <nlohmann/json.hpp>
#include <string>

/// Profilers' traces as texts, for tests.
namespace gradwire::testing {

class TraceText {
 public:
  explicit TraceText(int rank = 0, int world = 2, const std::string& backend = "gloo") {
    nlohmann::json ranks = nlohmann::json::array();
    for (int r = 0; r < world; ++r) ranks.push_back(r);
    trace_["distributedInfo"] = {
        {"backend", backend},
        {"rank", rank},
        {"world_size", world},
        {"pg_config", {{{"pg_name", "0"}, {"pg_size", world}, {"ranks", ranks}}}}};
    trace_["traceEvents"] = nlohmann::json::array();
  }

  /// An event from `begin` to `end`, in microseconds.
  void add(const std::string& category, const std::string& name, double begin, double end,
           const nlohmann::json& args = nlohmann::json::object(), int thread = 1) {
    trace_["traceEvents"].push_back({{"ph", "X"},
                                     {"cat", category},
                                     {"name", name},
                                     {"tid", thread},
                                     {"ts", begin},
                                     {"dur", end - begin},
                                     {"args", args}});
  }
  void operation(double begin, double end, const std::string& name = "aten::mm") {
    add("cpu_op", name, begin, end);
  }
  void step(double begin, double end) { add("user_annotation", "ProfilerStep#1", begin, end); }
  void all_reduce(double begin, double end, int elements, bool asynchronous) {
    add("cpu_op", "c10d::allreduce_", begin, end,
        {{"Input Dims", {{{elements}}, nlohmann::json::array()}},
         {"Input type", {"TensorList", ""}},
         {"Concrete Inputs", {"", "", "", "", asynchronous ? "True" : "False", "-1"}}});
  }
  /// gloo's work on an all-reduce, on a thread of its own.
  void gloo_work(double begin, double end, int elements) {
    add("user_annotation", "gloo:all_reduce", begin, end,
        {{"Input Dims", {{elements}}}, {"Input type", {"c10::BFloat16"}}}, 9);
  }
  void copy_back(double begin, double end, int elements) {
    add("cpu_op", "torch.distributed.ddp.reducer::copy_bucket_to_grad", begin, end,
        {{"Input Dims", {{elements}}}});
  }
  /// A kernel and its launch.
  void kernel(double launched, double begin, double end, const std::string& name = "gemm") {
    const nlohmann::json args = {{"correlation", ++correlation_}};
    add("cuda_runtime", "cudaLaunchKernel", launched, launched + 1, args);
    add("kernel", name, begin, end, args, 7);
  }
  void nccl_all_reduce(double called, double returned, double begin, double end, int elements) {
    add("cpu_op", "c10d::allreduce_", called, returned,
        {{"Concrete Inputs", {"", "", "", "", "True", "-1"}}});
    add("cpu_op", "record_param_comms", called + 1, returned - 1,
        {{"Collective name", "allreduce"},
         {"dtype", "Half"},
         {"In msg nelems", elements},
         {"Process Group Name", "0"},
         {"Process Group Ranks", "[0, 1]"}});
    kernel(called + 2, begin, end, "ncclDevKernel_AllReduce_Sum_f16_RING_LL");
  }

  nlohmann::json& json() { return trace_; }
  std::string text() const { return trace_.dump(); }

 private:
  nlohmann::json trace_;
  int correlation_ = 0;
};

}  // namespace gradwire::testing
