// The content codings that the edge applies and takes off (RFC 9110 section 8.4.1; zstd: RFC 8878 and 9659). One list
// of names for negotiation, decoding and configuration. Pure functions, any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace brink::filter {

enum class Coding : std::uint8_t { identity, gzip, zstd };

// The name for Content-Encoding.
constexpr std::string_view to_string(Coding coding) {
  switch (coding) {
    case Coding::gzip:
      return "gzip";
    case Coding::zstd:
      return "zstd";
    case Coding::identity:
      break;
  }
  return "identity";
}

// Case-insensitive; x-gzip is gzip (RFC 9110 section 8.4.1.3). nullopt: a coding that the edge does not know.
std::optional<Coding> coding_of(std::string_view name);

}  // namespace brink::filter
