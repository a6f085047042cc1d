#include "proxy/filter/compression.hpp"

#include <algorithm>
#include <array>

#include "proxy/http/rules.hpp"

namespace brink::filter {

using http::iequals;

namespace {

// Besides text/* and the suffixes +json, +xml and +text.
constexpr std::array<std::string_view, 21> shrinking_types = {
    "application/atom+xml",
    "application/graphql",
    "application/javascript",
    "application/json",
    "application/json-seq",
    "application/jsonl",
    "application/manifest",
    "application/ndjson",
    "application/rtf",
    "application/sql",
    "application/toml",
    "application/vnd.ms-fontobject",
    "application/wasm",
    "application/x-javascript",
    "application/x-ndjson",
    "application/x-www-form-urlencoded",
    "application/xml",
    "application/yaml",
    "font/otf",
    "font/ttf",
    "image/bmp",
};

// Pieces of these are read as they arrive; each is small.
constexpr std::array<std::string_view, 6> event_types = {
    "text/event-stream",    "application/ndjson", "application/x-ndjson",
    "application/json-seq", "application/jsonl",  "application/stream+json",
};

// Of bytes that are no longer sent.
constexpr std::array<std::string_view, 7> dropped_fields = {
    "content-length", "content-encoding", "accept-ranges", "content-md5", "digest", "content-digest", "repr-digest",
};

std::string_view without_parameters(std::string_view content_type) {
  return http::trim(content_type.substr(0, content_type.find(';')));
}

template <std::size_t N>
bool any_of(const std::array<std::string_view, N>& list, std::string_view name) {
  return std::any_of(list.begin(), list.end(), [&](std::string_view item) { return iequals(item, name); });
}

bool ends_with(std::string_view text, std::string_view suffix) {
  return text.size() > suffix.size() && iequals(text.substr(text.size() - suffix.size()), suffix);
}

bool forbids_transforming(std::string_view cache_control) { return http::list_has(cache_control, "no-transform"); }

bool has_no_body(unsigned status) { return status < 200 || status == 204 || status == 205 || status == 304; }

// What the response itself rules out, whoever asks.
Skip skip_of(const CompressOptions& options, const ResponseFacts& response) {
  if (has_no_body(response.status)) return Skip::status;
  if (response.status == 206 || response.content_range) return Skip::range;
  if (response.no_transform) return Skip::no_transform;
  if (response.encoded) return Skip::encoded;
  if (!is_compressible(response.type)) return Skip::type;
  if (response.length && *response.length < std::max<std::uint64_t>(options.min_size, 1)) return Skip::small;
  return Skip::none;
}

}  // namespace

void RequestFacts::note(std::string_view name, std::string_view value) {
  if (iequals(name, "accept-encoding")) accept.add(value);
  if (iequals(name, "range")) range = true;
  if (iequals(name, "cache-control")) no_transform = no_transform || forbids_transforming(value);
}

void ResponseFacts::note(std::string_view name, std::string_view value) {
  if (iequals(name, "content-type") && type.empty()) type = value;
  if (iequals(name, "content-range")) content_range = true;
  if (iequals(name, "cache-control")) no_transform = no_transform || forbids_transforming(value);
  if (iequals(name, "vary")) varies = varies || http::list_has(value, "accept-encoding") || http::list_has(value, "*");
  if (!iequals(name, "content-encoding")) return;
  http::ListCursor cursor{.rest = value};
  while (cursor.more) {
    const auto coding = cursor.next();
    if (!coding.empty() && !iequals(coding, "identity")) encoded = true;
  }
}

const char* to_string(Skip skip) {
  switch (skip) {
    case Skip::none:
      return "none";
    case Skip::status:
      return "status";
    case Skip::range:
      return "range";
    case Skip::no_transform:
      return "no_transform";
    case Skip::encoded:
      return "encoded";
    case Skip::type:
      return "type";
    case Skip::small:
      return "small";
    case Skip::not_accepted:
      return "not_accepted";
    case Skip::not_acceptable:
      return "not_acceptable";
  }
  return "unknown";
}

bool is_compressible(std::string_view content_type) {
  const auto type = without_parameters(content_type);
  if (type.size() > 5 && iequals(type.substr(0, 5), "text/")) return true;
  return ends_with(type, "+json") || ends_with(type, "+xml") || ends_with(type, "+text") ||
         any_of(shrinking_types, type);
}

Decision decide(const CompressOptions& options, const RequestFacts& request, const ResponseFacts& response) {
  Decision decision;
  const auto chosen = request.accept.choose(options.encodings);
  const auto coding = chosen.value_or(Coding::identity);
  decision.skip = skip_of(options, response);
  // A 304 says again what its 200 said, which this client may have got compressed; a weak tag matches either.
  const bool plain = !response.no_transform && !response.encoded;
  const bool of_304 = response.status == 304 && plain;
  // What a 200 would say in Vary, a 206 says too (RFC 9110 section 15.3.7).
  const bool of_206 = response.status == 206 && plain && is_compressible(response.type);
  decision.add_vary =
      (decision.skip == Skip::none || of_304 || of_206) && !response.varies && !options.encodings.empty();
  decision.weak_etag = of_304 && coding != Coding::identity;
  if (decision.skip != Skip::none) return decision;

  if (request.range) {
    decision.skip = Skip::range;
  } else if (request.no_transform) {
    decision.skip = Skip::no_transform;
  } else if (!chosen) {
    decision.skip = Skip::not_acceptable;
  } else if (coding == Coding::identity) {
    decision.skip = Skip::not_accepted;
  }
  if (decision.skip != Skip::none) return decision;

  decision.coding = coding;
  decision.weak_etag = true;
  decision.flush = !response.length;
  decision.spec = {.coding = coding,
                   .level = options.level,
                   .length = response.length,
                   .events = decision.flush && any_of(event_types, without_parameters(response.type))};
  return decision;
}

FieldEdit edit_of(const Decision& decision, std::string_view name) {
  if (decision.weak_etag && iequals(name, "etag")) return FieldEdit::weaken;
  if (decision.coding != Coding::identity && any_of(dropped_fields, name)) return FieldEdit::drop;
  return FieldEdit::keep;
}

void append_fields(std::string& out, const Decision& decision) {
  if (decision.coding != Coding::identity) {
    out.append("content-encoding: ").append(to_string(decision.coding)).append("\r\n");
  }
  if (decision.add_vary) out += "vary: accept-encoding\r\n";
}

std::string weaken(std::string_view etag) {
  if (etag.empty() || etag.front() != '"') return std::string(etag);
  return std::string("W/").append(etag);
}

}  // namespace brink::filter
