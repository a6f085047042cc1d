#include "proxy/http/forward.hpp"

#include <algorithm>
#include <charconv>

#include "proxy/http/rules.hpp"

namespace brink::http {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

bool starts_nocase(std::string_view text, std::string_view prefix) {
  return text.size() >= prefix.size() && iequals(text.substr(0, prefix.size()), prefix);
}

void append_number(std::string& out, std::uint64_t number) {
  char text[20];
  out.append(text, static_cast<std::size_t>(std::to_chars(text, text + sizeof text, number).ptr - text));
}

void append_line(std::string& out, std::string_view name, std::string_view value) {
  out.append(name).append(": ").append(value).append("\r\n");
}

// Not passed on as they came: for one hop only, for the proxy itself, or framing that is made anew.
bool ends_here(FieldId id) {
  return is_hop_by_hop(id) || id == FieldId::content_length || id == FieldId::proxy_authorization ||
         id == FieldId::proxy_authenticate;
}

// Fields of a request that we set ourselves or that end here.
bool is_replaced_in_request(const Field& field) {
  if (field.id == FieldId::host || field.id == FieldId::expect) return true;
  switch (lower(field.name.front())) {
    case 'x':
      return starts_nocase(field.name, "x-forwarded-") || iequals(field.name, "x-request-id");
    case 't':
      return iequals(field.name, "traceparent");
    case 'p':
      return iequals(field.name, "proxy");  // httpoxy (CVE-2016-5385)
    case 'f':
      return iequals(field.name, "forwarded");  // RFC 7239; x-forwarded-* says it
    default:
      return false;
  }
}

bool is_replaced_in_response(const Field& field) {
  if (lower(field.name.front()) != 'x') return false;
  return iequals(field.name, "x-request-id") || starts_nocase(field.name, "x-brink-");
}

bool is_listed(const std::vector<std::string>& names, std::string_view name) {
  return std::any_of(names.begin(), names.end(), [&](const std::string& n) { return iequals(n, name); });
}

bool is_set(const conf::HeaderList& headers, std::string_view name) {
  return std::any_of(headers.begin(), headers.end(), [&](const auto& header) { return iequals(header.first, name); });
}

// Copies the fields for which keep() holds, as raw lines, neighbours in one piece.
template <class Keep>
void append_kept_fields(std::string& out, const HeadBase& head, Keep keep) {
  const char* const end = head.raw.data() + head.raw.size() - 2;  // before the empty line
  const char* run = nullptr;
  for (const Field& field : head.fields) {
    const char* line = field.name.data();
    if (keep(field)) {
      if (run == nullptr) run = line;
    } else if (run != nullptr) {
      out.append(run, line);
      run = nullptr;
    }
  }
  if (run != nullptr) out.append(run, end);
}

void append_framing(std::string& out, bool chunked, bool has_length, std::uint64_t length) {
  if (chunked) {
    out += "transfer-encoding: chunked\r\n";
  } else if (has_length) {
    out += "content-length: ";
    append_number(out, length);
    out += "\r\n";
  }
}

void append_forwarded(std::string& out, const Exchange& exchange, bool trusted) {
  out += "x-forwarded-for: ";
  bool has_proto = false;
  bool has_host = false;
  if (trusted) {
    for (const Field& field : exchange.head.fields) {
      if (iequals(field.name, "x-forwarded-for")) out.append(field.value).append(", ");
      has_proto = has_proto || iequals(field.name, "x-forwarded-proto");
      has_host = has_host || iequals(field.name, "x-forwarded-host");
    }
  }
  out.append(exchange.peer).append("\r\n");
  if (has_proto || has_host) {
    for (const Field& field : exchange.head.fields) {
      if (iequals(field.name, "x-forwarded-proto") || iequals(field.name, "x-forwarded-host")) {
        append_line(out, field.name, field.value);
      }
    }
  }
  if (!has_proto) out += "x-forwarded-proto: http\r\n";
  if (!has_host && !exchange.head.authority.empty()) append_line(out, "x-forwarded-host", exchange.head.authority);
}

}  // namespace

void append_request_head(std::string& out, const Exchange& exchange, const RequestEdit& edit) {
  const RequestHead& head = exchange.head;
  const conf::RewriteConfig* rewrite = edit.rewrite;
  out.append(head.method_text).append(" ").append(edit.path).append(head.query).append(" HTTP/1.1\r\nhost: ");
  out.append(rewrite != nullptr && rewrite->host ? std::string_view(*rewrite->host) : head.authority).append("\r\n");

  const bool edits = rewrite != nullptr && (!rewrite->set_headers.empty() || !rewrite->remove_headers.empty());
  bool te_trailers = false;
  append_kept_fields(out, head, [&](const Field& field) {
    if (ends_here(field.id)) {
      te_trailers = te_trailers || (field.id == FieldId::te && iequals(field.value, "trailers"));
      return false;
    }
    if (is_replaced_in_request(field)) return false;
    if (exchange.body_decoded && field.id == FieldId::content_encoding) return false;
    if (head.nominates && head.nominated(field.name)) return false;
    return !edits || !(is_listed(rewrite->remove_headers, field.name) || is_set(rewrite->set_headers, field.name));
  });

  append_forwarded(out, exchange, edit.trusted_client);
  out += "via: 1.1 brink\r\n";
  append_line(out, "x-request-id", exchange.request_id);
  append_line(out, "traceparent", exchange.traceparent);
  append_framing(out, edit.chunked, edit.has_length, edit.length);
  if (te_trailers && !edit.websocket) out += "te: trailers\r\nconnection: te\r\n";
  if (edit.websocket) out += "connection: upgrade\r\nupgrade: websocket\r\n";
  if (edits) {
    for (const auto& [name, value] : rewrite->set_headers) append_line(out, name, value);
  }
  out += "\r\n";
}

