import { scenarioOf } from '/work/wt/simulation/tests/simulation/scenario.ts';
import { simulate } from '/work/wt/simulation/tests/simulation/simulate.ts';
const [from, to, trace] = process.argv.slice(2);
const start = process.cpuUsage();
let bad = 0; const kinds = new Map<string, number>();
for (let seed = Number(from); seed <= Number(to ?? from); seed++) {
  const scenario = scenarioOf(seed);
  const t = performance.now();
  const out = await simulate(scenario, { keepsTrace: trace !== undefined });
  const ms = performance.now() - t;
  if (trace === undefined && ms > 1500) console.log(`seed ${seed} took ${Math.round(ms)} ms ${out.events} events`);
  for (const r of out.receipts) kinds.set(r.status + ' ' + (r.failure ?? ''), (kinds.get(r.status + ' ' + (r.failure ?? '')) ?? 0) + 1);
  if (out.wrong.length > 0) { bad++; console.log(seed, JSON.stringify(out.wrong.slice(0, 4)).slice(0, 700), JSON.stringify(out.receipts).slice(0, 300)); }
  if (trace !== undefined) { console.log(JSON.stringify(scenario)); console.log(out.trace.slice(-Number(trace)).join('\n')); console.log(out.wrong.join('\n')); console.log(out.digest, out.receipts); }
}
const cpu = process.cpuUsage(start);
console.log(`${bad} bad; CPU ${((cpu.user + cpu.system) / 1e6).toFixed(1)} s`, kinds);
process.exit(0);
