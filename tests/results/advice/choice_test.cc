#include "results/advice/choice.h"

#include <catch2/catch.hpp>

using namespace gradwire::results;

namespace {

Option option(Baseline kind, double seconds, Standing standing = Standing::kUnknown,
              double doubt = 0) {
  Option made;
  made.baseline = kind;
  made.seconds = seconds;
  made.doubt_s = doubt;
  made.accuracy.standing = standing;
  return made;
}

}  // namespace

TEST_CASE("baselines are fp32 and fp16 as they are") {
  CHECK(baseline_of(R"({"name":"none"})") == Baseline::kFp32);
  CHECK(baseline_of(R"({"name":"none","error_feedback":false})") == Baseline::kFp32);
  CHECK(baseline_of(R"({"name":"bf16"})") == Baseline::kFp16);
  CHECK(baseline_of(R"({"name":"fp16","error_feedback":true})") == Baseline::kNone);
  CHECK(baseline_of(R"({"name":"topk"})") == Baseline::kNone);
  CHECK(baseline_of("no JSON") == Baseline::kNone);
  CHECK(method_of_scenario(R"({"method":{"name":"topk"}})") == R"({"name":"topk"})");
  CHECK(method_of_scenario("{}") == "{}");
}

TEST_CASE("a loser is refused where it is faster, and passed over where it is not") {
  const std::vector<Option> fast = {option(Baseline::kFp32, 1),
                                    option(Baseline::kNone, 0.2, Standing::kLoses),
                                    option(Baseline::kNone, 0.5)};
  const Choice choice = choose(fast);
  CHECK(choice.verdict == Verdict::kCompress);
  CHECK(choice.chosen == 2u);
  CHECK(choice.refused == 1u);
  const std::vector<Option> slow = {option(Baseline::kFp32, 1),
                                    option(Baseline::kNone, 2, Standing::kLoses)};
  CHECK(choose(slow).chosen == 0u);
  CHECK_FALSE(choose(slow).refused);
  const std::vector<Option> all = {option(Baseline::kFp16, 1, Standing::kLoses),
                                   option(Baseline::kNone, 2, Standing::kLoses)};
  CHECK(choose(all).verdict == Verdict::kNothing);
  CHECK_FALSE(choose(all).chosen);
  CHECK(choose(all).refused == 0u);
}

TEST_CASE("of compressed steps that are as fast, one whose accuracy is known is taken") {
  // 0.51 is within 3 % of 0.5, 0.52 is not.
  const std::vector<Option> near = {option(Baseline::kFp32, 1), option(Baseline::kNone, 0.5),
                                    option(Baseline::kNone, 0.51, Standing::kKeeps)};
  CHECK(choose(near).chosen == 2u);
  CHECK(choose(near).ties == std::vector<std::size_t>{1});
  const std::vector<Option> far = {option(Baseline::kFp32, 1), option(Baseline::kNone, 0.5),
                                   option(Baseline::kNone, 0.52, Standing::kKeeps)};
  CHECK(choose(far).chosen == 1u);
  CHECK(choose(far).ties.empty());
}

TEST_CASE("of compressed steps that are as fast, the one that leaves least out is taken") {
  // 0.5 s with a thousandth of the bytes, 0.51 s with a quarter: no difference in time. At 0.52 s
  // there is one.
  std::vector<Option> near = {option(Baseline::kFp32, 1), option(Baseline::kNone, 0.5),
                              option(Baseline::kNone, 0.51)};
  near[1].message_bytes = 1e5;
  near[2].message_bytes = 2.5e7;
  CHECK(choose(near).chosen == 2u);
  near[2].seconds = 0.52;
  CHECK(choose(near).chosen == 1u);
}

TEST_CASE("no winner within what the seeds can tell apart") {
  // 1.0 +- 0.06 s and 0.9 +- 0.09: 0.1 apart, hypot(0.06, 0.09) = 0.108. With +- 0.07: 0.092.
  CHECK(as_fast(option(Baseline::kFp32, 1, Standing::kKeeps, 0.06),
                option(Baseline::kNone, 0.9, Standing::kKeeps, 0.09)));
  CHECK_FALSE(as_fast(option(Baseline::kFp32, 1, Standing::kKeeps, 0.06),
                      option(Baseline::kNone, 0.9, Standing::kKeeps, 0.07)));
  const std::vector<Option> noisy = {option(Baseline::kFp32, 1, Standing::kKeeps, 0.06),
                                     option(Baseline::kNone, 0.9, Standing::kKeeps, 0.09)};
  CHECK(choose(noisy).verdict == Verdict::kDoNotCompress);
}
