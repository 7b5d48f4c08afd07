#include "trainers/data/partition.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <numeric>
#include <set>

#include "trainers/data/sampling.h"
#include "trainers/trainer_error.h"

namespace gradwire::trainers {
namespace {

using Settings = scenarios::Workload::Partition;

/// Samples 0 .. n-1 with labels in turn, but for the first `extra`, which have label 0.
DataSet labelled(std::size_t n, int classes, std::size_t extra = 0) {
  DataSet data;
  data.name = "labelled";
  data.classes = classes;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t label = i < extra ? 0 : i % static_cast<std::size_t>(classes);
    data.labels.push_back(static_cast<std::uint8_t>(label));
  }
  split_in_order(data, n, n);
  return data;
}

Settings of_kind(const std::string& kind) {
  Settings settings;
  settings.kind = kind;
  return settings;
}

std::set<int> classes_of(const DataSet& data, std::span<const std::uint32_t> shard) {
  std::set<int> classes;
  for (const std::uint32_t sample : shard) classes.insert(data.labels[sample]);
  return classes;
}

/// Whether every training sample belongs to exactly one worker, and each worker has some.
bool parts(const DataSet& data, const Partition& partition) {
  std::vector<std::uint32_t> all;
  for (int w = 0; w < partition.workers(); ++w) {
    const auto shard = partition.shard(w);
    if (shard.empty()) return false;
    all.insert(all.end(), shard.begin(), shard.end());
  }
  std::ranges::sort(all);
  return all == data.train;
}

bool equal(const Partition& a, const Partition& b) {
  if (a.workers() != b.workers()) return false;
  for (int w = 0; w < a.workers(); ++w)
    if (!std::ranges::equal(a.shard(w), b.shard(w))) return false;
  return true;
}

std::string message_of(const DataSet& data, const Settings& settings, int workers) {
  try {
    make_partition(data, settings, workers, 1);
  } catch (const TrainerError& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("parts of a whole by weight: largest remainders, at least 1 each") {
  // 10 - 3 = 7 shared by 1 : 2 : 4: 1 + 1, 1 + 2, 1 + 4.
  CHECK(apportion(10, std::vector<double>{1, 2, 4}) == std::vector<std::size_t>{2, 3, 5});
  // 7 shared by 4 alike is 1.75 each; the first three have the rest.
  CHECK(apportion(11, std::vector<double>{1, 1, 1, 1}) == std::vector<std::size_t>{3, 3, 3, 2});
  // Fewer than parts: 2 shared by 1 : 1 : 8 is 0.2, 0.2, 1.6.
  CHECK(apportion(2, std::vector<double>{1, 1, 8}) == std::vector<std::size_t>{0, 0, 2});
  CHECK(apportion(0, std::vector<double>{1, 1}) == std::vector<std::size_t>{0, 0});
}

TEST_CASE("every kind of partition parts the samples by the seed alone") {
  const DataSet data = labelled(1003, 10);
  for (const char* kind : {"iid", "classes", "dirichlet", "skew", "shards"}) {
    CAPTURE(kind);
    for (const double spread : {0.0, 0.7}) {
      Settings settings = of_kind(kind);
      settings.size_spread = spread;
      const Partition partition = make_partition(data, settings, 20, 5);
      CHECK(parts(data, partition));
      CHECK(equal(partition, make_partition(data, settings, 20, 5)));
      CHECK_FALSE(equal(partition, make_partition(data, settings, 20, 6)));
    }
  }
  // Without a spread, iid is what is dealt; with one it is not.
  CHECK(equal(make_partition(data, of_kind("iid"), 20, 5), deal(data.train, 20, 5)));
}

TEST_CASE("skew: a share of each class is sorted, none of it is iid, all of it few classes") {
  const DataSet data = labelled(4000, 10);  // 400 a class
  Settings settings = of_kind("skew");
  const auto by_skew = [&](double skew) {
    settings.skew = skew;
    return make_partition(data, settings, 8, 3);
  };
  CHECK(equal(by_skew(0), deal(data.train, 8, 3)));
  const Partition some = by_skew(0.8), all = by_skew(1);
  for (const Partition& partition : {some, all}) CHECK(parts(data, partition));
  for (int w = 0; w < 8; ++w) {
    // 4000 / 8: worker w has the classes from 10 w / 8 on, one and a quarter of them.
    const std::set<int> few = classes_of(data, all.shard(w));
    CHECK(few.size() == 2);
    CHECK(*few.begin() == 10 * w / 8);
    CHECK(some.shard(w).size() == 500);
    CHECK(classes_of(data, some.shard(w)).size() == 10);
    // 400 of its 500 samples are of the sorted part: of its first class 100, 200 or 320.
    std::map<int, int> counts;
    for (const std::uint32_t sample : some.shard(w)) ++counts[data.labels[sample]];
    const int in_its_own = counts[*few.begin()] + counts[*few.rbegin()];
    CHECK(in_its_own >= 400);
    CHECK(in_its_own <= 450);
  }
}

TEST_CASE("classes: 20 workers with one class each, two a class, who part it evenly") {
  const DataSet data = labelled(4000, 10);  // 400 a class
  const Partition partition = make_partition(data, of_kind("classes"), 20, 3);
  std::map<int, int> workers;
  for (int w = 0; w < 20; ++w) {
    const std::set<int> classes = classes_of(data, partition.shard(w));
    REQUIRE(classes.size() == 1);
    ++workers[*classes.begin()];
    CHECK(partition.shard(w).size() == 200);
  }
  for (int c = 0; c < 10; ++c) CHECK(workers[c] == 2);
}

TEST_CASE("classes: 7 workers with 3 of 10 classes each") {
  const DataSet data = labelled(1000, 10);
  Settings settings = of_kind("classes");
  settings.classes = 3;
  const Partition partition = make_partition(data, settings, 7, 3);
  std::map<int, int> workers;
  for (int w = 0; w < 7; ++w) {
    const std::set<int> classes = classes_of(data, partition.shard(w));
    CHECK(classes.size() == 3);
    for (const int c : classes) ++workers[c];
  }
  // 21 cards of packs of 10.
  for (int c = 0; c < 10; ++c) CHECK((workers[c] == 2 || workers[c] == 3));
}

TEST_CASE("classes that nobody would have, or that there are not, are refused") {
  const DataSet data = labelled(1000, 10);
  Settings settings = of_kind("classes");
  CHECK_THAT(message_of(data, settings, 4),
             Catch::Contains("4 workers with 1 each cannot have all of its 10 classes"));
  settings.classes = 11;
  CHECK_THAT(message_of(data, settings, 4), Catch::Contains("it has 10 of them"));
  settings.classes = 3;
  CHECK(message_of(data, settings, 4).empty());  // 12 of 10
}

TEST_CASE("a worker without samples is refused by name") {
  // 93 of class 0 and one of each other: workers 2 a class, of which one has none.
  const DataSet data = labelled(100, 10, 91);
  CHECK_THAT(message_of(data, of_kind("classes"), 20), Catch::Contains("would have none"));
  CHECK_THAT(message_of(data, of_kind("shards"), 101), Catch::Contains("only 100"));
  Settings spread = of_kind("iid");
  spread.size_spread = 5;
  CHECK(message_of(data, spread, 100).empty());  // one each
}

TEST_CASE("shards: sorted by class, two a worker: two classes at most where classes are whole") {
  const DataSet data = labelled(1000, 10);
  const Partition partition = make_partition(data, of_kind("shards"), 10, 3);  // 20 of 50
  bool two = false;
  for (int w = 0; w < 10; ++w) {
    CHECK(partition.shard(w).size() == 100);
    CHECK(classes_of(data, partition.shard(w)).size() <= 2);
    two |= classes_of(data, partition.shard(w)).size() == 2;
  }
  CHECK(two);
}

TEST_CASE("shards of a text are parts in a row") {
  DataSet text;
  text.classes = 3;
  text.sequence = 4;
  split_in_order(text, 103, 103);
  Settings settings = of_kind("shards");
  settings.shards = 1;
  const Partition partition = make_partition(text, settings, 4, 3);
  CHECK(parts(text, partition));
  for (int w = 0; w < 4; ++w) {
    const auto shard = partition.shard(w);
    CHECK(shard.back() - shard.front() + 1 == shard.size());
  }
}

TEST_CASE("dirichlet: large alpha gives each worker the classes' shares, small nearly one class") {
  const DataSet data = labelled(20000, 10, 10000);  // class 0: 10,000 + 1,000
  const auto largest_share = [&](double alpha) {
    Settings settings = of_kind("dirichlet");
    settings.alpha = alpha;
    const Partition partition = make_partition(data, settings, 20, 3);
    double mean = 0, first = 0;
    for (int w = 0; w < 20; ++w) {
      const auto shard = partition.shard(w);
      CHECK(shard.size() == 1000);
      std::map<int, double> share;
      for (const std::uint32_t sample : shard) share[data.labels[sample]] += 1e-3;
      mean += std::ranges::max_element(share, {}, [](auto& each) { return each.second; })->second;
      first += share[0];
    }
    CHECK(first / 20 == Approx(0.55));  // of all samples
    return mean / 20;
  };
  // Class 0 has 55 %. With alpha = 1e6 a worker's share of it is binomial: deviation 1.6 points.
  CHECK(std::abs(largest_share(1e6) - 0.55) < 0.02);
  const double middle = largest_share(1), one = largest_share(0.001);
  CHECK(middle > 0.6);
  CHECK(one > middle);
  // 1, but for workers that take what is left when their class is used up: those who drew class 0
  // are seldom exactly the 11 that its samples fill.
  CHECK(one > 0.75);
}

TEST_CASE("sizes: the logarithms' deviation is the spread") {
  const DataSet data = labelled(60000, 10);
  Settings settings = of_kind("iid");
  settings.size_spread = 0.5;
  const Partition partition = make_partition(data, settings, 400, 3);
  double sum = 0, squares = 0;
  for (int w = 0; w < 400; ++w) {
    const double log = std::log(static_cast<double>(partition.shard(w).size()));
    sum += log / 400;
    squares += log * log / 400;
  }
  // 400 draws: the deviation is known to 0.5 / sqrt(800) = 0.018.
  CHECK(std::abs(std::sqrt(squares - sum * sum) - 0.5) < 4 * 0.018);
}

TEST_CASE("10,000 workers on 60,000 samples, a batch of each") {
  const DataSet data = labelled(60000, 10);
  for (const char* kind : {"iid", "classes", "dirichlet", "shards"}) {
    CAPTURE(kind);
    Settings settings = of_kind(kind);
    if (settings.kind != "shards") settings.size_spread = 0.3;
    Sampler sampler(make_partition(data, settings, 10000, 3), 20, 3);
    for (int w = 0; w < 10000; ++w) {
      const auto batch = sampler.batch(w, 0);
      // Shards of about 6: each sample comes once an epoch, so batches of 20 have them all.
      const auto shard = sampler.shard(w);
      const std::set<std::uint32_t> seen(batch.begin(), batch.end());
      if (shard.size() <= 20) CHECK(seen == std::set<std::uint32_t>(shard.begin(), shard.end()));
    }
  }
}

}  // namespace
}  // namespace gradwire::trainers
