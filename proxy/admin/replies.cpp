#include "proxy/admin/replies.hpp"

#include <utility>

namespace brink::admin {

http::LocalReply text_reply(unsigned status, std::string_view type, std::string body) {
  http::LocalReply reply;
  reply.status = status;
  reply.headers = {
      {"content-type", std::string(type)}, {"cache-control", "no-store"}, {"x-content-type-options", "nosniff"}};
  reply.body = std::move(body);
  return reply;
}

http::LocalReply json_reply(unsigned status, const Json& json) {
  // Names come from files that may hold any bytes; those that are not UTF-8 are replaced.
  return text_reply(status, "application/json", json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

http::LocalReply error_reply(unsigned status, std::string_view why) {
  return json_reply(status, {{"error", std::string(why)}});
}

}  // namespace brink::admin
