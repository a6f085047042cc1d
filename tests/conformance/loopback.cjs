// Loaded before the suite's origin server, which would listen on every interface: it gets loopback only.
'use strict';
const {Server} = require('node:net');

const listen = Server.prototype.listen;
Server.prototype.listen = function(port) {
  return listen.call(this, {port: Number(port), host: '127.0.0.1'});
};
