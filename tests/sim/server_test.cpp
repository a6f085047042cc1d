// The server over real sockets on the loopback: one thread runs it, the test is the client.
#include "tests/sim/server.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <boost/asio/connect.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/beast/websocket/stream.hpp>
#include <nlohmann/json.hpp>
#include <thread>

namespace brink::sim {
namespace {

using asio::ip::tcp;
using Json = nlohmann::json;
using Response = http::response<http::string_body>;

ServerConfig fast_config() {
  ServerConfig config;
  config.name = "node-7";
  config.models = {"m1", "m2"};
  config.engine.step_ms = 1;
  config.engine.step_batch_ms = 0;
  return config;
}

// A running simulator.
class Sim {
 public:
  explicit Sim(const ServerConfig& config = fast_config())
      : io_(1), server_(io_, config), port_(server_.port()), thread_([this] { io_.run(); }) {}
  ~Sim() {
    io_.stop();
    thread_.join();
  }
  std::uint16_t port() const { return port_; }

 private:
  asio::io_context io_;
  Server server_;
  std::uint16_t port_;
  std::thread thread_;
};

class Client {
 public:
  explicit Client(const Sim& sim) : socket_(io_) { socket_.connect({asio::ip::address_v4::loopback(), sim.port()}); }

  void send(std::string_view bytes) { asio::write(socket_, asio::buffer(bytes)); }

  void send(http::verb method, const std::string& target, const std::string& body, const std::string& fault = {}) {
    Request request(method, target, 11, body);
    request.set(http::field::host, "sim");
    if (!fault.empty()) request.set("x-sim-fault", fault);
    request.prepare_payload();
    http::write(socket_, request);
  }

  Response receive(error_code& ec) {
    http::response_parser<http::string_body> parser;
    parser.body_limit(64U << 20);
    http::read(socket_, buffer_, parser, ec);
    return parser.release();
  }

  Response receive() {
    error_code ec;
    Response response = receive(ec);
    if (ec) throw boost::system::system_error(ec);
    return response;
  }

  Response post(const std::string& target, const std::string& body, const std::string& fault = {}) {
    send(http::verb::post, target, body, fault);
    return receive();
  }
  Json get(const std::string& target) {
    send(http::verb::get, target, {});
    return Json::parse(receive().body());
  }

  // Raw bytes until `mark` has come or the connection has ended.
  std::string receive_until(const std::string& mark) {
    std::string text;
    error_code ec;
    asio::read_until(socket_, asio::dynamic_buffer(text), mark, ec);
    return text;
  }

  // How the connection ended, after everything else was read.
  error_code ending() {
    std::array<char, 4096> rest{};
    error_code ec;
    while (!ec) socket_.read_some(asio::buffer(rest), ec);
    return ec;
  }

  tcp::socket& socket() { return socket_; }

