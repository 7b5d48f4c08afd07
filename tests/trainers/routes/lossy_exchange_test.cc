#include <algorithm>
#include <cmath>

#include "tests/quantities.h"
#include "tests/trainers/codec_plans.h"
#include "tests/trainers/schedules/lossy_fixture.h"
#include "trainers/routes/decode_arrived.h"

/// What is missing of an exchange's messages, and what every worker makes of the rest.
namespace gradwire::trainers {
namespace {

using Gradients = std::vector<std::vector<std::vector<float>>>;

/// One tensor of `n` elements.
Layout one_tensor(std::int64_t n) {
  const std::vector<Parameter> parameters{{"a", {n}}};
  return Layout(parameters, Bytes(1'000'000));
}

/// Worker w's gradient is `values[w]` everywhere.
Gradients constant(std::size_t n, const std::vector<float>& values) {
  Gradients gradients;
  for (const float value : values) gradients.push_back({std::vector<float>(n, value)});
  return gradients;
}

ExchangeSettings lossy_settings(const char* codec, int workers, bool server = false,
                                const std::map<std::string, std::string>& options = {}) {
  ExchangeSettings settings = settings_for(codec, server, options);
  settings.workers = workers;
  settings.every_replica = false;
  return settings;
}

sim::HopTransfer hop_of(int source, int destination, int hop, int block, std::int64_t bytes) {
  sim::HopTransfer transfer;
  transfer.source_rank = source;
  transfer.destination_rank = destination;
  transfer.hop = hop;
  transfer.block = block;
  transfer.bytes = Bytes(bytes);
  return transfer;
}

TEST_CASE("a ring of three by hand: what is not added, and what is not told") {
  // Gradients 3, 30 and 300 everywhere: a whole mean is 333 / 3 = 111. Six elements, chunk c =
  // elements 2c and 2c + 1, 8 bytes a hop. Chunk 0 goes 0 -> 1 -> 2 as a partial sum (hops 0, 1),
  // then 2 -> 0 -> 1 as the sum (hops 2, 3).
  const Layout layout = one_tensor(6);
  const Gradients gradients = constant(6, {3, 30, 300});
  LossyRig rig(layout, lossy_settings("none", 3));
  const sim::OpIndex op = rig.plan().collective(0, 0);
  const auto means = [&](const sim::HopTransfer& hop, sim::ByteRange gap) {
    return rig.means(gradients, std::vector<sim::MissingData>{{op, hop, {gap}}});
  };
  const std::vector<float> whole(6, 111);
  // Nothing lost.
  for (const auto& mean : rig.means(gradients, {})) CHECK(mean == whole);
  // Hop 0, element 0: worker 0's 3 is in nobody's sum, (30 + 300) / 3 = 110.
  std::vector<float> expected = whole;
  expected[0] = 110;
  for (const auto& mean : means(hop_of(0, 1, 0, 0, 8), {0, 4})) CHECK(mean == expected);
  // Hop 1, one byte of element 1: neither 3 nor 30 reach worker 2, 300 / 3 = 100.
  expected = whole;
  expected[1] = 100;
  for (const auto& mean : means(hop_of(1, 2, 1, 0, 8), {7, 1})) CHECK(mean == expected);
  // Hop 2, bytes 3 and 4, a byte of either element: workers 0 and 1, to whom 0 sends on, take zero.
  expected = {0, 0, 111, 111, 111, 111};
  const auto down = means(hop_of(2, 0, 2, 0, 8), {3, 2});
  CHECK(down[0] == expected);
  CHECK(down[1] == expected);
  CHECK(down[2] == whole);
  // Hop 3: worker 1 alone.
  const auto last = means(hop_of(0, 1, 3, 0, 8), {0, 8});
  CHECK(last[0] == whole);
  CHECK(last[1] == expected);
  CHECK(last[2] == whole);
}

TEST_CASE("a ternary ring by hand: what is missing is zero, not a byte of zeros") {
  // 12 elements, chunk c = elements 4c .. 4c + 3, at 2 bits one byte on hop 0. All gradients are 2,
  // the scale is 2, and every term is +1: the sum is 3, the mean 3 x 2 / 3 = 2.
  const Layout layout = one_tensor(12);
  LossyRig rig(layout, lossy_settings("terngrad", 3, false, {{"clip", "0"}}));
  const Gradients gradients = constant(12, {2, 2, 2});
  const sim::OpIndex op = rig.plan().collective(0, 3);
  const auto of = [&](const sim::HopTransfer& hop) {
    return rig.means(gradients, std::vector<sim::MissingData>{{op, hop, {{0, hop.bytes.count()}}}});
  };
  std::vector<float> expected(12, 2);
  for (const auto& mean : rig.means(gradients, {})) CHECK(mean == expected);
  // Without worker 0's chunk 0: 2 x 2 / 3. A byte of zeros would be four terms of -1: 1 x 2 / 3.
  std::fill_n(expected.begin(), 4, 2 * (2 * (1.0f / 3)));
  for (const auto& mean : of(hop_of(0, 1, 0, 0, 1)))
    for (std::size_t e = 0; e < 12; ++e) CHECK(mean[e] == Approx(expected[e]));
  // Worker 0 misses the sum of chunk 0 (4 elements of 3 bits, 2 bytes), and so does worker 1.
  const auto down = of(hop_of(2, 0, 2, 0, 2));
  for (std::size_t e = 0; e < 12; ++e) {
    CHECK(down[0][e] == (e < 4 ? 0.0f : 2.0f));
    CHECK(down[1][e] == (e < 4 ? 0.0f : 2.0f));
    CHECK(down[2][e] == 2.0f);
  }
}

TEST_CASE("a scale that is lost: workers go by those that they know") {
  // Gradients 1, 2 and 4: the agreed scale is 4. Scales go round by hops (0: 0 -> 1 -> 2, ...).
  const Layout layout = one_tensor(3);
  const Gradients gradients = constant(3, {1, 2, 4});
  LossyRig ring(layout, lossy_settings("terngrad", 3, false, {{"clip", "0"}}));
  // Worker 2's scale is lost on its way to 0 (hop 0), and so 0 has none to send to 1: they agree on
  // 2. Their terms are +1 wherever |g| >= 2: 2 and 4 are, 1 is by chance.
  const auto lost =
      ring.means(gradients, std::vector<sim::MissingData>{
                                {ring.plan().collective(0, 1), hop_of(2, 0, 0, 2, 4), {{0, 4}}}});
  for (std::size_t e = 0; e < 3; ++e) {
    // The same terms, at a scale of 2 (workers 0 and 1) or of 4 (worker 2).
    CHECK(lost[0][e] == lost[1][e]);
    CHECK(lost[2][e] == 2 * lost[0][e]);
    CHECK(lost[0][e] >= 2 * (2.0f / 3) - 1e-6f);
  }
  // A server that answers to everybody but worker 0, who goes by its own scale of 1.
  LossyRig server(layout, lossy_settings("terngrad", 3, true, {{"clip", "0"}}));
  const auto told = server.means(
      gradients, std::vector<sim::MissingData>{
                     {server.plan().collective(0, 3), hop_of(-1, 0, 0, 0, 4), {{0, 1}}}});
  for (std::size_t e = 0; e < 3; ++e) {
    CHECK(told[1][e] == told[2][e]);
    CHECK(told[1][e] == 4 * told[0][e]);
    CHECK(told[0][e] > 0);
  }
}

TEST_CASE("a server by hand: a push that is lost is lost for all, a pull for one") {
  const Layout layout = one_tensor(3);
  const Gradients gradients = constant(3, {3, 30, 300});
  for (const bool through_terms : {false, true}) {
    ExchangeSettings settings = lossy_settings("none", 3, true);
    settings.dense_through_terms = through_terms;
    LossyRig rig(layout, settings);
    const std::size_t push = through_terms ? 1 : 0;
    const auto means = rig.means(
        gradients, std::vector<sim::MissingData>{
                       {rig.plan().collective(0, push), hop_of(1, -1, 0, 1, 12), {{0, 1}}},
                       {rig.plan().collective(0, push + 2), hop_of(-1, 2, 0, 2, 12), {{4, 4}}}});
    // Element 0: (3 + 300) / 3 = 101. Element 1 of worker 2: nothing.
    CHECK(means[0] == std::vector<float>{101, 111, 111});
    CHECK(means[1] == std::vector<float>{101, 111, 111});
    CHECK(means[2] == std::vector<float>{101, 0, 111});
  }
}

TEST_CASE(
    "an all-gather by hand: tensors are whole or nothing, lengths that are lost lose the rest") {
  // Two tensors of 4 elements in one bucket, b before a. topk keeps 1 of 4: with its own worker's
  // sign in front a message is u32 length, payload (b), u32 length, payload (a).
  const std::vector<Parameter> parameters{{"a", {4}}, {"b", {4}}};
  const Layout layout(parameters, Bytes(1'000'000));
  Gradients gradients;
  for (const float g : {3.0f, 30.0f, 300.0f})
    gradients.push_back({{0, g, 0, 0}, {0, 0, g, 0}});  // layout order: b, then a
  LossyRig rig(layout, lossy_settings("topk", 3, false, {{"ratio", "0.25"}}));
  const std::vector<float> whole{0, 111, 0, 0, 0, 0, 111, 0};
  CHECK(rig.means(gradients, {})[0] == whole);
  const std::int64_t size = rig.planned()[0].count(), half = size / 2;  // of either tensor
  const auto means = [&](int hop, int source, sim::ByteRange gap) {
    return rig.means(
        gradients,
        std::vector<sim::MissingData>{
            {rig.plan().collective(0, 1), hop_of(source, (source + 1) % 3, hop, 0, size), {gap}}});
  };
  // The last byte of b's payload, on worker 0's message to 1, who sends it on to 2: (30 + 300) / 3.
  std::vector<float> expected = whole;
  expected[1] = 110;
  const auto payload = means(0, 0, {half - 1, 1});
  CHECK(payload[0] == whole);
  CHECK(payload[1] == expected);
  CHECK(payload[2] == expected);
  // topk's payloads are all as long: with b's length lost, b is whole still.
  CHECK(means(1, 1, {0, 1})[2] == whole);
  // Codes of variable length: b's length lost loses a too.
  LossyRig varies(layout, lossy_settings("qsgd", 3, false, {{"format", "dense"}}));
  const auto before = varies.means(gradients, {})[2];
  const std::int64_t length = varies.planned()[0].count();
  const auto after = varies.means(
      gradients, std::vector<sim::MissingData>{
                     {varies.plan().collective(0, 1), hop_of(1, 2, 1, 0, length), {{0, 1}}}});
  for (std::size_t e = 0; e < 8; ++e)
    CHECK(before[e] - after[2][e] == Approx(whole[e] > 0 ? 1 : 0));
}

ExchangeSettings settings_of(const compressors::CodecPlan& plan, int workers) {
  ExchangeSettings settings;
  settings.workers = workers;
  settings.codec = compressors::make_codec(plan);
  return settings;
}

/// Every exchange that could take the plan.
std::vector<std::pair<std::string, ExchangeSettings>> exchanges_of(
    const compressors::CodecPlan& plan, int workers) {
  const ExchangeSettings plain = settings_of(plan, workers);
  std::vector<std::pair<std::string, ExchangeSettings>> all{{"ring", plain}};
  const auto add = [&](const char* name, auto&& change) {
    all.emplace_back(name, plain);
    change(all.back().second);
  };
  add("server", [](ExchangeSettings& s) { s.server = true; });
  add("shards", [](ExchangeSettings& s) { s.server = true, s.shards = 2; });
  add("direct", [](ExchangeSettings& s) { s.all_gather = sim::CollectiveKind::kDirectAllGather; });
  add("scatter-reduce", [](ExchangeSettings& s) { s.scatter = true; });
  if (plain.codec->policy() != compressors::AggregatePolicy::kSum) return all;
  for (const auto kind :
       {sim::CollectiveKind::kTreeAllReduce, sim::CollectiveKind::kHalvingDoublingAllReduce,
        sim::CollectiveKind::kTwoLevelAllReduce, sim::CollectiveKind::kInNetworkAllReduce}) {
    add(std::string(sim::name_of(kind)).c_str(), [&](ExchangeSettings& s) {
      s.all_reduce = kind;
      s.all_gather = sim::CollectiveKind::kDirectAllGather;
      s.group = 2;
      if (kind != sim::CollectiveKind::kInNetworkAllReduce) return;
      for (int w = 0; w < workers; ++w) s.parent.push_back(workers);
      s.parent.push_back(-1);
    });
  }
  return all;
}

/// One that names an operation without messages: the exchange is done again, hop by hop.
std::vector<sim::MissingData> nothing_lost(const StepTemplate& plan) {
  return {{plan.forward(0), {}, {}}};
}

TEST_CASE("every codec and exchange: done again without a loss, all is bit-equal") {
  for (const compressors::CodecPlan& plan : all_plans()) {
    for (const auto& [name, settings] : exchanges_of(plan, 3)) {
      INFO(settings.codec->name() << " " << name);
      Fixture fixture(3);
      LossyRig once(fixture.layout, settings), again(fixture.layout, settings);
      for (std::int64_t step = 0; step < 2; ++step) {
        const auto expected = once.means(fixture.gradients, {}, step);
        const auto means = again.means(fixture.gradients, nothing_lost(again.plan()), step);
        for (std::size_t w = 0; w < means.size(); ++w) CHECK(bits_equal(means[w], expected[w]));
      }
    }
  }
}

double largest(const std::vector<std::vector<float>>& means) {
  double largest = 0;
  for (const auto& mean : means)
    for (const float value : mean) {
      CHECK(std::isfinite(value));
      largest = std::max(largest, static_cast<double>(std::abs(value)));
    }
  return largest;
}

TEST_CASE("every codec and exchange: a third of all datagrams lost, and no decoder sees garbage") {
  int differ = 0, runs = 0;
  for (const compressors::CodecPlan& plan : all_plans()) {
    for (const auto& [name, settings] : exchanges_of(plan, 3)) {
      INFO(settings.codec->name() << " " << name);
      Fixture fixture(3);
      LossyRig rig(fixture.layout, settings);
      double whole = largest(rig.means(fixture.gradients, {}));
      for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        const auto missing = losses_of_a_step(rig.plan(), rig.planned(), 5, 0.18, seed);
        REQUIRE_FALSE(missing.empty());
        const auto means = rig.means(fixture.gradients, missing, static_cast<std::int64_t>(seed));
        // Without some of the terms a mean can be larger than with all, but by no more than they
        // are.
        whole = std::max(whole, 2.0);
        CHECK(largest(means) <= 4 * whole);
        differ += !bits_equal(means[0], means[1]);
        ++runs;
      }
    }
  }
  CHECK(differ > runs * 3 / 4);  // negative control: gaps that nobody heeds leave replicas equal
}

TEST_CASE("what arrives of a sum is a sum of some workers' gradients, never anything else") {
  // With gradients 1, 4 and 16 each subset has a sum of its own: 0, 1, 4, 5, 16, 17, 20, 21.
  const Layout layout = one_tensor(700);
  const Gradients gradients = constant(700, {1, 4, 16});
  for (const char* codec : {"none", "fp16", "bf16"}) {
    const compressors::CodecPlan plan{.codec = {codec, {}}};
    for (const auto& [name, settings] : exchanges_of(plan, 3)) {
      if (settings.scatter) continue;
      INFO(codec << " " << name);
      LossyRig rig(layout, settings);
      rig.means(gradients, {});
      const auto missing = losses_of_a_step(rig.plan(), rig.planned(), 5, 0.1, 7);
      bool some = false;
      for (const auto& mean : rig.means(gradients, missing)) {
        for (const float value : mean) {
          const auto sum = static_cast<int>(std::lround(3 * value));
          const bool subset = sum >= 0 && (sum & ~21) == 0;
          if (!subset || 3 * value != Approx(sum)) FAIL_CHECK("a sum of " << 3 * value);
          some = some || sum != 21;
        }
      }
      CHECK(some);
    }
  }
}

TEST_CASE("an element depends on no byte but those that its codec says") {
  // 1,300 elements: several buckets of 512 and of 1,024. Each byte in turn is turned over; what
  // decodes differently then must be what would be lost.
  const std::vector<std::int64_t> shape{1300};
  std::vector<float> values(1300);
  for (std::size_t e = 0; e < values.size(); ++e)
    values[e] = uniform(RandomStream{5, 0, 0, 0}, e) - 0.5f;
  int checked = 0;
  for (const compressors::CodecPlan& plan : all_plans()) {
    const auto codec = compressors::make_codec(plan);
    const compressors::TensorView tensor{"t", shape, values};
    const compressors::TensorSpec spec(tensor);
    if (!codec->packed_elements(spec)) continue;
    INFO(codec->name());
    std::vector<std::uint64_t> scratch(codec->scratch_size(spec) / 8 + 1),
        state(codec->state_size(spec) / 8 + 1);
    std::vector<std::byte> payload(codec->max_encoded_size(spec));
    compressors::EncodeJob encode{.tensor = tensor};
    encode.state = std::as_writable_bytes(std::span(state)).first(codec->state_size(spec));
    encode.payload = payload;
    payload.resize(codec->encode(encode, std::as_writable_bytes(std::span(scratch))));
    const auto decoded = [&](Gaps gaps) {
      std::vector<float> sum(values.size());
      const compressors::DecodeJob job{
          .payload = payload, .values = sum, .name = "t", .shape = shape};
      decode_arrived(*codec, job, gaps, 1.0f, std::as_writable_bytes(std::span(scratch)));
      return sum;
    };
    const std::vector<float> whole = decoded({});
    for (std::size_t byte = 0; byte < payload.size(); byte += 7) {
      const std::vector<float> without = decoded({{static_cast<std::int64_t>(byte), 1}});
      payload[byte] ^= std::byte{0xff};
      std::vector<float> turned = whole;
      try {
        turned = decoded({});
      } catch (const compressors::CodecError&) {  // it is no code
      }
      payload[byte] ^= std::byte{0xff};
      int wrong = 0;
      for (std::size_t e = 0; e < whole.size(); ++e) {
        const bool lost = without[e] == 0 && whole[e] != 0;
        const bool same = std::memcmp(&turned[e], &whole[e], 4) == 0;
        wrong += !lost && whole[e] != 0 && !same;
        wrong += !lost && without[e] != whole[e];
      }
      CHECK(wrong == 0);
      ++checked;
    }
  }
  CHECK(checked > 1000);
}

}  // namespace
}  // namespace gradwire::trainers
