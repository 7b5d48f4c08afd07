#include "trainers/channel/boundary_channel.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "base/philox.h"
#include "base/temporary_file.h"
#include "trainers/trainer_error.h"

namespace gradwire::trainers {
namespace {

using Shape = std::vector<std::int64_t>;

compressors::CodecPlan rowquant(int bits, const std::string& rounding = "nearest",
                                const std::string& grid = "symmetric") {
  return {.codec = {
              .name = "rowquant",
              .options = {{"bits", std::to_string(bits)}, {"rounding", rounding}, {"grid", grid}}}};
}

methods::BoundaryPlan differences(int bits, const std::string& rounding = "nearest") {
  return {.forward = rowquant(bits, rounding), .backward = rowquant(8), .differences = true};
}

std::vector<float> drawn(std::size_t count, std::uint32_t number) {
  std::vector<float> values(count);
  for (std::size_t e = 0; e < count; ++e) values[e] = 2 * uniform({3, number, 0, 0}, e) - 1;
  return values;
}

/// A message there; what the other end has of it.
std::vector<float> cross(BoundaryChannel& channel, const std::vector<std::uint32_t>& samples,
                         const Shape& shape, const std::vector<float>& values, std::int64_t step,
                         std::size_t* bytes = nullptr, BoundaryLoss* loss = nullptr) {
  std::vector<std::byte> message;
  BoundaryLoss ignored;
  channel.send(samples, shape, values, {step, 0, 0}, message, loss ? *loss : ignored);
  if (bytes) *bytes = message.size();
  std::vector<float> received(values.size());
  channel.receive(samples, shape, message, received);
  return received;
}

TEST_CASE("the first message of a sample is its activations, later ones what has changed",
          "[boundary]") {
  BoundaryChannel channel(differences(4), 0, 1, {});
  const Shape shape = {3, 5, 16};
  const std::vector<float> a = drawn(240, 1);
  std::size_t bytes = 0;
  CHECK(cross(channel, {7, 2, 9}, shape, a, 0, &bytes) == a);
  CHECK(bytes == 4 * 240);
  CHECK(channel.buffer_bytes() == 4 * 240);
  // 3 x 5 rows of 16 codes of 4 bits, and as many scales.
  std::vector<float> changed = a;
  for (float& value : changed) value += 0.01f;
  const std::vector<float> m = cross(channel, {7, 2, 9}, shape, changed, 1, &bytes);
  CHECK(bytes == 240 * 4 / 8 + 2 * 15);
  for (std::size_t e = 0; e < m.size(); ++e) CHECK(std::abs(m[e] - changed[e]) < 0.01 / 15);
  // Of sample 2 all is known, of 4 nothing: its values first, then a tensor of one sample.
  std::vector<float> two(a.begin(), a.begin() + 160);
  CHECK(cross(channel, {4, 2}, {2, 5, 16}, two, 2, &bytes).size() == 160);
  CHECK(bytes == 4 * 80 + 80 * 4 / 8 + 2 * 5);
  CHECK(channel.sender_hash() == channel.receiver_hash());
}

TEST_CASE("bytes are those of the paper's sizes", "[boundary]") {
  // 1,024 tokens of 1,600 values in 4 bits, a scale a channel: 822,400; fp32: 6,553,600.
  methods::BoundaryPlan plan{.forward = rowquant(4, "nearest", "released"),
                             .backward = rowquant(8, "nearest", "released"),
                             .differences = true};
  BoundaryChannel channel(plan, 0, 1, {});
  const Shape shape = {1, 1024, 1600};
  const std::vector<float> a = drawn(1024 * 1600, 2);
  std::size_t bytes = 0;
  cross(channel, {0}, shape, a, 0, &bytes);
  CHECK(bytes == 6'553'600);
  cross(channel, {0}, shape, a, 1, &bytes);
  CHECK(bytes == 822'400);
  std::vector<std::byte> message;
  channel.send_gradients(shape, a, {}, message);
  CHECK(message.size() == 1'641'600);
}

TEST_CASE("the released quantiser's worked example crosses as in its notes", "[boundary]") {
  // One token, but a scale a channel would make each value its own: four tokens of one channel.
  methods::BoundaryPlan plan{.forward = rowquant(2, "nearest", "released"), .differences = true};
  BoundaryChannel channel(plan, 0, 1, {});
  const Shape shape = {1, 4, 1};
  const std::vector<float> zero(4), delta = {.375f, -.125f, .0625f, -.5f};
  cross(channel, {5}, shape, zero, 0);
  std::vector<std::byte> message;
  BoundaryLoss loss;
  channel.send(std::vector<std::uint32_t>{5}, shape, delta, {1, 0, 0}, message, loss);
  CHECK(message == std::vector<std::byte>{std::byte{0xe8}, std::byte{0x00}, std::byte{0x38}});
  std::vector<float> m(4);
  channel.receive(std::vector<std::uint32_t>{5}, shape, message, m);
  CHECK(m == std::vector<float>{.25f, 0, 0, -.5f});
}

TEST_CASE("with what does not change, buffers come nearer by the quantiser's share each time",
          "[boundary]") {
  for (const char* rounding : {"nearest", "stochastic"}) {
    CAPTURE(rounding);
    BoundaryChannel channel(differences(4, rounding), 0, 1, {});
    const Shape shape = {2, 64};
    cross(channel, {0, 1}, shape, drawn(128, 1), 0);
    const std::vector<float> a = drawn(128, 2);
    double before = 0;
    for (int step = 1; step < 6; ++step) {
      BoundaryLoss loss;
      cross(channel, {0, 1}, shape, a, step, nullptr, &loss);
      // 16 levels over twice the largest of 64 values: at most 2 s / 15 a value, of s sqrt(1/3).
      CHECK(loss.quantiser_error() < 0.24);
      CHECK(loss.left == Approx(loss.lost).epsilon(0.01).margin(1e-12));
      if (before > 0) CHECK(loss.buffer_error() < 0.3 * before);
      before = loss.buffer_error();
    }
    // a = m: zeros are sent, and it stays exact.
    const std::vector<float> m = cross(channel, {0, 1}, shape, a, 9);
    BoundaryLoss none;
    CHECK(cross(channel, {0, 1}, shape, m, 10, nullptr, &none) == m);
    CHECK(none.lost == 0);
  }
  // Negative control: a bit a value leaves out more than it says, and does not come nearer.
  BoundaryChannel one(differences(1), 0, 1, {});
  cross(one, {0}, {1, 128}, drawn(128, 1), 0);
  BoundaryLoss loss;
  cross(one, {0}, {1, 128}, drawn(128, 2), 1, nullptr, &loss);
  CHECK(loss.quantiser_error() > std::sqrt(0.5));
}

TEST_CASE("gradients that are rounded at random arrive unbiased", "[boundary]") {
  const std::size_t n = 64, draws = 400;
  const std::vector<float> gradient = drawn(n, 5);
  float largest = 0;
  for (const float value : gradient) largest = std::max(largest, std::abs(value));
  const auto error_of = [&](const std::string& rounding) {
    const methods::BoundaryPlan plan{.backward = rowquant(2, rounding)};
    const BoundaryChannel channel(plan, 0, 1, {});
    std::vector<double> sums(n), squares(n);
    for (std::size_t draw = 0; draw < draws; ++draw) {
      std::vector<std::byte> message;
      std::vector<float> received(n);
      const BoundaryMoment moment{static_cast<std::int64_t>(draw), 1, 0};
      channel.send_gradients(Shape{1, 64}, gradient, moment, message);
      channel.receive_gradients(Shape{1, 64}, message, received);
      for (std::size_t e = 0; e < n; ++e) {
        const double error = static_cast<double>(received[e]) - gradient[e];
        sums[e] += error;
        squares[e] += error * error;
      }
    }
    double most = 0;
    const double step = 2.01 * largest / 3;  // four points; scales are rounded up to f16
    for (std::size_t e = 0; e < n; ++e) {
      CHECK(squares[e] / draws <= step * step / 4 * 1.2);
      most = std::max(most, std::abs(sums[e]) / draws / (step / 2 / std::sqrt(draws)));
    }
    return most;  // in standard errors, at most
  };
  CHECK(error_of("stochastic") < 5);
  CHECK(error_of("nearest") > 5);  // negative control
}

TEST_CASE("draws differ from message to message, and are the same again", "[boundary]") {
  const std::vector<float> a = drawn(64, 5);
  const BoundaryChannel channel({.backward = rowquant(2, "stochastic")}, 0, 1, {});
  const auto message_at = [&](const BoundaryMoment& moment) {
    std::vector<std::byte> message;
    channel.send_gradients(Shape{1, 64}, a, moment, message);
    return message;
  };
  CHECK(message_at({1, 0, 0}) == message_at({1, 0, 0}));
  CHECK(message_at({1, 0, 0}) != message_at({2, 0, 0}));   // another step
  CHECK(message_at({1, 0, 0}) != message_at({1, 1, 0}));   // another replica
  CHECK(message_at({1, 0, 0}) != message_at({1, 0, 64}));  // the next micro-batch
  const BoundaryChannel next({.backward = rowquant(2, "stochastic")}, 1, 1, {});
  std::vector<std::byte> message;
  next.send_gradients(Shape{1, 64}, a, {1, 0, 0}, message);
  CHECK(message != message_at({1, 0, 0}));
}

TEST_CASE("direct messages remember nothing", "[boundary]") {
  methods::BoundaryPlan plan{.forward = rowquant(4)};
  BoundaryChannel channel(plan, 0, 1, {});
  const std::vector<float> a = drawn(64, 1);
  std::size_t bytes = 0;
  const std::vector<float> first = cross(channel, {3, 4}, {2, 32}, a, 0, &bytes);
  CHECK(bytes == 32 + 4);
  CHECK(cross(channel, {3, 4}, {2, 32}, a, 1) == first);
  CHECK(channel.buffer_bytes() == 0);
  CHECK(first != a);
}

TEST_CASE("what two ends cannot agree on is refused", "[boundary]") {
  BoundaryChannel channel(differences(4), 3, 1, {});
  const std::vector<float> a = drawn(64, 1);
  std::vector<std::byte> message;
  BoundaryLoss loss;
  const std::vector<std::uint32_t> twice = {6, 6}, once = {6, 7};
  CHECK_THROWS_WITH(
      channel.send(twice, Shape{2, 32}, a, {}, message, loss),
      Catch::Contains("boundary 3") && Catch::Contains("sample 6 comes twice in a micro-batch"));
  CHECK(channel.sender_hash() == channel.receiver_hash());
  // A message that never arrives: the next one is of another length than the receiver expects.
  channel.send(once, Shape{2, 32}, a, {}, message, loss);
  CHECK(channel.sender_hash() != channel.receiver_hash());
  channel.send(once, Shape{2, 32}, a, {1, 0, 0}, message, loss);
  std::vector<float> received(64);
  CHECK_THROWS_WITH(channel.receive(once, Shape{2, 32}, message, received),
                    Catch::Contains("its two ends do not know the same samples"));
}

TEST_CASE("buffers lie in memory or in a file, and are the same", "[boundary]") {
  const TemporaryFolder folder;
  BoundaryChannel in_memory(differences(3), 0, 1, {});
  BoundaryChannel in_file(differences(3), 0, 1, {Bytes(256), folder.path()});
  std::vector<std::uint32_t> samples(40);
  for (std::uint32_t i = 0; i < 40; ++i) samples[i] = i;
  for (std::uint32_t step = 0; step < 4; ++step) {
    const std::vector<float> a = drawn(40 * 32, step);
    CHECK(cross(in_memory, samples, {40, 32}, a, step) ==
          cross(in_file, samples, {40, 32}, a, step));
    CHECK(in_memory.sender_hash() == in_file.receiver_hash());
  }
  std::stringstream saved;
  in_file.save(saved);
  BoundaryChannel loaded(differences(3), 0, 1, {});
  loaded.load(saved);
  CHECK(loaded.sender_hash() == in_memory.sender_hash());
  CHECK(loaded.receiver_hash() == in_memory.receiver_hash());
  // Of another run: samples of another size; of a method without buffers.
  BoundaryChannel other(differences(3), 0, 1, {});
  cross(other, {1}, {1, 8}, drawn(8, 1), 0);
  saved.seekg(0);
  CHECK_THROWS_WITH(other.load(saved), Catch::Contains("samples of another size"));
  BoundaryChannel direct({.forward = rowquant(3)}, 0, 1, {});
  saved.seekg(0);
  CHECK_THROWS_WITH(direct.load(saved), Catch::Contains("this method keeps none"));
}

/// Turns a bit of each of this process's files in `folder` that have no name there; how many.
int damage_files_in(const std::string& folder) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const std::string target = std::filesystem::read_symlink(entry.path(), gone).string();
    if (gone || !target.starts_with(folder)) continue;
    const int file = std::stoi(entry.path().filename().string());
    char byte = 0;
    REQUIRE(::pread(file, &byte, 1, 40) == 1);
    byte = static_cast<char>(byte ^ 1);
    REQUIRE(::pwrite(file, &byte, 1, 40) == 1);
    ++files;
  }
  return files;
}

TEST_CASE("a file of buffers that is damaged is refused when it is read", "[boundary]") {
  const TemporaryFolder folder;
  BoundaryChannel channel(differences(4), 0, 1, {Bytes(0), folder.path()});
  const std::vector<float> a = drawn(64, 1);
  cross(channel, {0, 1}, {2, 32}, a, 0);
  cross(channel, {0, 1}, {2, 32}, a, 1);
  CHECK(damage_files_in(folder.path()) == 2);  // one of each end
  std::vector<std::byte> message;
  BoundaryLoss loss;
  const std::vector<std::uint32_t> samples = {0, 1};
  CHECK_THROWS_WITH(channel.send(samples, Shape{2, 32}, a, {2, 0, 0}, message, loss),
                    Catch::Contains("read buffers of samples from a file in") &&
                        Catch::Contains("it is damaged") && Catch::Contains("--resume"));
}

}  // namespace
}  // namespace gradwire::trainers