void append_response_head(std::string& out, const Exchange& exchange, const ResponseHead& head,
                          const ResponseEdit& edit) {
  out += "HTTP/1.1 ";
  append_number(out, head.status);
  out.append(" ").append(head.reason).append("\r\n");

  const conf::RewriteConfig* rewrite = edit.rewrite;
  const bool edits =
      rewrite != nullptr && (!rewrite->set_response_headers.empty() || !rewrite->remove_response_headers.empty());
  bool dated = edit.date.empty();
  append_kept_fields(out, head, [&](const Field& field) {
    dated = dated || field.id == FieldId::date;
    if (ends_here(field.id) || is_replaced_in_response(field)) return false;
    if (head.nominates && head.nominated(field.name)) return false;
    if (edit.filter != nullptr && edit.filter->drops(field)) return false;
    return !edits || !(is_listed(rewrite->remove_response_headers, field.name) ||
                       is_set(rewrite->set_response_headers, field.name));
  });

  if (!dated) append_line(out, "date", edit.date);
  append_framing(out, edit.chunked, edit.has_length, edit.length);
  out += edit.extra;
  out += "via: 1.1 brink\r\n";
  append_line(out, "x-request-id", exchange.request_id);
  if (exchange.endpoint != nullptr) append_line(out, "x-brink-endpoint", exchange.endpoint->name);
  if (exchange.fallback != nullptr) append_line(out, "x-brink-fallback", exchange.fallback->name);
  if (edit.switching) {
    out += "connection: upgrade\r\nupgrade: websocket\r\n";
  } else if (!edit.keep_alive) {
    out += "connection: close\r\n";
  } else if (edit.client_minor_version == 0) {
    out += "connection: keep-alive\r\n";
  }
  if (edits) {
    for (const auto& [name, value] : rewrite->set_response_headers) append_line(out, name, value);
  }
  out += "\r\n";
}

void append_interim_head(std::string& out, const ResponseHead& head) {
  out += "HTTP/1.1 ";
  append_number(out, head.status);
  out.append(" ").append(head.reason).append("\r\n");
  append_kept_fields(out, head, [&](const Field& field) {
    return !ends_here(field.id) && !(head.nominates && head.nominated(field.name));
  });
  out += "\r\n";
}

void append_local_head(std::string& out, const Exchange& exchange, const LocalReply& reply, std::string_view date,
                       int client_minor_version, bool keep_alive) {
  out += "HTTP/1.1 ";
  append_number(out, reply.status);
  out.append(" ").append(reason_phrase(reply.status)).append("\r\n");
  append_line(out, "date", date);
  for (const auto& [name, value] : reply.headers) append_line(out, name, value);
  const bool bodiless = reply.status < 200 || reply.status == 204 || reply.status == 304;
  append_framing(out, false, !bodiless, reply.body.size());
  out += "via: 1.1 brink\r\n";
  if (!exchange.request_id.empty()) append_line(out, "x-request-id", exchange.request_id);
  if (!keep_alive) {
    out += "connection: close\r\n";
  } else if (client_minor_version == 0) {
    out += "connection: keep-alive\r\n";
  }
  out += "\r\n";
}

bool sane_request_id(std::string_view id) {
  return !id.empty() && id.size() <= 128 && std::all_of(id.begin(), id.end(), [](char c) {
    return (c >= '0' && c <= '9') || (lower(c) >= 'a' && lower(c) <= 'z') ||
           std::string_view("._:@/+=-").find(c) != std::string_view::npos;
  });
}

bool valid_traceparent(std::string_view value) {
  if (value.size() != 55 || value[2] != '-' || value[35] != '-' || value[52] != '-') return false;
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (i == 2 || i == 35 || i == 52) continue;
    if (!((value[i] >= '0' && value[i] <= '9') || (value[i] >= 'a' && value[i] <= 'f'))) return false;
  }
  const auto all_zero = [](std::string_view hex) { return hex.find_first_not_of('0') == std::string_view::npos; };
  return value.substr(0, 2) == "00" && !all_zero(value.substr(3, 32)) && !all_zero(value.substr(36, 16));
}

}  // namespace brink::http
