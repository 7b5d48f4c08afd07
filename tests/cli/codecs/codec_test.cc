#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>

#include "base/file_descriptor.h"
#include "tests/cli/program.h"

using namespace gradwire;
using namespace gradwire::testing;
using Catch::Contains;

namespace {

void write_floats(const std::string& path, const std::vector<float>& values) {
  write_file(path, {reinterpret_cast<const char*>(values.data()), 4 * values.size()});
}

std::vector<float> read_floats(const std::string& path) {
  const std::string bytes = read_file(path);
  std::vector<float> values(bytes.size() / 4);
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

std::vector<float> sample(std::size_t n) {
  std::vector<float> values(n);
  for (std::size_t i = 0; i < n; ++i)
    values[i] = static_cast<float>(std::sin(static_cast<double>(i * i)) * 0.5);
  return values;
}

std::vector<std::string> codec_names() {
  std::vector<std::string> names;
  const Result list = run_program({"codec", "list", "--format", "json"});
  REQUIRE(list.exit_code == 0);
  const auto table = nlohmann::json::parse(list.out);
  for (const auto& row : table.at("rows")) names.push_back(row.at("name"));
  REQUIRE(names.size() > 20);
  return names;
}

}  // namespace

TEST_CASE("a file is taken where a codec's name may stand", "[unit]") {
  const TemporaryFolder folder;
  write_floats(folder.file("in"), {1.0f, -2.5f});
  REQUIRE(
      run_program({"codec", "encode", "fp16", "-i", folder.file("in"), "-o", folder.file("frame")})
          .exit_code == 0);
  const Result inspected = run_program({"codec", "inspect", "--wide", folder.file("frame")});
  CHECK(inspected.exit_code == 0);
  CHECK_THAT(inspected.out, Contains("CRC-32C of the payload"));
  const Result decoded =
      run_program({"codec", "decode", folder.file("frame"), "-o", folder.file("out")});
  CHECK(decoded.exit_code == 0);
  CHECK(read_floats(folder.file("out")) == std::vector<float>{1.0f, -2.5f});
  CHECK(run_program({"codec", "inspect", folder.file("no-such-file")}).exit_code == 2);
}

TEST_CASE("every codec's values go through a frame and through a bare payload alike", "[unit]") {
  const TemporaryFolder folder;
  write_floats(folder.file("in"), sample(600));
  write_file(folder.file("mask"), std::string(75, '\x5A'));  // half of 600 bits
  for (const std::string& codec : codec_names()) {
    CAPTURE(codec);
    std::vector<std::string> common = {"--shape", "20x30", "--seed", "3"};
    std::vector<std::string> mask;
    if (codec == "masked") mask = {"--mask", folder.file("mask")};
    const auto run = [&](std::vector<std::string> arguments, bool described) {
      if (described) arguments.insert(arguments.end(), common.begin(), common.end());
      arguments.insert(arguments.end(), mask.begin(), mask.end());
      const Result result = run_program(arguments);
      CHECK(result.err == "");
      CHECK(result.exit_code == 0);
      return result;
    };
    run({"codec", "encode", codec, "-q", "-i", folder.file("in"), "-o", folder.file("frame")},
        true);
    run({"codec", "encode", codec, "-q", "--bare", "-i", folder.file("in"), "-o",
         folder.file("bare")},
        true);
    run({"codec", "decode", "-q", "-i", folder.file("frame"), "-o", folder.file("a")}, false);
    run({"codec", "decode", codec, "-q", "--bare", "-i", folder.file("bare"), "-o",
         folder.file("b")},
        true);
    const std::vector<float> a = read_floats(folder.file("a"));
    CHECK(a.size() == 600);
    CHECK(read_file(folder.file("a")) == read_file(folder.file("b")));
    float largest = 0;
    for (const float value : a) largest = std::max(largest, std::abs(value));
    CHECK(largest > 0.01f);  // something of the values came through
    const std::string frame = read_file(folder.file("frame")),
                      bare = read_file(folder.file("bare"));
    CHECK(frame.substr(frame.size() - 4 - bare.size(), bare.size()) == bare);
    const Result explained =
        run({"codec", "inspect", "-i", folder.file("frame"), "--format", "json"}, false);
    std::int64_t covered = 0;
    const auto table = nlohmann::json::parse(explained.out);
    for (const auto& row : table.at("rows")) covered += row.at("bytes").get<std::int64_t>();
    CHECK(covered == static_cast<std::int64_t>(frame.size()));
  }
}

TEST_CASE("what cannot be encoded or decoded is refused with a reason", "[unit]") {
  const TemporaryFolder folder;
  write_floats(folder.file("nan"), {1.0f, std::nanf("")});
  write_file(folder.file("odd"), "12345");
  write_floats(folder.file("ok"), sample(8));
  const auto refused = [&](std::vector<std::string> arguments, int code, const std::string& why) {
    arguments.insert(arguments.begin(), "codec");
    const Result result = run_program(arguments);
    CAPTURE(arguments[1], why);
    CHECK(result.exit_code == code);
    CHECK_THAT(result.err, Contains(why));
  };
  refused({"encode", "terngrad", "-i", folder.file("nan"), "-o", folder.file("x")}, 1,
          "element 1 is NaN");
  refused({"encode", "terngrad", "-i", folder.file("odd"), "-o", folder.file("x")}, 1,
          "whole number");
  refused({"encode", "tergrad", "-i", folder.file("ok")}, 2, "did you mean \"terngrad\"");
  refused({"encode", "topk", "--set", "ratio", "-i", folder.file("ok")}, 2, "option=value");
  refused({"encode", "topk", "--set", "rato=1", "-i", folder.file("ok")}, 2, "ratio");
  refused({"encode", "topk", "--shape", "3x3", "-i", folder.file("ok")}, 2, "has 9 elements");
  refused({"encode", "topk", "--shape", "3x", "-i", folder.file("ok")}, 2, "list of sizes");
  refused({"decode", "-i", folder.file("ok")}, 2, "no codec is named");
  refused({"decode", "terngrad", "-i", folder.file("ok")}, 2, "--n or --shape");
  refused({"decode", "terngrad", "--n", "9", "-i", folder.file("ok")}, 1, "bytes");
  refused({"decode", "fp16", "--n", "99999999999", "-i", folder.file("ok")}, 1, "--max-elements");
  const Result good = run_program(
      {"codec", "encode", "fp16", "-q", "-i", folder.file("ok"), "-o", folder.file("frame")});
  REQUIRE(good.exit_code == 0);
  std::string frame = read_file(folder.file("frame"));
  refused({"decode", "topk", "-i", folder.file("frame")}, 2, "its codec is \"fp16\"");
  frame[frame.size() - 6] ^= 1;
  write_file(folder.file("frame"), frame);
  refused({"decode", "-i", folder.file("frame")}, 1, "damaged");
}

TEST_CASE("a payload that holds its mask is decoded and explained without one", "[unit]") {
  const TemporaryFolder folder;
  write_floats(folder.file("in"), {1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  write_file(folder.file("mask"), "\x92\x02");  // elements 1, 4, 7 and 9
  const auto encode = [&](const std::string& format, const std::string& out, bool bare) {
    std::vector<std::string> arguments = {"codec",
                                          "encode",
                                          "masked",
                                          "--set",
                                          "format=" + format,
                                          "-q",
                                          "--mask",
                                          folder.file("mask"),
                                          "-i",
                                          folder.file("in"),
                                          "-o",
                                          folder.file(out)};
    if (bare) arguments.push_back("--bare");
    REQUIRE(run_program(arguments).exit_code == 0);
  };
  const auto decoded = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"codec", "decode", "-q", "-o", folder.file("out")});
    const Result result = run_program(arguments);
    CHECK(result.err == "");
    REQUIRE(result.exit_code == 0);
    return read_floats(folder.file("out"));
  };
  const std::vector<float> expected = {0, 2, 0, 0, 5, 0, 0, 8, 0, 10};
  encode("record", "frame", false);
  encode("record", "bare", true);
  CHECK(decoded({"-i", folder.file("frame")}) == expected);
  CHECK(decoded({"masked", "--set", "format=record", "--n", "10", "-i", folder.file("bare")}) ==
        expected);
  const Result explained = run_program({"codec", "inspect", "-i", folder.file("frame")});
  CHECK(explained.exit_code == 0);
  CHECK_THAT(explained.out, Contains("4 ones"));
  encode("values", "frame", false);
  const Result untold = run_program({"codec", "decode", "-i", folder.file("frame")});
  CHECK(untold.exit_code == 2);
  CHECK_THAT(untold.err, Contains("give --mask FILE"));
}

