#include "proxy/cached/redis_options.hpp"

namespace brink::cached {

namespace redis = cache::redis;

redis::Options redis_options(const conf::RedisConfig& config) {
  using Mode = conf::RedisConfig::Mode;
  redis::Options options;
  redis::parse(config.url, options);
  options.mode = config.mode == Mode::cluster    ? redis::Options::Mode::cluster
                 : config.mode == Mode::sentinel ? redis::Options::Mode::sentinel
                                                 : redis::Options::Mode::single;
  for (const std::string& text : config.nodes) {
    redis::Node node;
    if (redis::parse_node(text, options.nodes.front().port, node).empty()) options.nodes.push_back(node);
  }
  options.master_name = config.master;
  options.ca_file = config.ca;
  options.prefix = config.prefix;
  options.timeout = config.timeout;
  return options;
}

}  // namespace brink::cached
