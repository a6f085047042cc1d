// A worker's own generator for ids and choices (xoshiro256**, Blackman and Vigna 2018). Not for secrets.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <random>
#include <string>

namespace brink::net {

class Random {
 public:
  Random() {
    std::random_device device;
    for (auto& word : state_) word = (static_cast<std::uint64_t>(device()) << 32) | device();
    state_[0] |= 1;  // the all-zero state would stay zero
  }

  std::uint64_t operator()() {
    const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  static std::uint64_t call(void* random) { return (*static_cast<Random*>(random))(); }

  void append_hex(std::string& out, int words) {
    static constexpr char digits[] = "0123456789abcdef";
    for (; words > 0; --words) {
      std::uint64_t value = (*this)() | 1;  // never an all-zero id (W3C Trace Context section 3.2.2.3)
      char text[16];
      for (int i = 15; i >= 0; --i, value >>= 4) text[i] = digits[value & 15];
      out.append(text, sizeof text);
    }
  }

 private:
  std::array<std::uint64_t, 4> state_{};
};

}  // namespace brink::net
