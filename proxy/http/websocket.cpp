#include "proxy/http/websocket.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <string>

#include "proxy/http/rules.hpp"

namespace brink::http {
namespace {

// 16 bytes in base64: 22 characters of the alphabet and "==".
bool valid_key(std::string_view key) {
  if (key.size() != 24 || !key.ends_with("==")) return false;
  return std::all_of(key.begin(), key.end() - 2, [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '/';
  });
}

std::string accept_for(std::string_view key) {
  std::string input(key);
  input += "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  std::array<unsigned char, 20> digest{};
  unsigned size = 0;
  EVP_Digest(input.data(), input.size(), digest.data(), &size, EVP_sha1(), nullptr);
  std::array<unsigned char, 32> text{};
  EVP_EncodeBlock(text.data(), digest.data(), static_cast<int>(size));
  return reinterpret_cast<const char*>(text.data());
}

}  // namespace

UpgradeCheck check_upgrade(const RequestHead& head) {
  if (!head.has_upgrade) return {};
  const Field* upgrade = head.find(FieldId::upgrade);
  if (upgrade == nullptr || !iequals(upgrade->value, "websocket")) return {};
  const auto bad = [](std::string_view what) { return UpgradeCheck{false, ErrorKind::bad_upgrade, what}; };
  if (head.method != boost::beast::http::verb::get) return bad("the method must be GET");
  if (head.minor_version < 1) return bad("HTTP/1.1 is required");
  if (head.framing != Framing::none && head.content_length != 0) return bad("an upgrade carries no body");
  const Field* version = head.find(FieldId::sec_websocket_version);
  if (version == nullptr) return bad("Sec-WebSocket-Version is missing");
  if (version->value != "13") return {false, ErrorKind::upgrade_required, "version 13 is the one spoken here"};
  const Field* key = head.find(FieldId::sec_websocket_key);
  if (key == nullptr || !valid_key(key->value)) return bad("Sec-WebSocket-Key must be 16 bytes in base64");
  const auto keys = std::count_if(head.fields.begin(), head.fields.end(),
                                  [](const Field& field) { return field.id == FieldId::sec_websocket_key; });
  if (keys != 1) return bad("Sec-WebSocket-Key occurs more than once");
  return {true, ErrorKind::none, {}};
}

bool accepts_upgrade(const RequestHead& request, const ResponseHead& response) {
  const Field* upgrade = response.find(FieldId::upgrade);
  const Field* accept = response.find(FieldId::sec_websocket_accept);
  const Field* key = request.find(FieldId::sec_websocket_key);
  return response.has_upgrade && upgrade != nullptr && iequals(upgrade->value, "websocket") && accept != nullptr &&
         key != nullptr && accept->value == accept_for(key->value);
}

}  // namespace brink::http
