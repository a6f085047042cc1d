// What a head's fields say about the end of its message and of its connection, held to the rules of an edge: where two
// servers could read two lengths, the message is refused (RFC 9112 sections 6.1 to 6.3 and 11.2; docs/framing.md).
// Internal to proxy/http. One thread at a time; one object a head.
#pragma once

#include <string_view>

#include "proxy/http/head.hpp"

namespace brink::http {

class FramingRules {
 public:
  struct Verdict {
    HeadError error = HeadError::ok;
    const char* what = "";
  };

  // Takes the next field of the head. Returns nullptr, or a static sentence saying what is wrong.
  const char* note(const Field& field, HeadBase& head);

  // After the last field: settle the framing, the connection and the expectation.
  // REQUIRES: the start line's members of `head` are set.
  Verdict finish_request(RequestHead& head) const;
  const char* finish_response(ResponseHead& head, bool head_request) const;

  // The value of Host, nullptr if there is none. Valid as long as this object.
  const std::string_view* host() const { return has_host_ ? &host_ : nullptr; }

 private:
  const char* note_length(std::string_view value, HeadBase& head);
  const char* note_coding(std::string_view value);
  const char* note_connection(std::string_view value, HeadBase& head);
  const char* note_host(std::string_view value);
  void note_expect(std::string_view value);
  const char* check_coding(const HeadBase& head) const;
  void finish_connection(HeadBase& head) const;

  std::string_view host_;
  bool has_host_ = false;
  bool has_coding_ = false;
  bool foreign_coding_ = false;  // a coding other than chunked
  bool close_ = false;
  bool keep_alive_ = false;
  bool upgrade_option_ = false;
  bool upgrade_field_ = false;
  bool expect_continue_ = false;
  bool bad_expect_ = false;
};

}  // namespace brink::http
