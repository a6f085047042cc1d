// Keeps the local model's server, brink-model, running beside this process: starts it, watches it, restarts it with a
// growing pause when it ends, and kills it when it stops answering. To the rest it is an endpoint of a cluster like any
// other, on a Unix socket. Control thread only; nothing of the model's process is ever waited for.
#pragma once

#include <sys/types.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "conf/config.hpp"

namespace brink {

class LocalModel {
 public:
  static constexpr std::string_view cluster_name = "local_model";

  // Starts it. Throws std::system_error if there can be no folder for its socket.
  LocalModel(boost::asio::io_context& context, const conf::LocalModelConfig& config);
  ~LocalModel();  // ends it: SIGTERM, and SIGKILL if that is not enough
  LocalModel(const LocalModel&) = delete;
  LocalModel& operator=(const LocalModel&) = delete;

  const std::string& socket() const { return socket_; }
  struct View {
    std::string state;  // starting, ready, waiting (to be started again)
    pid_t pid = 0;      // 0: none runs
    unsigned starts = 0;
    std::string last_exit;  // empty: it has never ended
  };
  View view() const;

  // The cluster that answers for `local_model`: the server on `socket`, or the one that `url` names.
  static conf::ClusterConfig cluster(const conf::LocalModelConfig& config, const std::string& socket);

 private:
  using Clock = std::chrono::steady_clock;

  std::vector<std::string> arguments() const;
  void start();
  void read_output();
  void take_output(std::size_t size);
  void watch();
  void ended();
  void retry();
  void probe();
  void probed(bool answered, bool ready);
  void kill_it(const std::string& why);

  class Probe;

  boost::asio::io_context& context_;
  const conf::LocalModelConfig config_;
  std::string folder_;
  std::string socket_;
  pid_t pid_ = 0;
  boost::asio::posix::stream_descriptor ended_;   // a pidfd
  boost::asio::posix::stream_descriptor output_;  // of its standard output and error
  std::array<char, 4096> buffer_{};
  std::string line_;
  boost::asio::steady_timer restart_;
  boost::asio::steady_timer probe_timer_;
  std::shared_ptr<Probe> probe_;
  std::chrono::milliseconds pause_{};  // before the next start
  Clock::time_point started_{};
  bool ready_ = false;
  unsigned silent_ = 0;  // probes in a row without an answer
  unsigned starts_ = 0;
  std::string last_exit_;
};

}  // namespace brink
