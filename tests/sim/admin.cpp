// The /sim/ paths of routes.hpp: what tests ask and change while the simulator runs.
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "tests/sim/routes.hpp"

namespace brink::sim {
namespace {

using Json = nlohmann::json;

Reply stats(Context& context) {
  const Counters& counters = context.counters;
  Engine& engine = context.driver.engine();
  const EngineTotals& totals = engine.totals();
  const Json requests = {{"started", counters.started},   {"active", counters.active()},
                         {"finished", counters.finished}, {"aborted", counters.aborted},
                         {"rejected", counters.rejected}, {"faulted", counters.faulted}};
  const Json tokens = {
      {"prompt", totals.prompt_tokens}, {"generated", totals.generation_tokens}, {"prefix_hits", totals.prefix_hits}};
  const Json state = {{"running", engine.running()},
                      {"waiting", engine.waiting()},
                      {"kv_usage", engine.kv_usage()},
                      {"slowness", context.driver.slowness()}};
  const Json connections = {{"accepted", counters.connections},
                            {"open", context.gauges.open_connections},
                            {"slow_readers", counters.slow_readers}};
  const Json websockets = {{"accepted", counters.websockets}, {"open", context.gauges.open_websockets}};
  const Json answer = {{"node", context.config.name}, {"requests", requests},    {"tokens", tokens}, {"engine", state},
                       {"connections", connections},  {"websockets", websockets}};
  return {.body = answer.dump(-1, ' ', false, Json::error_handler_t::replace)};
}

// Throws std::invalid_argument when a key is there that is not listed: a misspelt fault must not pass for one that is
// set.
void check_keys(const Json& object, std::initializer_list<std::string_view> known, const char* where) {
  if (!object.is_object()) throw std::invalid_argument(std::string(where) + " must be an object");
  for (const auto& [key, value] : object.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      throw std::invalid_argument(std::string(where) + ": unknown key '" + key + "'");
    }
  }
}

FaultRule parse_rule(const Json& json) {
  check_keys(json, {"fault", "probability", "count", "path"}, "a fault rule");
  FaultRule rule{.text = json.at("fault").get<std::string>(),
                 .probability = json.value("probability", 1.0),
                 .count = std::nullopt,
                 .path = json.value("path", std::string("/v1/"))};
  FaultSet ignored;
  parse_faults(rule.text, ignored);
  if (rule.probability < 0 || rule.probability > 1) throw std::invalid_argument("probability must be 0 to 1");
  if (const auto count = json.find("count"); count != json.end()) {
    if (!count->is_number_unsigned()) throw std::invalid_argument("count must be a whole number");
    rule.count = count->get<std::uint64_t>();
  }
  return rule;
}

double positive(const Json& json, const char* what) {
  const double value = json.get<double>();
  if (!(value > 0) || value > 1e6) throw std::invalid_argument(std::string(what) + " must be above 0, at most 1e6");
  return value;
}

// Checks everything before it changes anything.
void change_faults(Context& context, const Json& body) {
  check_keys(body, {"faults", "slowness", "cold_start"}, "the body");
  std::vector<FaultRule> rules = context.faults.rules();
  if (body.contains("faults")) {
    rules.clear();
    for (const Json& rule : body.at("faults")) rules.push_back(parse_rule(rule));
    if (rules.size() > FaultBook::max_rules) throw std::invalid_argument("at most 64 fault rules");
  }
  const double slowness = body.contains("slowness") ? positive(body.at("slowness"), "slowness") : 0;
  double cold_factor = 0;
  Delay cold_for{};
  if (body.contains("cold_start")) {
    const Json& cold = body.at("cold_start");
    check_keys(cold, {"factor", "for"}, "cold_start");
    cold_factor = positive(cold.at("factor"), "cold_start.factor");
    cold_for = parse_delay(cold.at("for").get_ref<const std::string&>());
  }
  context.faults.set_rules(std::move(rules));
  if (slowness > 0) context.driver.set_slowness(slowness);
  if (cold_factor > 0) context.driver.cold_start(cold_factor, cold_for);
}

Reply faults(Context& context) {
  Json rules = Json::array();
  for (const FaultRule& rule : context.faults.rules()) {
    rules.push_back({{"fault", rule.text}, {"probability", rule.probability}, {"path", rule.path}});
    if (rule.count) rules.back()["count"] = *rule.count;
  }
  return {.body = Json({{"faults", rules}, {"slowness", context.driver.slowness()}}).dump()};
}

Reply post_faults(Context& context, const Request& request) {
  try {
    change_faults(context, Json::parse(request.body()));
    return faults(context);
  } catch (const std::invalid_argument& error) {
    return error_reply({.status = 400, .message = std::string("/sim/faults: ") + error.what()});
  } catch (const Json::exception& error) {
    return error_reply({.status = 400, .message = std::string("/sim/faults: ") + error.what()});
  }
}

// Requests in flight go on and stay counted as started, or active() would go below zero.
Reply reset(Context& context) {
  const std::uint64_t active = context.counters.active();
  context.counters = {};
  context.counters.started = active;
  context.faults.set_rules({});
  context.driver.set_slowness(context.config.engine.slowness);
  context.driver.cold_start(1, {});
  context.driver.engine().clear_totals();
  context.driver.engine().drop_prefix_cache();
  return stats(context);
}

}  // namespace

Reply admin_reply(Context& context, const Request& request) {
  const std::string_view path = path_of(request);
  const bool get = request.method() == http::verb::get;
  const bool post = request.method() == http::verb::post;
  if (path == "/sim/stats" && get) return stats(context);
  if (path == "/sim/faults" && get) return faults(context);
  if (path == "/sim/faults" && post) return post_faults(context, request);
  if (path == "/sim/reset" && post) return reset(context);
  return error_reply({.status = 404,
                      .message = "use GET /sim/stats, GET or POST /sim/faults, POST /sim/reset",
                      .type = "not_found_error"});
}

}  // namespace brink::sim
