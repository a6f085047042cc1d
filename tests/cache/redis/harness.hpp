// What the tests of the Redis tier share: the loop that waits, real servers as processes of their own, and a server in
// this process that answers as a test wants.
#pragma once

#include <gtest/gtest.h>
#include <hiredis/hiredis.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "cache/redis/client.hpp"
#include "cache/redis/resp.hpp"

namespace brink::cache::redis::test {

using namespace std::chrono_literals;
namespace asio = boost::asio;

constexpr auto limit = 20s;  // for what happens soon, on any machine

// Runs the loop until `done`. False: it did not happen.
inline bool run_until(asio::io_context& context, const std::function<bool()>& done) {
  const Time end = Clock::now() + limit;
  while (!done()) {
    if (Clock::now() > end) return false;
    context.restart();
    context.run_one_for(20ms);
  }
  return true;
}

// The result of one command.
struct Outcome {
  bool called = false;
  Result result;
  Callback callback() {
    return [this](Result&& got) {
      EXPECT_FALSE(called);
      called = true;
      result = std::move(got);
    };
  }
};

inline std::uint16_t free_port() {
  asio::io_context context;
  asio::ip::tcp::acceptor acceptor(context, {asio::ip::address_v4::loopback(), 0});
  return acceptor.local_endpoint().port();
}

inline bool installed(const char* program) { return ::access(program, X_OK) == 0; }
constexpr const char* redis_server = "/usr/bin/redis-server";

// A directory that ends with the test.
class TempDir {
 public:
  TempDir() {
    std::string path = (std::filesystem::temp_directory_path() / "brink_redis_XXXXXX").string();
    path_ = ::mkdtemp(path.data()) == nullptr ? "" : path;
    EXPECT_NE(path_, "");
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

class Process {
 public:
  explicit Process(std::vector<std::string> args) {
    std::vector<char*> pointers;
    for (std::string& arg : args) pointers.push_back(arg.data());
    pointers.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // does not outlive a test that crashes
      if (::freopen("/dev/null", "w", stdout) == nullptr || ::freopen("/dev/null", "w", stderr) == nullptr)
        ::_exit(126);
      ::execv(pointers[0], pointers.data());
      ::_exit(127);
    }
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() { end(); }

  void signal(int number) const { ::kill(pid_, number); }
  int wait() {
    int status = 0;
    ::waitpid(std::exchange(pid_, -1), &status, 0);
    return status;
  }
  void end() {
    if (pid_ <= 0) return;
    signal(SIGKILL);
    wait();
  }

 private:
  pid_t pid_ = -1;
};

inline std::string text_of(const redisReply& reply) {
  if (reply.type == REDIS_REPLY_INTEGER) return std::to_string(reply.integer);
  if (reply.type == REDIS_REPLY_NIL) return "(nil)";
  std::string all = reply.str != nullptr ? std::string(reply.str, reply.len) : "";
  for (std::size_t i = 0; i < reply.elements; ++i) all += text_of(*reply.element[i]) + "\n";
  return all;
}

// The reply's text, blocking: "" without a connection, an integer as text, an array's items one a line.
inline std::string ask_port(std::uint16_t port, const std::vector<std::string>& args) {
  const timeval second{1, 0};
  const std::unique_ptr<redisContext, decltype(&redisFree)> context(redisConnectWithTimeout("127.0.0.1", port, second),
                                                                    &redisFree);
  if (!context || context->err != 0) return {};
  redisSetTimeout(context.get(), second);
  std::vector<const char*> data;
  std::vector<std::size_t> sizes;
  for (const std::string& arg : args) {
    data.push_back(arg.data());
    sizes.push_back(arg.size());
  }
  const std::unique_ptr<void, decltype(&freeReplyObject)> reply(
      redisCommandArgv(context.get(), static_cast<int>(args.size()), data.data(), sizes.data()), &freeReplyObject);
  return reply ? text_of(*static_cast<redisReply*>(reply.get())) : std::string();
}

// A redis-server on a loopback port; `more` are its options. Ready once constructed.
class Server {
 public:
  explicit Server(std::vector<std::string> more = {}, std::uint16_t at = free_port())
      : port(at), more_(std::move(more)) {
    start();
  }
  void start() {
    std::vector<std::string> args{
        redis_server, "--port", std::to_string(port), "--bind",      "127.0.0.1", "--save", "", "--appendonly",
        "no",         "--dir",  dir.file(""),         "--daemonize", "no"};
    args.insert(args.end(), more_.begin(), more_.end());
    process = std::make_unique<Process>(args);
    const Time end = Clock::now() + limit;
    while (ask({"PING"}).empty() && Clock::now() < end) std::this_thread::sleep_for(5ms);
  }
  void stop() { process->end(); }

  std::string ask(const std::vector<std::string>& args) const { return ask_port(port, args); }
  // Asks until the answer holds `part`.
  bool ask_until(const std::vector<std::string>& args, std::string_view part) const {
    const Time end = Clock::now() + limit;
    while (Clock::now() < end) {
      if (ask(args).find(part) != std::string::npos) return true;
      std::this_thread::sleep_for(10ms);
    }
    return false;
  }
  Node node() const { return {"127.0.0.1", port}; }

  const std::uint16_t port;
  TempDir dir;
  std::unique_ptr<Process> process;

 private:
  const std::vector<std::string> more_;
};

// Speaks RESP on a loopback port in the loop of the test. PING is answered, all else by `answer`.
class FakeServer {
 public:
  using Args = std::vector<std::string>;
  static constexpr std::string_view cut = "<cut>";  // as an answer: closes the connection

  explicit FakeServer(asio::io_context& context, std::function<std::string(const Args&)> how)
      : answer(std::move(how)), acceptor_(context, {asio::ip::address_v4::loopback(), 0}) {
    accept();
  }
  std::uint16_t port() const { return acceptor_.local_endpoint().port(); }
  void say(std::string_view bytes) const {  // to all
    boost::system::error_code ignored;
    for (const auto& session : sessions_) asio::write(session->socket, asio::buffer(bytes), ignored);
  }

  std::function<std::string(const Args&)> answer;
  bool answers_ping = true;
  int accepted = 0;
  std::vector<Args> heard;  // but PING

 private:
  struct Session {
    explicit Session(asio::ip::tcp::socket accepted) : socket(std::move(accepted)) {}
    asio::ip::tcp::socket socket;
    ReplyReader reader{1U << 26};
    std::array<char, 4096> input{};
  };
  void accept() {
    acceptor_.async_accept([this](const boost::system::error_code& error, asio::ip::tcp::socket socket) {
      if (error) return;
      ++accepted;
      sessions_.push_back(std::make_shared<Session>(std::move(socket)));
      read(sessions_.back());
      accept();
    });
  }
  void read(const std::shared_ptr<Session>& session) {
    session->socket.async_read_some(asio::buffer(session->input),
                                    [this, session](const boost::system::error_code& error, std::size_t size) {
                                      if (error) return;
                                      session->reader.feed({session->input.data(), size});
                                      while (auto command = session->reader.next()) handle(*session, *command);
                                      if (session->socket.is_open()) read(session);
                                    });
  }
  void handle(Session& session, const Reply& command) {
    Args args;
    for (const Reply& part : command.elements) args.push_back(part.text);
    const bool ping = !args.empty() && args[0] == "PING";
    if (!ping) heard.push_back(args);
    const std::string bytes = ping ? (answers_ping ? "+PONG\r\n" : "") : answer(args);
    boost::system::error_code ignored;
    if (bytes == cut) {
      session.socket.close(ignored);
    } else {
      asio::write(session.socket, asio::buffer(bytes), ignored);
    }
  }

  asio::ip::tcp::acceptor acceptor_;
  std::vector<std::shared_ptr<Session>> sessions_;
};

inline Options options_for(std::uint16_t port, std::chrono::milliseconds timeout) {
  Options options;
  options.nodes = {{"127.0.0.1", port}};
  options.timeout = timeout;
  options.connect_timeout = 10s;
  return options;
}

}  // namespace brink::cache::redis::test
