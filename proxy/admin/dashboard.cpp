#include "proxy/admin/dashboard.hpp"

namespace brink::admin {

std::string_view dashboard_page() {
  // Text from outside goes in as textContent only, so that no name can become markup.
  return R"html(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Brink</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
  :root { color-scheme: light dark; }
  body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
  table { border-collapse: collapse; width: 100%; margin: .5rem 0 1.5rem; }
  th, td { text-align: right; padding: .25rem .6rem; border-bottom: 1px solid #8884; font-variant-numeric: tabular-nums; }
  th:first-child, td:first-child, .left { text-align: left; }
  .bad { color: #c22; font-weight: 600; }
  .figures { display: flex; flex-wrap: wrap; gap: .5rem 2rem; font-size: 1.1rem; }
  .figures b { font-size: 1.5rem; }
</style></head><body>
<h1>Brink <small id="state"></small></h1>
<p class="figures">
  <span><b id="rate">–</b> requests/s</span> <span><b id="flight">–</b> in flight</span>
  <span><b id="connections">–</b> client connections</span> <span><b id="tunnels">–</b> tunnels</span>
  <span><b id="memory">–</b> MiB</span>
</p>
<p>Cache: <span id="cache">–</span></p>
<h2>Clusters</h2><div id="clusters"></div>
<h2>Routes</h2><div id="routes"></div>
<p>As data: <a href="/clusters">/clusters</a> <a href="/routes">/routes</a> <a href="/cache">/cache</a> <a href="/config">/config</a>
  <a href="/metrics">/metrics</a> <a href="/healthz">/healthz</a> <a href="/readyz">/readyz</a></p>
<script>
  const at = (id) => document.getElementById(id);
  const shown = (value) => value === null ? '–' : typeof value === 'number' ? String(Math.round(value * 100) / 100) : value;
  function table(heads, rows) {
    const made = document.createElement('table');
    for (const [tag, cells] of [['th', heads], ...rows.map((row) => ['td', row])]) {
      const line = made.insertRow();
      for (const cell of cells) {
        const place = line.appendChild(document.createElement(tag));
        place.textContent = shown(cell);
        if (cell === 'down') place.className = 'bad';
      }
    }
    return made;
  }
  const json = async (path) => (await fetch(path)).json();
  function sum(text, name) {
    let total = 0;
    for (const line of text.split('\n')) {
      if (line.startsWith(name + ' ') || line.startsWith(name + '{')) total += Number(line.slice(line.lastIndexOf(' ')));
    }
    return total;
  }
  const mib = (bytes) => Math.round(bytes / 1048576) + ' MiB';
  function cacheText({hit_ratio, memory, flights, redis}) {
    const ratio = hit_ratio === null ? 'nothing asked of it' : Math.round(hit_ratio * 100) + ' % answered from it';
    const tier = redis === null ? 'no Redis' : redis.in_use ? 'Redis in use' : 'Redis not heard';
    return [ratio, memory.entries + ' entries, ' + mib(memory.bytes) + ' of ' + mib(memory.budget),
            flights.count + ' calls shared', tier].join('; ');
  }
  let last;
  async function refresh() {
    const [ready, clusters, routes, cache, metrics] = await Promise.all([
      json('/readyz'), json('/clusters'), json('/routes'), json('/cache'), fetch('/metrics').then((reply) => reply.text())]);
    at('state').textContent = ready.ready ? 'ready' : 'not ready: ' + ready.reason;
    at('clusters').replaceChildren(...clusters.clusters.flatMap((cluster) => [
      Object.assign(document.createElement('h3'), {textContent: cluster.name + ' (' + cluster.balance + ')'}),
      table(['endpoint', 'weight', 'health', 'in flight', 'waiting', 'requests', 'failures', 'first byte, ms'],
            cluster.endpoints.map((e) => [e.name, e.weight, e.healthy ? 'up' : 'down', e.in_flight, e.waiting, e.requests,
                                          e.failures, e.first_byte_ms]))]));
    at('routes').replaceChildren(table(['route', 'goes to', 'requests'], routes.routes.map((route) => [
      route.name, route.clusters.map((target) => target.name).join(', ') || 'fixed reply', route.requests])));
    at('cache').textContent = cacheText(cache);
    const now = {time: performance.now(), requests: sum(metrics, 'brink_requests_total')};
    if (last) at('rate').textContent = Math.round((now.requests - last.requests) / (now.time - last.time) * 1000);
    last = now;
    at('flight').textContent = sum(metrics, 'brink_requests_in_flight');
    at('connections').textContent = sum(metrics, 'brink_downstream_connections');
    at('tunnels').textContent = sum(metrics, 'brink_tunnels_open');
    at('memory').textContent = Math.round(sum(metrics, 'brink_resident_memory_bytes') / 1048576);
  }
  async function loop() {
    try { await refresh(); } catch (error) { at('state').textContent = 'no answer: ' + error.message; }
    setTimeout(loop, 2000);
  }
  loop();
</script></body></html>
)html";
}

}  // namespace brink::admin
