// The configuration's words for Redis in those of its client.
#pragma once

#include "cache/redis/options.hpp"
#include "conf/config.hpp"

namespace brink::cached {

// The configuration has been checked, so there is no error to tell.
cache::redis::Options redis_options(const conf::RedisConfig& config);

}  // namespace brink::cached
