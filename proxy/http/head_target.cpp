#include "proxy/http/head_target.hpp"

#include "proxy/http/rules.hpp"

namespace brink::http::detail {

namespace {

// Size of "http://" or "https://" at the front, 0 for anything else.
std::size_t scheme_size(std::string_view target) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (target.size() >= scheme.size() && iequals(target.substr(0, scheme.size()), scheme)) return scheme.size();
  }
  return 0;
}

void split_query(std::string_view path_and_query, RequestHead& head) {
  const auto mark = path_and_query.find('?');
  head.path = path_and_query.substr(0, mark);
  head.query = mark == path_and_query.npos ? std::string_view{} : path_and_query.substr(mark);
}

const char* set_authority(std::string_view text, RequestHead& head) {
  const auto authority = parse_authority(text);
  if (!authority) return "the target's authority is not a valid host[:port]";
  head.authority = text;
  head.host = authority->host;
  return nullptr;
}

// authority-form = uri-host ":" port (RFC 9112 section 3.2.3).
const char* split_connect(RequestHead& head) {
  head.path = {};
  head.query = {};
  if (const auto* what = set_authority(head.target, head)) return what;
  return parse_authority(head.target)->port < 0 ? "the target of CONNECT has no port" : nullptr;
}

const char* split_absolute(RequestHead& head, std::size_t scheme) {
  const auto rest = head.target.substr(scheme);
  const auto end = std::min(rest.find_first_of("/?"), rest.size());
  split_query(rest.substr(end), head);
  if (head.path.empty()) head.path = "/";
  return set_authority(rest.substr(0, end), head);
}

}  // namespace

const char* split_target(RequestHead& head) {
  // Beast lets bytes from 0x80 on pass; and a fragment never belongs on the wire (RFC 9112 section 3.2.1).
  if (!all(head.target, target_char)) return "the request target has a fragment or a byte that is not printable ASCII";
  if (head.method_text == "CONNECT") return split_connect(head);
  if (head.target.front() == '/') {
    split_query(head.target, head);
    return nullptr;
  }
  if (head.target == "*") {
    head.path = head.target;
    head.query = {};
    return head.method_text == "OPTIONS" ? nullptr : "the target * is for OPTIONS only";
  }
  if (const auto scheme = scheme_size(head.target)) return split_absolute(head, scheme);
  return "the request target is neither a path nor an http or https URL";
}

const char* check_host(RequestHead& head, const std::string_view* host_field) {
  if (host_field == nullptr) {
    return head.minor_version == 0 ? nullptr : "an HTTP/1.1 request has no Host";
  }
  const auto host = parse_authority(*host_field);
  if (!host) return "Host is not a valid host[:port]";
  if (head.authority.empty()) {
    head.authority = *host_field;
    head.host = host->host;
    return nullptr;
  }
  if (head.method_text == "CONNECT") return nullptr;

  const auto named = parse_authority(head.target.substr(scheme_size(head.target), head.authority.size()));
  const int default_port = scheme_size(head.target) == 7 ? 80 : 443;
  const auto port_of = [default_port](const Authority& a) { return a.port < 0 ? default_port : a.port; };
  const bool agree = iequals(named->host, host->host) && port_of(*named) == port_of(*host);
  return agree ? nullptr : "the target names another host than Host";
}

}  // namespace brink::http::detail
