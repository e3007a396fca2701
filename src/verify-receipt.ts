import { readFileSync } from 'node:fs';
import { EXIT, exitWith } from './exit.ts';
import { checkReceipt, ReceiptError } from './server/receipt/check-receipt.ts';

/** `npm run verify-receipt -- FILE KEY`: checks a receipt against the public key in a file, without asking anybody. */
const [file, key] = process.argv.slice(2);
if (file === undefined || key === undefined)
  exitWith(
    'Name the receipt and the file of the public key. Example: npm run verify-receipt -- receipt.csv transfer-receipt-key.pem',
    EXIT.usage,
  );

try {
  const { statement, signed, isListChecked } = checkReceipt(contentOf(file), contentOf(key));
  // A page can hide what is signed, and show something else in its place.
  const [what, more] = isListChecked
    ? ['the sums and every line', '']
    : ['what is printed here, whatever the page shows', `${signed}\n`];
  process.stdout.write(
    `Genuine: ${what}. Transfer ${statement.transfer} from ${statement.from} to ${statement.to}, ${statement.lines} lines.\n${more}`,
  );
} catch (error) {
  if (error instanceof ReceiptError) exitWith(error.message, 1);
  throw error;
}

function contentOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    return exitWith(`${path} can't be read (${(error as NodeJS.ErrnoException).code ?? 'unknown error'}).`, 1);
  }
}
