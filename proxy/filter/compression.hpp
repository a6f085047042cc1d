// Whether a response is compressed for this client, and what becomes of its head then. Decisions only, over facts that
// the caller notes from the heads or from a stored response; views must outlive the facts. Any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/filter/accept_encoding.hpp"
#include "proxy/filter/encoder.hpp"

namespace brink::filter {

// A route's `compress`. A route without it compresses nothing.
struct CompressOptions {
  std::vector<Coding> encodings{Coding::zstd, Coding::gzip};  // in order of preference
  int level = 3;
  std::uint64_t min_size = 256;  // bytes; a body known to be smaller is sent as it is
};

struct RequestFacts {
  AcceptEncoding accept;
  bool range = false;         // asks for a range
  bool no_transform = false;  // Cache-Control says so (RFC 9111 section 5.2.1.6)

  void note(std::string_view name, std::string_view value);  // call it for each field
};

struct ResponseFacts {
  unsigned status = 0;
  std::optional<std::uint64_t> length;  // of the body, or of the body that a GET would have got; unset: not known
  std::string_view type;                // Content-Type, the first
  bool encoded = false;                 // a Content-Encoding other than identity
  bool content_range = false;
  bool no_transform = false;  // RFC 9111 section 5.2.2.6
  bool varies = false;        // Vary names Accept-Encoding already, or is `*`

  void note(std::string_view name, std::string_view value);  // call it for each field; sets all but status and length
};

// Why a response is sent as it is. The names are those of to_string().
enum class Skip : std::uint8_t {
  none,            // it is compressed
  status,          // 1xx, 204, 205, 304: no body
  range,           // 206, Content-Range, or the request asked for a range: offsets count unencoded bytes
  no_transform,    // the request or the response forbids it
  encoded,         // it is encoded already
  type,            // its type does not shrink, or it has none
  small,           // shorter than min_size
  not_accepted,    // the client takes none of the route's codings, or prefers identity
  not_acceptable,  // ... and refuses identity too: better sent as it is than not (RFC 9110 section 12.5.3 allows both)
};
const char* to_string(Skip skip);  // static; for logs and metrics

struct Decision {
  Coding coding = Coding::identity;
  Skip skip = Skip::none;
  bool add_vary = false;   // Accept-Encoding decides over what is sent for this URL, and Vary does not say so yet
  bool weak_etag = false;  // see weaken(); also of a 304, whose stored 200 may have been compressed
  bool flush = false;      // a body of unknown length: flush after each piece that arrives
  EncoderSpec spec;        // when coding is not identity
};

// Does not ask for the method: a HEAD gets the head that a GET would.
Decision decide(const CompressOptions& options, const RequestFacts& request, const ResponseFacts& response);

// Whether this type is worth compressing: text, JSON, event streams and the like; parameters are not looked at.
bool is_compressible(std::string_view content_type);

// What becomes of a response's field (or trailer) by this decision.
enum class FieldEdit : std::uint8_t {
  keep,
  drop,  // it speaks of the bytes as they were: Content-Length, Accept-Ranges, Content-MD5, Digest, Content-Digest and
         // Repr-Digest (RFC 9530 section 2 and 3: both cover the coding), and Content-Encoding: identity
  weaken,  // ETag: send weaken(value)
};
FieldEdit edit_of(const Decision& decision, std::string_view name);

// Appends `content-encoding` and `vary`, each with its CRLF, as the decision asks.
void append_fields(std::string& out, const Decision& decision);

// A strong ETag as a weak one; others as they are. The encoded bytes differ from those that a strong one names (RFC
// 9110 section 8.8.1). A later If-None-Match with it still matches at the backend, which compares weakly
// (section 13.1.2); If-Match and If-Range, which compare strongly, no longer do, and must not.
std::string weaken(std::string_view etag);

}  // namespace brink::filter
