// How the admin API's answers are made. For the sources of this folder.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "proxy/http/local_reply.hpp"

namespace brink::admin {

using Json = nlohmann::ordered_json;

http::LocalReply text_reply(unsigned status, std::string_view type, std::string body);  // never cached
http::LocalReply json_reply(unsigned status, const Json& json);
http::LocalReply error_reply(unsigned status, std::string_view why);  // {"error": why}

}  // namespace brink::admin
