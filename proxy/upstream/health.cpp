#include "proxy/upstream/health.hpp"

#include "proxy/http/head.hpp"
#include "proxy/upstream/pool.hpp"

namespace brink::upstream {

using boost::intrusive_ptr;
using Status = net::IoResult::Status;

namespace {
constexpr http::Limits head_limits{16 * 1024, 256, 0};
}

// One endpoint's check: a fresh connection each time, so that it tests what a new client would meet.
class HealthChecker::Probe final : public boost::intrusive_ref_counter<Probe, boost::thread_unsafe_counter>,
                                   public Connection::Owner {
 public:
  Probe(HealthChecker& checker, const Cluster& cluster, const Endpoint& endpoint)
      : checker_(&checker),
        cluster_(cluster.config->name),
        config_(*cluster.config->health_check),
        host_(endpoint.config->path.empty() ? endpoint.config->name() : "localhost"),
        state_(endpoint.state),
        addresses_(endpoint.addresses),
        pool_(std::make_shared<Pool>(checker.loop_, checker.shard_, std::make_shared<ClusterLoad>())),
        timer_([](void* self) { static_cast<Probe*>(self)->on_timer(); }, this) {}

  const router::EndpointState* state() const { return state_.get(); }
  const std::string& cluster() const { return cluster_; }

  void start(const Probe* before) {
    if (before != nullptr) {
      successes_ = before->successes_;
      failures_ = before->failures_;
    }
    begin();
  }

  void stop() {
    stopped_ = true;
    timer_.cancel();
    if (connection_) connection_->close();
    connection_.reset();
  }

  void on_connected(boost::system::error_code error) override {
    if (error) return verdict(false, error.message());
    const std::string request = "GET " + config_.path + " HTTP/1.1\r\nhost: " + host_ +
                                "\r\nuser-agent: brink-health\r\nconnection: close\r\n\r\n";
    // The first bytes on a new socket: they fit its send buffer.
    if (connection_->out.send(connection_->socket, request, {}, {}) != net::Outbox::Result::done) {
      return verdict(false, "the request could not be sent");
    }
    connection_->arm_read();
  }

  void on_upstream_readable() override {
    if (!buffer_) buffer_ = checker_->loop_.buffers.get(net::BufferPool::medium);
    const net::IoResult result = connection_->socket.read(buffer_.data() + size_, buffer_.capacity() - size_);
    if (result.status == Status::again) return connection_->arm_read();
    if (result.status != Status::ok) return verdict(false, "the connection closed before an answer");
    size_ += result.size;
    http::ResponseHead head;
    const http::ParseResult parsed = http::parse_response({buffer_.data(), size_}, head_limits, false, head);
    if (parsed.error != http::HeadError::ok) return verdict(false, parsed.what);
    if (parsed.size == 0) {
      if (size_ == buffer_.capacity()) return verdict(false, "the head is too large");
      return connection_->arm_read();
    }
    verdict(head.status >= 200 && head.status < 300, "status " + std::to_string(head.status));
  }

  void on_upstream_writable() override {}

 private:
  void begin() {
    const AddressBook::Answer answer = addresses_->get();
    if (answer.addresses.empty()) return verdict(false, answer.error);
    size_ = 0;
    connection_ = pool_->open(1);
    connection_->set_owner(this);
    connection_->connect(answer.addresses.front());
    timer_.set(checker_->loop_.wheel, net::Clock::now() + config_.timeout);
  }

  void on_timer() {
    const intrusive_ptr<Probe> self(this);
    if (stopped_) return;
    if (connection_) return verdict(false, "no answer in time");
    begin();
  }

  void verdict(bool ok, const std::string& why) {
    const intrusive_ptr<Probe> self(this);
    if (connection_) connection_->close();
    connection_.reset();
    buffer_.reset();
    successes_ = ok ? successes_ + 1 : 0;
    failures_ = ok ? 0 : failures_ + 1;
    const bool was = state_->healthy.load(std::memory_order_relaxed);
    if (was && failures_ >= config_.unhealthy_after) change(false, why);
    if (!was && successes_ >= config_.healthy_after) change(true, why);
    if (!stopped_) timer_.set(checker_->loop_.wheel, net::Clock::now() + config_.interval);
  }

  void change(bool healthy, const std::string& why) {
    if (healthy) state_->ejection.came_back(net::Clock::now());
    state_->healthy.store(healthy, std::memory_order_relaxed);
    checker_->report_("endpoint " + state_->name + " of cluster " + cluster_ +
                          (healthy ? " is healthy" : " is unhealthy: ") + (healthy ? std::string() : why),
                      healthy);
  }

  HealthChecker* checker_;
  const std::string cluster_;
  const conf::HealthCheckConfig config_;
  const std::string host_;
  const std::shared_ptr<router::EndpointState> state_;
  const std::shared_ptr<AddressBook> addresses_;
  const std::shared_ptr<Pool> pool_;
  net::Timer timer_;
  intrusive_ptr<Connection> connection_;
  net::Buffer buffer_;
  std::size_t size_ = 0;
  unsigned successes_ = 0;
  unsigned failures_ = 0;
  bool stopped_ = false;
};

HealthChecker::HealthChecker(net::Loop& loop, observe::Shard& shard, Report report)
    : loop_(loop), shard_(shard), report_(std::move(report)) {}

HealthChecker::~HealthChecker() { stop(); }

void HealthChecker::use(std::shared_ptr<const Snapshot> snapshot) {
  std::vector<intrusive_ptr<Probe>> before = std::move(probes_);
  probes_.clear();
  for (const auto& probe : before) probe->stop();
  for (const Cluster& cluster : snapshot->clusters) {
    for (const Endpoint& endpoint : cluster.endpoints) {
      if (!cluster.config->health_check) {
        endpoint.state->healthy.store(true, std::memory_order_relaxed);
        continue;
      }
      const Probe* known = nullptr;
      for (const auto& probe : before) {
        if (probe->state() == endpoint.state.get() && probe->cluster() == cluster.config->name) known = probe.get();
      }
      probes_.emplace_back(new Probe(*this, cluster, endpoint));
      probes_.back()->start(known);
    }
  }
  snapshot_ = std::move(snapshot);
}

void HealthChecker::stop() {
  for (const auto& probe : probes_) probe->stop();
  probes_.clear();
}

}  // namespace brink::upstream