TEST_CASE("the list as JSON says of every option what it may be", "[unit]") {
  const auto listed = [](const char* format) {
    const Result list = run_program({"codec", "list", "--format", format});
    REQUIRE(list.exit_code == 0);
    return list.out;
  };
  const auto rows = nlohmann::json::parse(listed("json")).at("rows");
  std::map<std::string, nlohmann::json> options;  // "codec/option"
  for (const auto& row : rows)
    for (const auto& option : row.at("option_table")) {
      CAPTURE(row.at("name"), option.dump());
      CHECK(option.at("help").get<std::string>() != "");
      CHECK((option.at("type") == "choice") == option.contains("choices"));
      const std::string setting =
          option.at("name").get<std::string>() + "=" + option.at("default").get<std::string>();
      CHECK_THAT(row.at("options").get<std::string>(), Contains(setting));
      options[row.at("name").get<std::string>() + "/" + option.at("name").get<std::string>()] =
          option;
    }
  const auto bits = options.at("minmax/bits");
  CHECK(bits.at("type") == "integer");
  CHECK(bits.at("default") == "4");
  CHECK(bits.at("min").dump() == "1");
  CHECK(bits.at("max").dump() == "8");
  CHECK(options.at("fp16/overflow").at("choices") ==
        nlohmann::json::array({"infinity", "saturate"}));
  CHECK(options.at("topk/ratio").at("min_exclusive") == true);
  const std::string lines = listed("jsonl");
  CHECK(static_cast<std::size_t>(std::count(lines.begin(), lines.end(), '\n')) == rows.size());
  auto first = nlohmann::json::parse(lines.substr(0, lines.find('\n')));
  first.erase("type");
  CHECK(first == rows.at(0));
  CHECK(listed("text").find("choices") == std::string::npos);  // a table of one line a codec
}

TEST_CASE("standard input and output carry bytes", "[unit]") {
  const TemporaryFolder folder;
  write_floats(folder.file("in"), {1.0f, -2.5f, 65504.0f});
  const Result piped = run_program({"codec", "encode", "fp16", "--bare", "-q"},
                                   "exec \"$@\" < '" + (folder.file("in")) + "'");
  CHECK(piped.exit_code == 0);
  CHECK(piped.out == std::string("\x00\x3c\x00\xc1\xff\x7b", 6));
}
