import { readFileSync } from 'node:fs';
import { checkReceipt, ReceiptError } from './server/receipt/check-receipt.ts';

/** `npm run verify-receipt -- FILE KEY`: checks a receipt against the public key in a file, without asking anybody. */
const [file, key] = process.argv.slice(2);
if (file === undefined || key === undefined)
  stop(
    'Name the receipt and the file of the public key. Example: npm run verify-receipt -- receipt.csv transfer-receipt-key.pem',
    64,
  );

try {
  const { statement, isListChecked } = checkReceipt(readFileSync(file, 'utf8'), readFileSync(key, 'utf8'));
  const what = isListChecked
    ? 'the sums and every line'
    : 'what stands below “Signature”; the page above it was not checked';
  process.stdout.write(
    `Genuine: ${what}. Transfer ${statement.transfer} from ${statement.from} to ${statement.to}, ${statement.lines} lines.\n`,
  );
} catch (error) {
  if (error instanceof ReceiptError || (error as NodeJS.ErrnoException).syscall !== undefined)
    stop((error as Error).message, 1);
  throw error;
}

function stop(message: string, code: number): never {
  process.stderr.write(`${message}\n`);
  process.exit(code);
}
