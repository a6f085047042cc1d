// The simulated GPU engine of tests/sim, as a backend: started on a free port, its counters read, its faults set.
import {strict as assert} from 'node:assert';

import {fetch_text} from './brink.mjs';
import {Program} from './process.mjs';
import {until} from './wait.mjs';

export class GpuSim {
  static async start(scope, args = []) {
    const sim = new GpuSim();
    sim.program = new Program('gpu-sim', ['--listen', '127.0.0.1:0', ...args]);
    scope.after(() => sim.stop());
    const [, port] = await sim.program.line(/listening on \S+:(\d+)/, {stream: 'stdout'});
    sim.port = Number(port);
    sim.url = `http://127.0.0.1:${port}`;
    return sim;
  }

  async stats() {
    return (await fetch_text({port: this.port, path: '/sim/stats'})).json;
  }

  // Counters to zero, faults away.
  async reset() {
    await this.post_('/sim/reset', {});
  }

  // Rules as docs/gpu-sim.md describes them; they replace those before.
  async set_faults(faults) {
    await this.post_('/sim/faults', {faults});
  }

  async post_(path, body) {
    const headers = {'content-type': 'application/json'};
    const answer = await fetch_text({port: this.port, path, method: 'POST', headers, body: JSON.stringify(body)});
    assert.equal(answer.status, 200, answer.text);
  }

  // Waits until the counters satisfy `wanted`.
  settled(wanted, what) {
    return until(async () => {
      const stats = await this.stats();
      return wanted(stats) && stats;
    }, what);
  }

  stop() {
    return this.program.stop();
  }
}
