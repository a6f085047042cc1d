#include "proxy/upstream/pool.hpp"

#include <algorithm>

namespace brink::upstream {

using boost::intrusive_ptr;

Connection::Connection(std::shared_ptr<Pool> pool, net::Loop& loop)
    : socket(loop.context),
      pool_(std::move(pool)),
      idle_timer_(
          [](void* self) {
            auto& connection = *static_cast<Connection*>(self);
            connection.pool_->expire(connection);
          },
          this) {
  pool_->load_->connections.fetch_add(1, std::memory_order_relaxed);
}

Connection::~Connection() { close(); }

void Connection::connect(const Address& address) {
  socket.close();
  socket.native().async_connect(address, [self = intrusive_ptr<Connection>(this)](boost::system::error_code error) {
    if (self->owner_ == nullptr) return;
    if (!error) self->socket.connected(error);
    self->owner_->on_connected(error);
  });
}

void Connection::arm_read() {
  if (read_armed_ || !socket.is_open()) return;
  read_armed_ = true;
  socket.wait_read(*this);
}

void Connection::on_readable(boost::system::error_code error) {
  read_armed_ = false;
  if (owner_ != nullptr) {
    owner_->on_upstream_readable();
  } else if (idle_ && !error) {
    pool_->forget(*this);  // closed by the peer, or it speaks unasked
    close();
  }
}

void Connection::arm_write() {
  socket.wait_write([self = intrusive_ptr<Connection>(this)](boost::system::error_code) {
    if (self->owner_ != nullptr) self->owner_->on_upstream_writable();
  });
}

void Connection::close() {
  owner_ = nullptr;
  idle_timer_.cancel();
  socket.close();
  out.clear();
  if (counted_) pool_->load_->connections.fetch_sub(1, std::memory_order_relaxed);
  counted_ = false;
}

Pool::Pool(net::Loop& loop, observe::Shard& shard, std::shared_ptr<ClusterLoad> load)
    : loop_(loop), shard_(shard), load_(std::move(load)) {}

Pool::~Pool() = default;

intrusive_ptr<Connection> Pool::take() {
  while (!idle_.empty()) {
    intrusive_ptr<Connection> connection = std::move(idle_.back());
    idle_.pop_back();
    shard_.change(observe::Gauge::idle_upstream, -1);
    connection->idle_ = false;
    connection->idle_timer_.cancel();
    if (connection->socket.quiet()) return connection;
    shard_.add(observe::Counter::upstream_stale);
    connection->close();
  }
  return nullptr;
}

intrusive_ptr<Connection> Pool::open(std::uint32_t max_connections) {
  if (load_->connections.load(std::memory_order_relaxed) >= max_connections) return nullptr;
  return new Connection(shared_from_this(), loop_);
}

void Pool::put(intrusive_ptr<Connection> connection, net::Time now) {
  connection->set_owner(nullptr);
  if (keep_alive_.connections == 0) return connection->close();
  if (idle_.size() >= keep_alive_.connections) drop_one_idle();
  connection->idle_ = true;
  connection->idle_timer_.set(loop_.wheel, now + keep_alive_.idle);
  connection->arm_read();
  idle_.push_back(std::move(connection));
  shard_.change(observe::Gauge::idle_upstream, 1);
}

bool Pool::drop_one_idle() {
  if (idle_.empty()) return false;
  const intrusive_ptr<Connection> oldest = idle_.front();
  forget(*oldest);
  oldest->close();
  return true;
}

void Pool::close_idle() {
  while (drop_one_idle()) {
  }
}

void Pool::forget(Connection& connection) {
  const auto found = std::find(idle_.begin(), idle_.end(), &connection);
  if (found == idle_.end()) return;
  connection.idle_ = false;
  idle_.erase(found);
  shard_.change(observe::Gauge::idle_upstream, -1);
}

void Pool::expire(Connection& connection) {
  const intrusive_ptr<Connection> self(&connection);
  forget(connection);
  connection.close();
}

}  // namespace brink::upstream
