import { benchContacts } from './contacts.bench.ts';
import { benchExport } from './export.bench.ts';
import { benchFleet } from './fleet.bench.ts';
import { benchPst } from './pst.bench.ts';
import { benchEngine } from './engine.bench.ts';
import { benchTransport } from './transport.bench.ts';

const BENCHES = {
  transport: benchTransport,
  contacts: benchContacts,
  engine: benchEngine,
  fleet: benchFleet,
  export: benchExport,
  pst: benchPst,
};

const say = (line: string) => void process.stdout.write(`${line}\n`);
const wanted = process.argv.slice(2);
const unknown = wanted.find((name) => !Object.hasOwn(BENCHES, name));
if (unknown !== undefined) {
  process.stderr.write(`There is no bench ${unknown}, only ${Object.keys(BENCHES).join(', ')}.\n`);
  process.exit(64);
}
for (const [name, bench] of Object.entries(BENCHES)) if (wanted.length === 0 || wanted.includes(name)) await bench(say);
