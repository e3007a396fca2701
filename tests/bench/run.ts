import { benchTransfer } from './transfer.bench.ts';

const say = (line: string) => void process.stdout.write(`${line}\n`);

await benchTransfer(say);
