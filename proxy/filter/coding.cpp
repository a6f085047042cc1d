#include "proxy/filter/coding.hpp"

#include "proxy/http/rules.hpp"

namespace brink::filter {

std::optional<Coding> coding_of(std::string_view name) {
  if (http::iequals(name, "zstd")) return Coding::zstd;
  if (http::iequals(name, "gzip") || http::iequals(name, "x-gzip")) return Coding::gzip;
  if (http::iequals(name, "identity")) return Coding::identity;
  return std::nullopt;
}

}  // namespace brink::filter
