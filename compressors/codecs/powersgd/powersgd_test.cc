#include <Eigen/Eigenvalues>
#include <catch2/catch.hpp>
#include <cfloat>
#include <cmath>
#include <cstring>

#include "base/thread_team.h"
#include "tests/compressors/codec_fixture.h"

using namespace gradwire;
using namespace gradwire::compressors;
using namespace gradwire::compressors::testing;
using Catch::Matchers::Contains;

namespace {

using Shape = std::vector<std::int64_t>;
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// One worker's end: the codec, its state, and the buffers of calls on tensors of one shape.
class Worker {
 public:
  Worker(CodecPtr codec, Shape shape, std::size_t n)
      : codec_(std::move(codec)), shape_(std::move(shape)), n_(n), spec_(n, "layer", shape_) {
    state_.resize(codec_->state_size(spec_) / 8);
    scratch_.resize(codec_->scratch_size(spec_) / 8 + 1);
  }
  std::vector<std::byte> encode(const std::vector<float>& values, std::uint32_t step = 0,
                                ThreadTeam* team = nullptr) {
    std::vector<std::byte> payload(codec_->max_encoded_size(spec_));
    EncodeJob job{.tensor = {.name = "layer", .shape = shape_, .data = values},
                  .draws = {.stream = {.seed = 3, .step = step}},
                  .state = state(),
                  .payload = payload,
                  .team = team};
    payload.resize(codec_->encode(job, scratch()));
    return payload;
  }
  std::vector<float> decode(const std::vector<std::byte>& payload, ThreadTeam* team = nullptr) {
    std::vector<float> values(n_);
    codec_->decode({.payload = payload, .values = values, .shape = shape_, .team = team},
                   scratch());
    return values;
  }
  std::vector<float> round_trip(const std::vector<float>& values, std::uint32_t step = 0) {
    return decode(encode(values, step));
  }
  void decode_add(const std::vector<std::byte>& payload, float factor, std::vector<float>& values) {
    codec_->decode_accumulate({.payload = payload, .values = values, .shape = shape_}, factor,
                              scratch());
  }
  std::span<std::byte> state() { return std::as_writable_bytes(std::span(state_)); }
  std::span<std::byte> scratch() { return std::as_writable_bytes(std::span(scratch_)); }
  const TensorSpec& spec() const { return spec_; }

 private:
  CodecPtr codec_;
  Shape shape_;
  std::size_t n_;
  TensorSpec spec_;
  std::vector<std::uint64_t> state_, scratch_;
};

CodecPtr powersgd(int rank, const std::map<std::string, std::string>& more = {}) {
  auto options = more;
  options["rank"] = std::to_string(rank);
  return make_codec("powersgd", options);
}

Matrix as_matrix(const std::vector<float>& values, Eigen::Index rows) {
  return Eigen::Map<const Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
             values.data(), rows, static_cast<Eigen::Index>(values.size()) / rows)
      .cast<double>();
}

double distance(const std::vector<float>& a, const std::vector<float>& b) {
  double squares = 0;
  for (std::size_t e = 0; e < a.size(); ++e)
    squares += (double{a[e]} - double{b[e]}) * (double{a[e]} - double{b[e]});
  return std::sqrt(squares);
}

/// The Frobenius norm of what the best approximation of this rank leaves (Eckart and Young): the
/// squares of the least singular values are the least eigenvalues of M M^T, which come in order.
double best_error(const std::vector<float>& values, Eigen::Index rows, Eigen::Index rank) {
  const Matrix m = as_matrix(values, rows);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(m * m.transpose(),
                                                              Eigen::EigenvaluesOnly);
  return std::sqrt(solver.eigenvalues().head(rows - rank).cwiseMax(0).sum());
}

/// A sum of `rank` outer products of random vectors.
std::vector<float> low_rank(std::size_t rows, std::size_t columns, std::size_t rank) {
  const auto a = random_values(rows * rank, 1), b = random_values(columns * rank, 2);
  std::vector<float> values(rows * columns);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j)
      for (std::size_t k = 0; k < rank; ++k)
        values[i * columns + j] += 16 * a[i * rank + k] * b[j * rank + k];
  return values;
}

