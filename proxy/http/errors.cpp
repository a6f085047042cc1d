#include "proxy/http/errors.hpp"

#include <array>
#include <boost/beast/http/status.hpp>

namespace brink::http {
namespace {

constexpr auto table = std::to_array<ErrorInfo>({
#define BRINK_KIND(kind, status, type, text) {#kind, status, type, text},
    BRINK_ERROR_KINDS(BRINK_KIND)
#undef BRINK_KIND
});

}  // namespace

const ErrorInfo& info(ErrorKind kind) { return table[static_cast<std::size_t>(kind)]; }

std::size_t error_kind_count() { return table.size(); }

std::string_view reason_phrase(unsigned status) {
  const auto text = boost::beast::http::obsolete_reason(static_cast<boost::beast::http::status>(status));
  if (!text.empty() && text.front() != '<') return {text.data(), text.size()};
  switch (status) {
    case 103:
      return "Early Hints";
    case 421:
      return "Misdirected Request";
    case 425:
      return "Too Early";
    default:
      return "Unknown";
  }
}

}  // namespace brink::http
