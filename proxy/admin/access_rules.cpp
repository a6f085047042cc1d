#include "proxy/admin/access_rules.hpp"

#include <boost/asio/ip/address.hpp>
#include <boost/beast/core/string.hpp>

namespace brink::admin {
namespace {

using boost::beast::iequals;

std::optional<boost::asio::ip::address> address_of(std::string_view host) {
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  boost::system::error_code error;
  const auto address = boost::asio::ip::make_address(std::string(host), error);
  if (error) return std::nullopt;
  return address;
}

bool is_loopback(std::string_view listen_host) {
  const auto address = address_of(listen_host);
  return address ? address->is_loopback() : iequals(listen_host, "localhost");
}

}  // namespace

std::optional<std::string> refusal(const http::RequestHead& request, std::string_view listen_host) {
  // A request without Host is HTTP/1.0's, which no browser sends.
  const bool known_host = request.host.empty() || address_of(request.host) || iequals(request.host, "localhost") ||
                          iequals(request.host, listen_host);
  if (is_loopback(listen_host) && !known_host) {
    return "the Host field must be an address, localhost or the configured admin host: this listener is for this "
           "machine only, and a web page could reach it under a name of its own";
  }
  if (request.method == boost::beast::http::verb::get || request.method == boost::beast::http::verb::head) return {};
  const http::Field* origin = request.find(http::FieldId::origin);
  if (origin == nullptr) return {};
  const std::size_t scheme = origin->value.find("://");
  const bool same = scheme != std::string_view::npos && iequals(origin->value.substr(scheme + 3), request.authority);
  if (same) return {};
  return "the Origin field names another host: a web page may not do this";
}

}  // namespace brink::admin