/// Singular values that fall off slowly, as gradients' do.
std::vector<float> decaying(std::size_t rows, std::size_t columns) {
  std::vector<float> values(rows * columns);
  const auto a = random_values(rows * 20, 3), b = random_values(columns * 20, 4);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j)
      for (std::size_t k = 0; k < 20; ++k)
        values[i * columns + j] +=
            a[i * 20 + k] * b[j * 20 + k] * std::pow(0.7f, static_cast<float>(k));
  return values;
}

}  // namespace

TEST_CASE("a matrix of rank 1, by hand") {
  // M = (3 4)' (1 2 2 ... ): P = +-(0.6, 0.8), Q = M' P = +-5 (1, 2, 2, 2, 2).
  const std::vector<float> m = {3, 6, 6, 6, 6, 4, 8, 8, 8, 8};
  Worker worker(powersgd(1), {2, 5}, 10);
  const auto payload = worker.encode(m);
  REQUIRE(payload.size() == 4 * (2 + 5));
  float f[7];
  std::memcpy(f, payload.data(), sizeof f);
  const float sign = f[0] > 0 ? 1.0f : -1.0f;
  const float expected[7] = {0.6f, 0.8f, 5, 10, 10, 10, 10};
  for (int i = 0; i < 7; ++i) CHECK(sign * f[i] == Approx(expected[i]).epsilon(1e-6));
  CHECK(distance(worker.decode(payload), m) < 1e-5);
  CHECK(std::memcmp(worker.state().data(), payload.data() + 8, 20) == 0);  // Q is kept
}

TEST_CASE("matrices of rank r come back, r columns or more given") {
  for (const int rank : {1, 2, 3, 4, 7}) {
    const auto m = low_rank(40, 70, 3);
    Worker worker(powersgd(rank), {40, 7, 10}, m.size());
    const double error = distance(worker.round_trip(m), m) / distance(m, std::vector<float>(2800));
    INFO(rank);
    if (rank >= 3)
      CHECK(error < 1e-6);
    else
      CHECK(error > 0.01);  // fewer cannot
  }
}

TEST_CASE("more columns leave no more error, and never more than the tensor") {
  const auto m = decaying(50, 60);
  double last = distance(m, std::vector<float>(m.size()));
  for (const int rank : {1, 2, 4, 8, 16}) {
    Worker worker(powersgd(rank, {{"iterations", "8"}}), {50, 60}, m.size());
    const double error = distance(worker.round_trip(m), m);
    CHECK(error <= last);
    CHECK(error >= best_error(m, 50, rank) * (1 - 1e-5));
    last = error;
  }
}

TEST_CASE("warm starts approach the best error of the rank; cold ones do not") {
  const auto m = decaying(50, 60);
  const double best = best_error(m, 50, 4);
  Worker warm(powersgd(4), {50, 60}, m.size());
  Worker cold(powersgd(4, {{"warm_start", "false"}}), {50, 60}, m.size());
  const double first = distance(warm.round_trip(m), m);
  CHECK(first > 1.05 * best);
  double last = first;
  for (std::uint32_t step = 1; step < 40; ++step) {
    const double error = distance(warm.round_trip(m, step), m);
    CHECK(error <= last * (1 + 1e-6));  // subspace iteration on one matrix never gets worse
    last = error;
  }
  CHECK(last < 1.0005 * best);
  CHECK(distance(cold.round_trip(m, 40), m) > 1.05 * best);
  CHECK(cold.state().empty());
}

TEST_CASE("vectors, and matrices whose factors are as large, are sent as they are") {
  const auto x = random_values(60);
  for (const Shape& shape : {Shape{60}, Shape{}, Shape{60, 1}, Shape{1, 60}, Shape{5, 12}}) {
    Worker worker(powersgd(4), shape, 60);  // 4 (5 + 12) = 68 >= 60
    const auto payload = worker.encode(x);
    CHECK(payload.size() == 240);
    CHECK(worker.decode(payload) == x);
    CHECK(worker.state().empty());
  }
  Worker factored(powersgd(3), {5, 12}, 60);  // 3 * 17 = 51 < 60
  CHECK(factored.encode(x).size() == 204);
}

