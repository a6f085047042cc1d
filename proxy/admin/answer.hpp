// Answers one exchange of the admin listener, after reading its request body where the path takes one. The listener's
// thread.
#pragma once

#include "proxy/admin/admin.hpp"
#include "proxy/http/run.hpp"

namespace brink::admin {

inline constexpr std::uint64_t max_body = std::uint64_t{64} * 1024;  // bytes; past it 413

void answer(const Admin& admin, http::Client& client);  // `admin` outlives the exchange

}  // namespace brink::admin
