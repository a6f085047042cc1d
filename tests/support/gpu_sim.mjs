// The simulated GPU engine of tests/sim, as a backend: started on a free port, its counters read, its faults set.
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