TEST_CASE("threads do not change the bytes, and the state decides what comes next") {
  ThreadTeam team(3);
  const auto m = random_values(700 * 900);
  Worker alone(powersgd(5), {700, 900}, m.size()), shared(powersgd(5), {700, 900}, m.size());
  for (std::uint32_t step = 0; step < 3; ++step) {
    const auto payload = alone.encode(m, step);
    CHECK(shared.encode(m, step, &team) == payload);
    CHECK(alone.decode(payload) == shared.decode(payload, &team));
  }
}

TEST_CASE("P is orthonormal, whatever the tensor") {
  const auto check = [](const std::vector<float>& m) {
    Worker worker(powersgd(3), {20, 30}, 600);
    const auto payload = worker.encode(m);
    std::vector<float> p(60);
    std::memcpy(p.data(), payload.data(), 240);
    const Matrix basis = as_matrix(p, 20);
    CHECK((basis.transpose() * basis - Matrix::Identity(3, 3)).norm() < 1e-6);
    for (const float value : worker.decode(payload)) CHECK(std::isfinite(value));
  };
  check(random_values(600));
  check(low_rank(20, 30, 1));  // fewer than three directions
  check(std::vector<float>(600, 0.0f));
  check(std::vector<float>(600, FLT_MAX));
  check(std::vector<float>(600, FLT_TRUE_MIN));
}

TEST_CASE("zeros and a zero after others are sent as zeros") {
  Worker worker(powersgd(2), {20, 30}, 600);
  const std::vector<float> zeros(600, 0.0f);
  CHECK(worker.round_trip(zeros) == zeros);
  const auto m = low_rank(20, 30, 2);
  CHECK(distance(worker.round_trip(m), m) < 1e-5);
  CHECK(worker.round_trip(zeros) == zeros);
  CHECK(distance(worker.round_trip(m), m) < 1e-5);
}

TEST_CASE("error feedback: sum sent + residual = sum fed") {
  const std::size_t n = 40 * 50;
  Worker worker(with_error_feedback(powersgd(2)), {40, 50}, n);
  std::vector<double> fed(n), sent(n);
  for (std::uint32_t step = 0; step < 30; ++step) {
    const auto x = random_values(n, step);
    const auto values = worker.round_trip(x, step);
    for (std::size_t e = 0; e < n; ++e) fed[e] += x[e], sent[e] += values[e];
  }
  std::vector<float> residual(n);
  std::memcpy(residual.data(), worker.state().data(), 4 * n);
  double worst = 0, kept = 0;
  for (std::size_t e = 0; e < n; ++e) {
    worst = std::max(worst, std::abs(sent[e] + double{residual[e]} - fed[e]));
    kept = std::max(kept, std::abs(double{residual[e]}));
  }
  CHECK(worst < 1e-5);
  CHECK(kept > 0.1);  // rank 2 of 40 holds much back
}

TEST_CASE("decode_accumulate adds what decode gives") {
  const auto m = random_values(600);
  Worker worker(powersgd(3), {20, 30}, 600);
  const auto payload = worker.encode(m);
  const auto decoded = worker.decode(payload);
  std::vector<float> sum(600, 2.0f);
  worker.decode_add(payload, -0.5f, sum);
  for (std::size_t e = 0; e < 600; ++e) REQUIRE(sum[e] == 2.0f + -0.5f * decoded[e]);
}

TEST_CASE("bad tensors and payloads are refused") {
  auto m = random_values(600);
  m[77] = NAN;
  Worker worker(powersgd(3), {20, 30}, 600);
  CHECK_THROWS_WITH(worker.encode(m), Contains("powersgd") && Contains("element 77 is NaN"));
  m[77] = 0;
  auto payload = worker.encode(m);
  const auto fields = powersgd(3)->explain(payload, worker.spec(), {});
  REQUIRE(fields.size() == 2);
  CHECK(fields[0].bytes + fields[1].bytes == payload.size());
  CHECK(fields[1].type == "f32[30, 3]");
  payload[247] = std::byte{0x7F}, payload[246] = std::byte{0xC0};
  CHECK_THROWS_WITH(worker.decode(payload), Contains("byte 244 begins a value that is not finite"));
  payload.pop_back();
  CHECK_THROWS_WITH(worker.decode(payload), Contains("599 bytes"));
}