 private:
  asio::io_context io_;
  tcp::socket socket_;
  beast::flat_buffer buffer_;
};

std::string chat(const std::string& more) {
  return R"({"model":"m1","messages":[{"role":"user","content":"Tell me something."}])" + more + "}";
}

// The JSON of each event; [DONE] becomes null.
std::vector<Json> events_of(const std::string& body) {
  std::vector<Json> events;
  std::size_t begin = 0;
  for (std::size_t end = body.find("\n\n"); end != std::string::npos; end = body.find("\n\n", begin)) {
    const std::string data = body.substr(begin, end - begin).substr(6);
    events.push_back(data == "[DONE]" ? Json() : Json::parse(data));
    begin = end + 2;
  }
  return events;
}

// Asks again until the counter has the value; the caller's test times out as a whole if it never does.
void wait_for(const Sim& sim, const std::string& counter, std::uint64_t value) {
  Client client(sim);
  while (client.get("/sim/stats").at("requests").at(counter) != value) std::this_thread::yield();
}

TEST(Server, plain_chat_has_text_usage_and_the_node_s_name) {
  const Sim sim;
  Client client(sim);
  const Response response = client.post("/v1/chat/completions", chat(R"(,"max_tokens":5)"));
  EXPECT_EQ(response.result_int(), 200U);
  EXPECT_EQ(response["x-sim-node"], "node-7");
  const Json answer = Json::parse(response.body());
  EXPECT_EQ(answer["object"], "chat.completion");
  EXPECT_EQ(answer["model"], "m1");
  EXPECT_EQ(answer["choices"][0]["finish_reason"], "length");
  EXPECT_EQ(answer["usage"]["completion_tokens"], 5);
  const std::string text = answer["choices"][0]["message"]["content"];
  EXPECT_EQ(std::ranges::count(text, ' '), 4);
}

TEST(Server, a_stream_says_the_same_as_the_plain_answer) {
  const Sim sim;
  Client client(sim);
  const Json plain = Json::parse(client.post("/v1/chat/completions", chat("")).body());
  const Response response =
      client.post("/v1/chat/completions", chat(R"(,"stream":true,"stream_options":{"include_usage":true})"));
  EXPECT_TRUE(response.chunked());
  EXPECT_EQ(response[http::field::content_type], "text/event-stream; charset=utf-8");
  const auto events = events_of(response.body());
  ASSERT_GE(events.size(), 4U);
  EXPECT_EQ(events[0]["choices"][0]["delta"]["role"], "assistant");
  EXPECT_TRUE(events[0]["usage"].is_null());
  std::string text;
  for (const Json& event : events) {
    if (!event.is_null() && !event["choices"].empty()) text += event["choices"][0]["delta"].value("content", "");
  }
  EXPECT_EQ(text, plain["choices"][0]["message"]["content"]);
  EXPECT_EQ(events[events.size() - 3]["choices"][0]["finish_reason"], "stop");
  EXPECT_EQ(events[events.size() - 2]["usage"]["completion_tokens"], plain["usage"]["completion_tokens"]);
  EXPECT_TRUE(events.back().is_null());
}

TEST(Server, completions_take_token_ids_too) {
  const Sim sim;
  Client client(sim);
  const std::string body = R"({"model":"m2","prompt":[1,2,3],"max_tokens":2)";
  const Json plain = Json::parse(client.post("/v1/completions", body + "}").body());
  EXPECT_EQ(plain["usage"]["prompt_tokens"], 3);
  const auto events = events_of(client.post("/v1/completions", body + R"(,"stream":true})").body());
  ASSERT_EQ(events.size(), 4U);  // two tokens, the reason, [DONE]
  EXPECT_EQ(events[0]["choices"][0]["text"].get<std::string>() + events[1]["choices"][0]["text"].get<std::string>(),
            plain["choices"][0]["text"]);
}

TEST(Server, embeddings_come_as_numbers_and_as_base64_of_the_same_numbers) {
  const Sim sim;
  Client client(sim);
  const std::string body = R"({"model":"m1","input":["a","b"],"dimensions":4)";
  const Json numbers = Json::parse(client.post("/v1/embeddings", body + "}").body());
  ASSERT_EQ(numbers["data"].size(), 2U);
  EXPECT_EQ(numbers["data"][1]["index"], 1);
  const auto vector = numbers["data"][0]["embedding"].get<std::vector<float>>();
  ASSERT_EQ(vector.size(), 4U);
  EXPECT_NE(numbers["data"][0]["embedding"], numbers["data"][1]["embedding"]);
  const Json coded = Json::parse(client.post("/v1/embeddings", body + R"(,"encoding_format":"base64"})").body());
  EXPECT_EQ(coded["data"][0]["embedding"].get<std::string>().size(), 24U);  // 16 bytes
}

TEST(Server, refusals_name_what_is_wrong) {
  const Sim sim;
  Client client(sim);
  const auto expect = [&](const std::string& body, unsigned status, const std::string& param) {
    const Response response = client.post("/v1/chat/completions", body);
    EXPECT_EQ(response.result_int(), status) << body;
    const Json error = Json::parse(response.body())["error"];
    EXPECT_EQ(error["param"].is_null() ? "" : error["param"].get<std::string>(), param) << body;
  };
  expect("{", 400, "");
  expect(R"({"messages":[]})", 400, "model");
  expect(R"({"model":"other","messages":[{"role":"user"}]})", 404, "model");
  expect(R"({"model":"m1","messages":[]})", 400, "messages");
  expect(chat(R"(,"n":2)"), 400, "n");
  expect(chat(R"(,"max_tokens":0)"), 400, "max_tokens");
  expect(chat(R"(,"stream_options":{})"), 400, "stream_options");
  EXPECT_EQ(client.get("/sim/stats")["requests"]["rejected"], 7);
}

TEST(Server, a_full_queue_is_503_with_retry_after) {
  ServerConfig config = fast_config();
  config.engine.max_batch = 1;
  config.engine.max_queue = 0;
  config.engine.step_ms = 1e6;
  const Sim sim(config);
  Client first(sim);
  first.send(http::verb::post, "/v1/chat/completions", chat(""));
  wait_for(sim, "active", 1);
  Client second(sim);
  const Response response = second.post("/v1/chat/completions", chat(""));
  EXPECT_EQ(response.result_int(), 503U);
  EXPECT_EQ(response[http::field::retry_after], "1");
}

TEST(Server, a_client_that_leaves_frees_the_engine) {
  ServerConfig config = fast_config();
  config.engine.step_ms = 1e6;
  const Sim sim(config);
  {
    Client client(sim);
    client.send(http::verb::post, "/v1/chat/completions", chat(""));
    wait_for(sim, "active", 1);
  }
  wait_for(sim, "aborted", 1);
  Client client(sim);
  const Json stats = client.get("/sim/stats");
  EXPECT_EQ(stats["engine"]["running"], 0);
  EXPECT_EQ(stats["engine"]["kv_usage"], 0.0);
  EXPECT_EQ(stats["requests"]["active"], 0);
}

TEST(Server, a_client_that_leaves_in_mid_stream_is_seen_as_well) {
  ServerConfig config = fast_config();
  config.engine.kv_blocks = 100000;
  const Sim sim(config);
  {
    Client client(sim);
    client.send(http::verb::post, "/v1/chat/completions", chat(R"(,"stream":true,"max_tokens":1000000)"));
    EXPECT_NE(client.receive_until("\"content\":\" ").find("200 OK"), std::string::npos);
  }
  wait_for(sim, "aborted", 1);
  Client client(sim);
  EXPECT_EQ(client.get("/sim/stats")["engine"]["running"], 0);
}

TEST(Server, pipelined_requests_are_answered_in_order) {
  const Sim sim;
  Client client(sim);
  client.send(http::verb::post, "/v1/chat/completions", chat(R"(,"max_tokens":3)"));
  client.send(http::verb::get, "/health", {});
  client.send(http::verb::get, "/v1/models", {});
  EXPECT_EQ(Json::parse(client.receive().body())["object"], "chat.completion");
  EXPECT_EQ(Json::parse(client.receive().body())["status"], "ok");
  EXPECT_EQ(Json::parse(client.receive().body())["data"].size(), 2U);
}

TEST(Server, an_idle_connection_is_closed) {
  ServerConfig config = fast_config();
  config.idle_close = std::chrono::milliseconds(1);
  const Sim sim(config);
  Client client(sim);
  EXPECT_EQ(client.ending(), asio::error::eof);
}

TEST(Server, an_address_that_cannot_be_used_is_named) {
  const Sim sim;
  ServerConfig config = fast_config();
  config.listen = "127.0.0.1:" + std::to_string(sim.port());
  asio::io_context io(1);
  try {
    const Server second(io, config);
    FAIL() << "two listeners on one port";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("--listen " + config.listen), std::string::npos) << error.what();
  }
  config.listen = "localhost";
  EXPECT_THROW(Server(io, config), std::invalid_argument);
}

TEST(Server, expect_continue_is_answered_before_the_body) {
  const Sim sim;
  Client client(sim);
  client.send("POST /v1/completions HTTP/1.1\r\nhost: sim\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n");
  EXPECT_EQ(client.receive_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.send("{}");
  EXPECT_EQ(client.receive().result_int(), 400U);
}

TEST(Server, what_is_no_http_gets_400_and_the_end) {
  const Sim sim;
  Client client(sim);
  client.send("\x16\x03\x01 hello\r\n\r\n");
  EXPECT_EQ(client.receive_until("\r\n").substr(0, 12), "HTTP/1.1 400");
  EXPECT_EQ(client.ending(), asio::error::eof);
}

TEST(Server, an_old_client_s_stream_ends_with_the_connection) {
  const Sim sim;
  Client client(sim);
  const std::string body = chat(R"(,"stream":true,"max_tokens":2)");
  client.send("POST /v1/chat/completions HTTP/1.0\r\ncontent-length: " + std::to_string(body.size()) + "\r\n\r\n" +
              body);
  const std::string answer = client.receive_until("[DONE]\n\n");
  EXPECT_EQ(answer.find("chunked"), std::string::npos);
  EXPECT_NE(answer.find("connection: close"), std::string::npos);
  EXPECT_EQ(client.ending(), asio::error::eof);
}

TEST(Server, metrics_bear_vllm_s_names) {
  const Sim sim;
  Client client(sim);
  client.post("/v1/chat/completions", chat(R"(,"max_tokens":4)"));
  client.send(http::verb::get, "/metrics", {});
  const std::string text = client.receive().body();
  const std::string labels = R"({engine="0",model_name="m1")";
  EXPECT_NE(text.find("vllm:num_requests_running" + labels + "} 0\n"), std::string::npos) << text;
  EXPECT_NE(text.find("vllm:generation_tokens_total" + labels + "} 4\n"), std::string::npos) << text;
  EXPECT_NE(text.find("vllm:request_success_total" + labels + R"(,finished_reason="length"} 1)"), std::string::npos);
  EXPECT_NE(text.find("vllm:time_to_first_token_seconds_count" + labels + "} 1\n"), std::string::npos);
  EXPECT_NE(text.find("vllm:time_to_first_token_seconds_bucket" + labels + R"(,le="+Inf"} 1)"), std::string::npos);
}

TEST(ServerFaults, a_status_comes_with_its_retry_after) {
  const Sim sim;
  Client client(sim);
  const Response response = client.post("/v1/chat/completions", chat(""), "status=429;retry-after=7");
  EXPECT_EQ(response.result_int(), 429U);
  EXPECT_EQ(response[http::field::retry_after], "7");
  EXPECT_EQ(client.post("/v1/chat/completions", chat(""), "stutter").result_int(), 400U);
}

TEST(ServerFaults, reset_sends_nothing_but_a_reset) {
  const Sim sim;
  Client client(sim);
  client.send(http::verb::post, "/v1/chat/completions", chat(""), "reset");
  EXPECT_EQ(client.ending(), asio::error::connection_reset);
}

TEST(ServerFaults, hang_ends_with_the_client) {
  const Sim sim;
  {
    Client client(sim);
    client.send(http::verb::post, "/v1/chat/completions", chat(""), "hang");
    wait_for(sim, "active", 1);
  }
  wait_for(sim, "aborted", 1);
}

TEST(ServerFaults, a_cut_stream_has_its_tokens_and_no_end) {
  const Sim sim;
  Client client(sim);
  client.send(http::verb::post, "/v1/completions", R"({"model":"m1","prompt":"x","stream":true})", "cut=3");
  error_code ec;
  const Response response = client.receive(ec);
  EXPECT_EQ(ec, http::error::partial_message);
  EXPECT_EQ(events_of(response.body()).size(), 3U);
}

TEST(ServerFaults, a_cut_plain_answer_is_shorter_than_it_says) {
  const Sim sim;
  Client client(sim);
  client.send(http::verb::post, "/v1/completions", R"({"model":"m1","prompt":"x"})", "cut=3");
  error_code ec;
  const Response response = client.receive(ec);
  EXPECT_EQ(ec, http::error::partial_message);
  EXPECT_NE(response.body(), "");
}

TEST(ServerFaults, a_malformed_chunk_cannot_be_parsed) {
  const Sim sim;
  Client client(sim);
  client.send(http::verb::post, "/v1/completions", R"({"model":"m1","prompt":"x","stream":true})", "malformed-chunk=1");
  error_code ec;
  client.receive(ec);
  EXPECT_EQ(ec, http::error::bad_chunk);
}

TEST(ServerFaults, without_done_the_stream_ends_properly_all_the_same) {
  const Sim sim;
  Client client(sim);
  const Response response =
      client.post("/v1/completions", R"({"model":"m1","prompt":"x","stream":true,"max_tokens":2})", "no-done");
  EXPECT_EQ(response.body().find("[DONE]"), std::string::npos);
  EXPECT_EQ(events_of(response.body()).size(), 3U);
}

TEST(ServerFaults, a_late_first_token_sends_the_head_before) {
  const Sim sim;
  Client client(sim);
  client.send(http::verb::post, "/v1/completions", R"({"model":"m1","prompt":"x","stream":true})",
              "late-first-token=60m");
  const std::string head = client.receive_until("\r\n\r\n");
  EXPECT_NE(head.find("200 OK"), std::string::npos);
  EXPECT_TRUE(head.ends_with("\r\n\r\n"));
}

TEST(ServerFaults, a_stall_ends_and_nothing_is_missing) {
  const Sim sim;
  Client client(sim);
  const std::string body = R"({"model":"m1","prompt":"x","stream":true,"max_tokens":5})";
  const auto begin = Clock::now();
  const Response response = client.post("/v1/completions", body, "stall=2;for=50ms");
  EXPECT_GE(Clock::now() - begin, std::chrono::milliseconds(50));
  EXPECT_EQ(events_of(response.body()).size(), 7U);
}

TEST(ServerFaults, latency_delays_any_answer) {
  const Sim sim;
  Client client(sim);
  const auto begin = Clock::now();
  client.send(http::verb::get, "/v1/models", {}, "latency=30ms");
  EXPECT_EQ(client.receive().result_int(), 200U);
  EXPECT_GE(Clock::now() - begin, std::chrono::milliseconds(30));
}

TEST(ServerFaults, rules_are_set_counted_and_cleared) {
  const Sim sim;
  Client client(sim);
  EXPECT_EQ(
      client.post("/sim/faults", R"({"faults":[{"fault":"status=500","count":1,"path":"/health"}]})").result_int(),
      200U);
  EXPECT_EQ(client.get("/sim/faults")["faults"][0]["count"], 1);
  client.send(http::verb::get, "/health", {});
  EXPECT_EQ(client.receive().result_int(), 500U);
  client.send(http::verb::get, "/health", {});
  EXPECT_EQ(client.receive().result_int(), 200U);
  EXPECT_TRUE(Json::parse(client.post("/sim/reset", "").body()).contains("requests"));
  EXPECT_TRUE(client.get("/sim/faults")["faults"].empty());
}

TEST(ServerFaults, a_wrong_rule_changes_nothing) {
  const Sim sim;
  Client client(sim);
  for (const char* body :
       {R"({"faults":[{"fault":"stat=5"}],"slowness":3})", R"({"slownes":3})", R"({"slowness":0})", "[",
        R"({"faults":[{"probability":1}],"slowness":3})", R"({"cold_start":{"factor":3,"for":"5"}})"}) {
    EXPECT_EQ(client.post("/sim/faults", body).result_int(), 400U) << body;
  }
  EXPECT_EQ(client.get("/sim/stats")["engine"]["slowness"], 1.0);
  client.post("/sim/faults", R"({"slowness":3,"cold_start":{"factor":2,"for":"1000m"}})");
  EXPECT_NEAR(client.get("/sim/stats")["engine"]["slowness"].get<double>(), 6, 0.1);
}

TEST(ServerWebSocket, messages_come_back_as_they_went) {
  const Sim sim;
  Client client(sim);
  beast::websocket::stream<tcp::socket&> stream(client.socket());
  beast::websocket::permessage_deflate deflate;
  deflate.client_enable = true;
  stream.set_option(deflate);
  stream.set_option(beast::websocket::stream_base::decorator([](beast::websocket::request_type& request) {
    request.set(http::field::sec_websocket_protocol, "realtime, openai-insecure-api-key.x");
  }));
  beast::websocket::response_type response;
  stream.handshake(response, "sim", "/v1/realtime?model=m1");
  EXPECT_EQ(response[http::field::sec_websocket_protocol], "realtime");
  EXPECT_NE(response[http::field::sec_websocket_extensions].find("permessage-deflate"), beast::string_view::npos);
  for (const bool binary : {false, true}) {
    const std::string message(100000, binary ? '\xff' : 'a');
    stream.binary(binary);
    stream.write(asio::buffer(message));
    beast::flat_buffer buffer;
    stream.read(buffer);
    EXPECT_EQ(stream.got_binary(), binary);
    EXPECT_EQ(beast::buffers_to_string(buffer.data()), message);
  }
  stream.close({beast::websocket::close_code(4001), "enough"});
  EXPECT_EQ(stream.reason().code, 4001);
}

TEST(ServerWebSocket, without_an_upgrade_it_is_426) {
  const Sim sim;
  Client client(sim);
  client.send(http::verb::get, "/v1/realtime", {});
  EXPECT_EQ(client.receive().result_int(), 426U);
}

}  // namespace
}  // namespace brink::sim
