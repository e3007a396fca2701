import { benchContacts } from './contacts.bench.ts';
import { benchExport } from './export.bench.ts';
import { benchPst } from './pst.bench.ts';
import { benchEngine } from './engine.bench.ts';
import { benchTransport } from './transport.bench.ts';

const say = (line: string) => void process.stdout.write(`${line}\n`);

await benchTransport(say);
await benchContacts(say);
await benchEngine(say);
await benchExport(say);
await benchPst(say);
