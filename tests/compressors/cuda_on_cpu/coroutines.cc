#include <cuda_runtime_api.h>

#include <cstdio>
#include <memory>
#include <vector>

CpuIndex threadIdx, blockIdx, blockDim, gridDim;

// Saves the callee-saved registers and the stack pointer, takes over those of the other side.
extern "C" void cuda_on_cpu_switch(void** save, void* load);
asm(R"(
.text
.globl cuda_on_cpu_switch
cuda_on_cpu_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
)");

namespace cuda_on_cpu {

unsigned dynamic_shared[16384];

namespace {

enum class State { kReady, kAtBlockBarrier, kAtWarpBarrier, kDone };
constexpr unsigned kMostThreads = 1024, kLanes = 32;
constexpr std::size_t kStackBytes = 64 << 10;

struct Thread {
  void* stack_pointer = nullptr;
  State state = State::kDone;
  std::unique_ptr<char[]> stack;
};

std::vector<Thread> threads(kMostThreads);
void* scheduler = nullptr;
unsigned current = 0, launches = 0;
void (*body)(void*) = nullptr;
void* argument = nullptr;
std::uint64_t slots[kMostThreads / kLanes][kLanes];
int or_slot = 0;

[[noreturn]] void fail(const char* reason) {
  std::fprintf(stderr, "a kernel %s\n", reason);
  std::abort();
}

void yield(State state) {
  threads[current].state = state;
  cuda_on_cpu_switch(&threads[current].stack_pointer, scheduler);
}

void begin_thread() {
  body(argument);
  yield(State::kDone);
  fail("went on after its end");
}

// A stack on which the switch finds six registers and then the first function.
void prepare(Thread& thread) {
  if (!thread.stack) thread.stack.reset(new char[kStackBytes]);
  const auto end = reinterpret_cast<std::uintptr_t>(thread.stack.get()) + kStackBytes;
  auto** top = reinterpret_cast<void**>(end & ~std::uintptr_t{15});
  *--top = nullptr;  // as if called: the stack is off by 8 from a multiple of 16
  *--top = reinterpret_cast<void*>(&begin_thread);
  for (int r = 0; r < 6; ++r) *--top = nullptr;
  thread.stack_pointer = top;
  thread.state = State::kReady;
}

bool run_ready(unsigned count, bool backwards) {
  bool ran = false;
  for (unsigned i = 0; i < count; ++i) {
    const unsigned t = backwards ? count - 1 - i : i;
    if (threads[t].state != State::kReady) continue;
    current = threadIdx.x = t;
    ran = true;
    cuda_on_cpu_switch(&scheduler, threads[t].stack_pointer);
  }
  return ran;
}

/// Lets threads [begin, end) go on if all of them that still run wait at `barrier`.
bool release(unsigned begin, unsigned end, State barrier) {
  bool any = false, done = false;
  for (unsigned t = begin; t < end; ++t) {
    if (threads[t].state == barrier)
      any = true;
    else if (threads[t].state == State::kDone)
      done = true;
    else
      return false;
  }
  if (!any) return false;
  if (done) fail("has threads that ended before a barrier");
  for (unsigned t = begin; t < end; ++t) threads[t].state = State::kReady;
  return true;
}

void run_block(unsigned count, bool backwards) {
  for (unsigned t = 0; t < count; ++t) prepare(threads[t]);
  for (bool goes_on = true; goes_on;) {
    goes_on = run_ready(count, backwards);
    for (unsigned t = 0; t < count; t += kLanes)
      goes_on = release(t, std::min(t + kLanes, count), State::kAtWarpBarrier) || goes_on;
    goes_on = release(0, count, State::kAtBlockBarrier) || goes_on;
  }
  for (unsigned t = 0; t < count; ++t)
    if (threads[t].state != State::kDone) fail("has threads at different barriers");
}

}  // namespace

std::uint64_t* warp_slots() {
  return slots[current / kLanes];
}
int* block_slot() {
  return &or_slot;
}
unsigned launch_count() {
  return launches;
}
void wait_for_block() {
  yield(State::kAtBlockBarrier);
}
void wait_for_warp() {
  yield(State::kAtWarpBarrier);
}

void run(unsigned blocks, unsigned count, void (*kernel)(void*), void* of) {
  if (blocks < 1 || count < 1 || count > kMostThreads) fail("has an impossible grid");
  body = kernel;
  argument = of;
  gridDim.x = blocks;
  blockDim.x = count;
  ++launches;
  for (unsigned b = 0; b < blocks; ++b) {
    blockIdx.x = launches % 3 == 0 ? blocks - 1 - b : b;
    run_block(count, launches % 2 == 0);
  }
}

}  // namespace cuda_on_cpu
