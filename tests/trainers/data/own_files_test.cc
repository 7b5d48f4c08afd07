#include "trainers/data/own_files.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "base/file_descriptor.h"
#include "tests/trainers/support.h"
#include "trainers/trainer_error.h"

namespace gradwire::trainers {
namespace {

using Catch::Contains;

/// Loads `set` from a file with these contents; an error's message instead, if there is one.
class Files {
 public:
  std::string write(const std::string& name, const std::string& contents) const {
    write_file(folder_.file(name), contents);
    return folder_.file(name);
  }
  DataSet load(const std::string& set, const std::string& contents,
               std::map<std::string, std::string> options = {}) const {
    return load_data_set({set, write("data", contents), std::move(options)});
  }
  std::string refusal(const std::string& set, const std::string& contents,
                      std::map<std::string, std::string> options = {}) const {
    try {
      load(set, contents, std::move(options));
    } catch (const TrainerError& error) {
      return error.what();
    }
    return "no error";
  }

 private:
  TemporaryFolder folder_;
};

TEST_CASE("a table becomes samples: header, classes by name, features as they are") {
  const Files files;
  const DataSet data = files.load("csv", "a,kind,b\n1,big,2.5\r\n-3,small,\"4\"\n\n5e1,big,+6\n",
                                  {{"label", "kind"}, {"normalise", "false"}});
  CHECK(data.features() == 2);
  CHECK(data.classes == 2);
  CHECK(data.numbers == std::vector<float>{1, 2.5, -3, 4, 50, 6});
  CHECK(data.labels == std::vector<std::uint8_t>{0, 1, 0});  // big, small
  // A fifth of 3 samples rounds to one.
  CHECK(data.held_out.size() == 1);
  CHECK(data.train.size() == 2);
  // Without a header, by the column's number; classes that are numbers come in their order.
  const DataSet plain =
      files.load("csv", "10;0.5\n9;1.5\n10;2.5\n", {{"label", "1"}, {"separator", "semicolon"}});
  CHECK(plain.labels == std::vector<std::uint8_t>{1, 0, 1});
  // The separator as it is; lines that end in \r alone.
  CHECK(files.load("csv", "10;0.5\r9;1.5\r", {{"label", "1"}, {"separator", ";"}}).labels ==
        std::vector<std::uint8_t>{1, 0});
  CHECK(files.load("csv", "0.5\tx\n1.5\ty\n", {{"separator", "\t"}}).classes == 2);
  // Without a label option, the last column.
  CHECK(files.load("csv", "0.5,x\n1.5,y\n").labels == std::vector<std::uint8_t>{0, 1});
}

TEST_CASE("what stands between a table's columns is found, whatever ends its lines") {
  const Files files;
  const auto numbers = [&](const std::string& text,
                           std::map<std::string, std::string> options = {}) {
    options["normalise"] = "false";
    const DataSet data = files.load("csv", text, options);
    CHECK(data.labels == std::vector<std::uint8_t>{0, 1});
    return data.numbers;
  };
  const std::vector<float> expected = {1, 2.5, -3, 4};
  for (const char* text :
       {"a,b,c\n1,2.5,x\n-3,4,y\n", "a;b;c\n1;2.5;x\n-3;4;y\n", "a\tb\tc\n1\t2.5\tx\n-3\t4\ty\n",
        "a b  c\n1   2.5 x\n  -3\t4 y  \n", "1 2.5 x\n-3 4 y", "1;2.5;x\r\n-3;4;y\r\n",
        "a,b,c\r1,2.5,x\r-3,4,y\r", "height (m), weight (kg), kind\n1, 2.5, x\n-3, 4, y\n",
        "1,2.5,x;x\n-3,4,y;y\n", "\"a;a\",b,c\n1,2.5,x\n-3,4,y\n"}) {
    CAPTURE(text);
    CHECK(numbers(text) == expected);
  }
  CHECK(numbers("1 2.5 x\n-3 4 y\n", {{"separator", "blanks"}}) == expected);
}

TEST_CASE("features of a table are normalised over its training samples") {
  const Files files;
  std::string text = "x,constant,class\n";
  for (int i = 0; i < 100; ++i)
    text += std::to_string(3 * i) + ",7," + std::to_string(i % 2) + "\n";
  const DataSet data = files.load("csv", text);
  double sum = 0, squares = 0;
  for (const std::uint32_t sample : data.train) {
    const double x = data.numbers[2 * sample];
    sum += x, squares += x * x;
    CHECK(data.numbers[2 * sample + 1] == 0);
  }
  CHECK(data.train.size() == 80);
  CHECK(sum / 80 == Approx(0).margin(1e-6));
  CHECK(squares / 80 == Approx(1).epsilon(1e-5));
}

TEST_CASE("held-out samples: drawn by the data's seed, or a second file") {
  const Files files;
  std::string text;
  for (int i = 0; i < 50; ++i) text += std::to_string(i) + "," + std::to_string(i % 3) + "\n";
  const std::string path = files.write("table", text);
  const auto held_out = [&](std::uint64_t run_seed, std::optional<std::uint64_t> seed) {
    return load_data_set({"csv", path, {{"held_out", "0.1"}}, run_seed, seed}).held_out;
  };
  CHECK(held_out(1, {}).size() == 5);
  CHECK(held_out(1, {}) == held_out(2, {}));
  CHECK(held_out(1, {}) != held_out(1, 2));
  const std::string second = files.write("second", "7,2\n8,1\n");
  const DataSet both = load_data_set({"csv", path, {{"held_out_path", second}}});
  CHECK(both.train.size() == 50);
  CHECK(both.held_out == std::vector<std::uint32_t>{50, 51});
  CHECK(both.labels[50] == 2);
}

TEST_CASE("a second table's columns are found by their names") {
  const Files files;
  const std::string first = "a,b,kind\n1,2,x\n3,4,y\n";
  const auto with = [&](const std::string& second) {
    return std::map<std::string, std::string>{{"label", "kind"},
                                              {"normalise", "false"},
                                              {"held_out_path", files.write("second", second)}};
  };
  const DataSet same = files.load("csv", first, with("a,b,kind\n5,6,y\n"));
  CHECK(same.numbers == std::vector<float>{1, 2, 3, 4, 5, 6});
  const DataSet moved = files.load("csv", first, with("kind,b,a\ny,6,5\n"));
  CHECK(moved.numbers == same.numbers);
  CHECK(moved.labels == same.labels);
  CHECK(files.load("csv", first, with("5,6,y\n")).numbers == same.numbers);  // no header: by place
  CHECK_THAT(files.refusal("csv", first, with("a,c,kind\n5,6,y\n")),
             Contains("second: line 1: there is no column b among a, c, kind"));
  CHECK_THAT(files.refusal("csv", first, with("a,b,kind\n5,6,z\n")),
             Contains("no training sample has its class \"z\""));
}

TEST_CASE("a table that cannot be used is refused with file, line and what to do") {
  const Files files;
  CHECK_THAT(files.refusal("csv", "a,b,c\n1,2,x\n3,?,y\n"),
             Contains("data: line 3: column 2 (b): a finite number is expected, not \"?\"; write "
                      "it as a number, or remove the column"));
  // The first line has a number among its features: a sample, not a header.
  CHECK_THAT(files.refusal("csv", "1,oops,x\n3,4,y\n"), Contains("line 1: column 2: a finite"));
  CHECK_THAT(files.refusal("csv", "1,,x\n3,4,y\n"), Contains("fill in the value or remove"));
  CHECK_THAT(files.refusal("csv", "1,nan,x\n3,4,y\n"), Contains("not \"nan\""));
  CHECK_THAT(files.refusal("csv", "1,1e39,x\n3,4,y\n"), Contains("not \"1e39\""));
  CHECK_THAT(files.refusal("csv", "1,2,x\n3,4\n"),
             Contains("line 2: 3 fields are expected, as in the lines before, 2 are there"));
  CHECK_THAT(files.refusal("csv", "1,2,x\n3,4,\n"), Contains("column 3: the class is missing"));
  CHECK_THAT(files.refusal("csv", "1;2;x\n3;4;y\n", {{"separator", "comma"}}),
             Contains("/workload/data/separator"));
  CHECK_THAT(files.refusal("csv", "1,5;2,5;x\n3,5;4,5;y\n"), Contains("decimals with a point"));
  CHECK_THAT(files.refusal("csv", "1 1:0.5 3:2\n-1 2:1e-3\n"),
             Contains("LIBSVM") && Contains("load_svmlight_file"));
  for (const std::string& wide : {std::string("\xFF\xFE"
                                              "1\0,\0x\0",
                                              8),
                                  std::string("1\0,\0x\0", 6),
                                  std::string("\xFE\xFF\0"
                                              "1\0,\0x",
                                              8)})
    CHECK_THAT(files.refusal("csv", wide), Contains("it is UTF-16") && Contains("iconv"));
  CHECK_THAT(files.refusal("csv", "a,b\n1,x\n2,y\n", {{"label", "c"}}),
             Contains("there is no column c among a, b"));
  CHECK_THAT(files.refusal("csv", "1,x\n2,y\n", {{"label", "3"}}),
             Contains("no column 3 (no header line, 2 columns)"));
  CHECK_THAT(files.refusal("csv", "1,x\n2,x\n"), Contains("has 1 different values"));
  CHECK_THAT(files.refusal("csv", "a,b\n"), Contains("it has no samples"));
  CHECK_THAT(files.refusal("csv", ""), Contains("line 0: it has no samples"));
  CHECK_THAT(files.refusal("csv", "1,\"x\n2,y\n"), Contains("quotation mark is not closed"));
  std::string many;
  for (int i = 0; i < 300; ++i) many += "1," + std::to_string(i) + "\n";
  CHECK_THAT(files.refusal("csv", many), Contains("has 300 different values"));
}

std::string raw_file(const std::string& header, const std::string& values,
                     const std::string& labels) {
  return "gradwire-data 1\n" + header + "\n" + values + labels;
}

std::string floats(const std::vector<float>& values) {
  std::string bytes(4 * values.size(), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

TEST_CASE("a raw file holds floats or bytes of any shape") {
  const Files files;
  const std::string header = "samples 3\nshape 2\nvalues f32\nclasses 2\n";
  const std::vector<float> values = {0.5, 1.5, -0.5, 2.5, 0.25, 3.5};
  const std::string labels("\0\1\0", 3);
  const DataSet data =
      files.load("raw", raw_file(header, floats(values), labels), {{"normalise", "false"}});
  CHECK(data.numbers == values);
  CHECK(data.labels == std::vector<std::uint8_t>{0, 1, 0});
  CHECK(data.features() == 2);
  const DataSet image = files.load("raw", raw_file("values u8\nclasses 3\nshape 2 1 2\nsamples 2\n",
                                                   "abcdefgh", std::string("\2\1", 2)));
  CHECK(image.channels == 2);
  CHECK(image.width == 2);
  CHECK(image.pixels.size() == 8);
  CHECK(image.levels.size() == 2);
  // Numbers of images are normalised by channel: 1, 3 | 10, 30 of the one training sample.
  const std::string one =
      files.write("one", raw_file("samples 1\nshape 2 1 2\nvalues f32\nclasses 2\n",
                                  floats({1, 3, 10, 30}), std::string("\0", 1)));
  const DataSet scaled = load_data_set({"raw", one, {{"held_out_path", one}}});
  CHECK(scaled.numbers == std::vector<float>{-1, 1, -1, 1, -1, 1, -1, 1});
}

TEST_CASE("damaged raw files are refused with line or byte") {
  const Files files;
  const std::string header = "samples 3\nshape 2\nvalues f32\nclasses 2\n";  // ends at byte 59
  const std::string good = floats({1, 2, 3, 4, 5, 6}), labels("\0\1\0", 3);
  const auto refusal = [&](const std::string& text) { return files.refusal("raw", text); };
  CHECK(refusal(raw_file(header, good, labels)) == "no error");
  CHECK_THAT(refusal("P5 28 28 255\n"), Contains("line 1: \"gradwire-data 1\" is expected"));
  CHECK_THAT(refusal(raw_file("samples x\n", "", "")),
             Contains("line 2: \"samples x\", where a whole number from 1 to"));
  CHECK_THAT(refusal(raw_file("colour red\n", "", "")), Contains("line 2: \"colour red\""));
  CHECK_THAT(refusal(raw_file("shape 2 2\n", "", "")),
             Contains("one number (of features) or three"));
  CHECK_THAT(refusal(raw_file("samples 3\nshape 2\nclasses 2\n", "", "")),
             Contains("has not said each of samples, shape, values and classes"));
  CHECK_THAT(refusal("gradwire-data 1\nsamples 3"), Contains("line 2: the header's line does not"));
  const std::size_t begin = raw_file(header, "", "").size();
  CHECK_THAT(refusal(raw_file(header, good.substr(1), "")),
             Contains("byte " + std::to_string(begin) + ": 24 bytes of values are expected, 23"));
  CHECK_THAT(
      refusal(raw_file(header, good, "\1")),
      Contains("byte " + std::to_string(begin + 24) + ": 3 bytes of labels are expected, 1"));
  CHECK_THAT(refusal(raw_file(header, good, labels + "x")), Contains("1 bytes more are there"));
  CHECK_THAT(refusal(raw_file(header, good, std::string("\0\2\0", 3))),
             Contains("byte " + std::to_string(begin + 25) + ": label 2 is out of range 0..1"));
  CHECK_THAT(refusal(raw_file(header, floats({1, 2, std::nanf(""), 4, 5, 6}), labels)),
             Contains("byte " + std::to_string(begin + 8) + ": the value is not a finite number"));
  CHECK_THAT(
      files.refusal("raw", raw_file(header, good, labels),
                    {{"held_out_path",
                      files.write("other", raw_file("samples 1\nshape 3\nvalues f32\nclasses 2\n",
                                                    floats({1, 2, 3}), std::string("\0", 1)))}}),
      Contains("differ from those of"));
}

std::string word(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(value >> shift));
  return bytes;
}

TEST_CASE("IDX images come with their labels, and a second pair may be held out") {
  const Files files;
  const auto images = [](std::uint32_t count, std::uint32_t side) {
    return word(0x803) + word(count) + word(side) + word(side) +
           std::string(count * side * side, 'x');
  };
  const auto labels = [](const std::string& values) {
    return word(0x801) + word(static_cast<std::uint32_t>(values.size())) + values;
  };
  const std::string its = files.write("labels", labels(std::string("\0\1\2\3", 4)));
  const DataSet data = files.load("idx", images(4, 3), {{"labels", its}, {"held_out", "0.25"}});
  CHECK(data.classes == 4);
  CHECK(data.features() == 9);
  CHECK(data.held_out.size() == 1);
  const std::string test = files.write("test", images(2, 3));
  const std::string test_labels = files.write("test-labels", labels("\1\1"));
  const DataSet two =
      files.load("idx", images(4, 3),
                 {{"labels", its}, {"held_out_path", test}, {"held_out_labels", test_labels}});
  CHECK(two.train.size() == 4);
  CHECK(two.held_out.size() == 2);
  CHECK_THAT(files.refusal("idx", images(3, 3), {{"labels", its}}),
             Contains("3 images") && Contains("4 labels"));
  CHECK_THAT(
      files.refusal("idx", images(4, 2),
                    {{"labels", its}, {"held_out_path", test}, {"held_out_labels", test_labels}}),
      Contains("its images are 3x3") && Contains("2x2"));
}

TEST_CASE("MNIST's test images and the text ship with the program") {
  const DataSet mnist = load_data_set("mnist", "", 1);
  CHECK(mnist.labels.size() == 10000);
  CHECK(mnist.held_out.size() == 1500);
  CHECK(std::vector<int>(mnist.labels.begin(), mnist.labels.begin() + 4) ==
        std::vector<int>{7, 2, 1, 0});  // the first four of the official file
  const DataSet text = load_data_set("text", "", 1);
  CHECK(text.tokens.size() == 1115394);
  CHECK(text.classes == 65);
}

}  // namespace
}  // namespace gradwire::trainers
