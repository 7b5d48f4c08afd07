#pragma once
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

/// Strong unit types and the one parser of unit strings. Conversion is by name only; bits and
/// bytes, decimal (kB = 1000 B) and binary (KiB = 1024 B) prefixes never mix silently, and a bare
/// number is refused by every parser.
namespace gradwire {

/// A duration or an instant of virtual time, in seconds.
class Seconds {
 public:
  constexpr Seconds() = default;
  constexpr explicit Seconds(double value) : value_(value) {}
  constexpr double value() const { return value_; }
  constexpr auto operator<=>(const Seconds&) const = default;
  constexpr Seconds& operator+=(Seconds other) {
    value_ += other.value_;
    return *this;
  }
  constexpr Seconds& operator-=(Seconds other) {
    value_ -= other.value_;
    return *this;
  }
  friend constexpr Seconds operator+(Seconds a, Seconds b) { return Seconds(a.value_ + b.value_); }
  friend constexpr Seconds operator-(Seconds a, Seconds b) { return Seconds(a.value_ - b.value_); }
  friend constexpr Seconds operator*(Seconds a, double k) { return Seconds(a.value_ * k); }
  friend constexpr Seconds operator*(double k, Seconds a) { return Seconds(a.value_ * k); }
  friend constexpr double operator/(Seconds a, Seconds b) { return a.value_ / b.value_; }
  friend constexpr Seconds operator/(Seconds a, double k) { return Seconds(a.value_ / k); }

 private:
  double value_ = 0;
};

/// A count of bytes.
class Bytes {
 public:
  constexpr Bytes() = default;
  constexpr explicit Bytes(std::int64_t count) : count_(count) {}
  constexpr std::int64_t count() const { return count_; }
  constexpr double bits() const { return 8.0 * static_cast<double>(count_); }
  constexpr auto operator<=>(const Bytes&) const = default;
  constexpr Bytes& operator+=(Bytes other) {
    count_ += other.count_;
    return *this;
  }
  constexpr Bytes& operator-=(Bytes other) {
    count_ -= other.count_;
    return *this;
  }
  friend constexpr Bytes operator+(Bytes a, Bytes b) { return Bytes(a.count_ + b.count_); }
  friend constexpr Bytes operator-(Bytes a, Bytes b) { return Bytes(a.count_ - b.count_); }
  friend constexpr Bytes operator*(Bytes a, std::int64_t k) { return Bytes(a.count_ * k); }

 private:
  std::int64_t count_ = 0;
};

/// A data rate in bits per second.
class BitsPerSecond {
 public:
  constexpr BitsPerSecond() = default;
  constexpr explicit BitsPerSecond(double value) : value_(value) {}
  constexpr double value() const { return value_; }
  constexpr auto operator<=>(const BitsPerSecond&) const = default;
  friend constexpr BitsPerSecond operator*(BitsPerSecond a, double k) {
    return BitsPerSecond(a.value_ * k);
  }

 private:
  double value_ = 0;
};

constexpr Seconds transmission_time(Bytes size, BitsPerSecond rate) {
  return Seconds(size.bits() / rate.value());
}

/// "97MB", "25MiB", "512B". Units: B kB MB GB TB, KiB MiB GiB TiB. Throws Error(kUsage) naming the
/// text and the allowed units.
Bytes parse_bytes(std::string_view text);
/// "1Gbps", "100Mbps", "12.5MBps". Units: bps kbps Mbps Gbps Tbps (bits), Bps kBps MBps GBps
/// (bytes per second).
BitsPerSecond parse_rate(std::string_view text);
/// "50us", "1.5ms", "2s", "1min", "1h". Units: ns us ms s min h.
Seconds parse_duration(std::string_view text);

/// Three significant digits and the unit that fits ("12.3 ms", "1.00 Gbps", "4.19 MB"); for people.
std::string format_duration(Seconds value);
std::string format_bytes(Bytes value);
std::string format_rate(BitsPerSecond value);

}  // namespace gradwire
