#include "trainers/data/data_set.h"

#include <zlib.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "base/file_descriptor.h"
#include "base/gzip.h"
#include "tests/trainers/support.h"
#include "trainers/data/sampling.h"
#include "trainers/trainer_error.h"

namespace gradwire::trainers {
namespace {

std::string big_endian(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(value >> shift));
  return bytes;
}

/// `count` images of 2x2 pixels; image i has pixels i, i + 1, i + 2, i + 3.
std::string idx_images(std::uint32_t count, std::uint32_t magic = 0x803) {
  std::string bytes = big_endian(magic) + big_endian(count) + big_endian(2) + big_endian(2);
  for (std::uint32_t i = 0; i < count; ++i) {
    for (std::uint32_t p = 0; p < 4; ++p) bytes.push_back(static_cast<char>(i + p));
  }
  return bytes;
}

std::string idx_labels(std::uint32_t count) {
  std::string bytes = big_endian(0x801) + big_endian(count);
  for (std::uint32_t i = 0; i < count; ++i) bytes.push_back(static_cast<char>(i % 10));
  return bytes;
}

std::string gzipped(const std::string& plain) {
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string packed(compressBound(plain.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(plain.data()));
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

/// The message of the Error that `call` throws.
template <typename Call>
std::string message_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST_CASE("the embedded digits are whole, split in two and normalised") {
  const DataSet data = load_data_set("digits", "", 7);
  REQUIRE(data.labels.size() == 1797);
  CHECK(data.features() == 64);
  // The file's first line: 0,0,5,13,9,1,0,0, ... with label 0.
  CHECK(std::vector<int>(data.pixels.begin(), data.pixels.begin() + 8) ==
        std::vector<int>{0, 0, 5, 13, 9, 1, 0, 0});
  CHECK(data.labels[0] == 0);
  // 1797 / 5 = 359 held out, none of them in the training part.
  CHECK(data.held_out.size() == 359);
  std::set<std::uint32_t> all(data.train.begin(), data.train.end());
  all.insert(data.held_out.begin(), data.held_out.end());
  CHECK(all.size() == 1797);
  // Training pixels have mean 0 and deviation 1.
  Batch batch;
  gather(data, data.train, batch);
  double sum = 0, squares = 0;
  for (const float x : batch.inputs) sum += x, squares += double{x} * x;
  const auto n = static_cast<double>(batch.inputs.size());
  CHECK(sum / n == Approx(0).margin(1e-5));
  CHECK(std::sqrt(squares / n) == Approx(1).margin(1e-5));
}

TEST_CASE("the held-out part depends on the seed alone") {
  CHECK(load_digits(1).held_out == load_digits(1).held_out);
  CHECK(load_digits(1).held_out != load_digits(2).held_out);
}

TEST_CASE("IDX files are read plain and gzipped, with or without a training part") {
  const TemporaryFolder folder;
  write_file(folder.file("t10k-images-idx3-ubyte.gz"), gzipped(idx_images(40)));
  write_file(folder.file("t10k-labels-idx1-ubyte"), idx_labels(40));
  DataSet data = load_data_set("mnist", folder.path(), 1);
  // Only the test part is there: 15 % of 40 = 6 are held out.
  CHECK(data.held_out.size() == 6);
  CHECK(data.train.size() == 34);
  CHECK(data.pixels[4 * 3] == 3);
  write_file(folder.file("train-images-idx3-ubyte"), idx_images(50));
  write_file(folder.file("train-labels-idx1-ubyte.gz"), gzipped(idx_labels(50)));
  data = load_data_set("mnist", folder.path(), 1);
  CHECK(data.train.size() == 50);
  CHECK(data.held_out.size() == 40);
  CHECK(data.held_out.front() == 50);
}

TEST_CASE("damaged IDX files are refused with file, byte and reason") {
  const TemporaryFolder folder;
  const std::string file = folder.file("images");
  const auto refusal = [&](const std::string& contents) {
    write_file(file, contents);
    return message_of([&] { read_idx_images(file); });
  };
  using Catch::Contains;
  CHECK_THAT(refusal(idx_images(3, 0x801)),
             Contains(file) && Contains("byte 0: the magic number is 0x00000801 where 0x00000803"));
  // Header 16 bytes, 12 promised; one byte short ends at byte 27.
  CHECK_THAT(refusal(idx_images(3).substr(0, 27)),
             Contains("byte 27") && Contains("promises 12 bytes of data, 11 are there"));
  CHECK_THAT(refusal(idx_images(3) + "x"), Contains("13 are there"));
  CHECK_THAT(refusal(idx_images(3).substr(0, 6)), Contains("byte 4: ends within its header"));
  CHECK_THAT(refusal(""), Contains("byte 0"));
  const std::string packed = gzipped(idx_images(200));
  CHECK_THAT(refusal(packed.substr(0, packed.size() / 2)),
             Contains("is cut off at compressed byte"));
  std::string torn = packed;
  torn[packed.size() / 2] ^= 0x55;
  CHECK_THAT(refusal(torn), Contains("damaged at compressed byte") || Contains("byte"));
}

TEST_CASE("labels out of range, unequal counts and missing files are named") {
  const TemporaryFolder folder;
  using Catch::Contains;
  std::string labels = idx_labels(20);
  labels[8 + 5] = 12;
  write_file(folder.file("t10k-labels-idx1-ubyte"), labels);
  write_file(folder.file("t10k-images-idx3-ubyte"), idx_images(20));
  const auto load = [&] { load_data_set("mnist", folder.path(), 1); };
  CHECK_THAT(message_of(load), Contains("byte 13: label 12 is out of range 0..9"));
  write_file(folder.file("t10k-labels-idx1-ubyte"), idx_labels(19));
  CHECK_THAT(message_of(load), Contains("20 images") && Contains("19 labels"));
  std::filesystem::remove(folder.file("t10k-labels-idx1-ubyte"));
  CHECK_THAT(message_of(load), Contains("t10k-labels-idx1-ubyte (or .gz) is not there"));
  CHECK_THAT(message_of([] { load_data_set("cifar10", "", 1); }), Contains("no path"));
  CHECK_THAT(message_of([] { load_data_set("minst", "x", 1); }), Contains("there is no such set"));
}

TEST_CASE("CIFAR-10's binary files are read; damage is refused") {
  const TemporaryFolder folder;
  using Catch::Contains;
  const auto records = [](int count, int label) {
    return std::string(static_cast<std::size_t>(3073 * count), static_cast<char>(label));
  };
  for (int part = 1; part <= 5; ++part) {
    write_file(folder.file("data_batch_" + std::to_string(part) + ".bin"), records(2, part));
  }
  write_file(folder.file("test_batch.bin"), records(3, 9));
  const DataSet data = load_data_set("cifar10", folder.path(), 1);
  CHECK(data.train.size() == 10);
  CHECK(data.held_out.size() == 3);
  CHECK(data.labels == std::vector<std::uint8_t>{1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 9, 9, 9});
  CHECK(data.features() == 3072);
  const auto load = [&] { load_cifar10(folder.path()); };
  write_file(folder.file("test_batch.bin"), records(3, 9) + "x");
  CHECK_THAT(message_of(load), Contains("test_batch.bin: byte 9220"));
  write_file(folder.file("test_batch.bin"), records(1, 10));
  CHECK_THAT(message_of(load), Contains("byte 0: label 10"));
  std::filesystem::remove(folder.file("data_batch_4.bin"));
  CHECK_THAT(message_of(load), Contains("data_batch_4.bin"));
}

TEST_CASE("text becomes sequences whose targets are one character later") {
  const TemporaryFolder folder;
  std::string text;
  while (text.size() < 32 * 30 + 1) text += "abcdefg";
  write_file(folder.file("text"), text);
  const DataSet data = load_data_set("text", folder.file("text"), 1);
  CHECK(data.classes == 7);
  // (7 * 138 - 1) / 32 = 30 samples, a tenth held out.
  CHECK(data.train.size() == 27);
  CHECK(data.held_out.size() == 3);
  Batch batch;
  gather(data, std::vector<std::uint32_t>{1}, batch);
  CHECK(batch.tokens[0] == 32 % 7);
  CHECK(batch.targets[0] == 33 % 7);
  CHECK(batch.targets[31] == 64 % 7);
  write_file(folder.file("text"), "too short");
  CHECK_THAT(message_of([&] { load_text(folder.file("text")); }),
             Catch::Contains("it has 9 bytes; give a text of at least 641 bytes"));
  write_file(folder.file("text"), "");
  CHECK_THAT(message_of([&] { load_text(folder.file("text")); }),
             Catch::Contains("cannot read text " + folder.file("text") + ": it is empty; give"));
}

TEST_CASE("workers' shards part the training samples, and each epoch sees each sample once") {
  std::vector<std::uint32_t> train(103);
  for (std::size_t i = 0; i < train.size(); ++i) train[i] = static_cast<std::uint32_t>(1000 + i);
  Sampler sampler(train, 4, 13, 5);
  std::set<std::uint32_t> all;
  for (int w = 0; w < 4; ++w) {
    CHECK(sampler.shard(w).size() == (w < 3 ? 26 : 25));  // 103 = 4 * 25 + 3
    all.insert(sampler.shard(w).begin(), sampler.shard(w).end());
  }
  CHECK(all == std::set<std::uint32_t>(train.begin(), train.end()));
  // Worker 0 has 26 samples: two batches of 13 are an epoch.
  for (int epoch = 0; epoch < 3; ++epoch) {
    std::set<std::uint32_t> seen;
    for (int half = 0; half < 2; ++half) {
      const auto batch = sampler.batch(0, 2 * epoch + half);
      seen.insert(batch.begin(), batch.end());
    }
    CHECK(seen == std::set<std::uint32_t>(sampler.shard(0).begin(), sampler.shard(0).end()));
  }
  // A step can be asked for again, and other seeds give other batches.
  const auto first = sampler.batch(2, 0);
  const std::vector<std::uint32_t> kept(first.begin(), first.end());
  sampler.batch(2, 9);
  const auto again = sampler.batch(2, 0);
  CHECK(kept == std::vector<std::uint32_t>(again.begin(), again.end()));
  Sampler other(train, 4, 13, 6);
  const auto different = other.batch(2, 0);
  CHECK(kept != std::vector<std::uint32_t>(different.begin(), different.end()));
  CHECK_THROWS_AS(Sampler(train, 104, 1, 1), TrainerError);
}

TEST_CASE("a permutation is fair to the last place") {
  // 6,000 orders of 3: each of 6 expected 1,000 times, deviation sqrt(6000 * 5 / 36) = 29.
  std::map<std::vector<std::uint32_t>, int> count;
  for (std::uint32_t step = 0; step < 6000; ++step)
    ++count[permutation(3, {1, step, 0, kShardStream})];
  REQUIRE(count.size() == 6);
  for (const auto& [order, times] : count) CHECK(std::abs(times - 1000) < 5 * 29);
}

}  // namespace
}  // namespace gradwire::trainers
