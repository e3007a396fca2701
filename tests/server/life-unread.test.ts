import { expect, test } from 'vitest';
import { receiptAddress } from '../../src/contract/calls/receipt.ts';
import { SENTENCES } from '../../src/server/worker/sentences.ts';
import { openWorldOfTest, sentOn, whenEnded } from '../support/life-world.ts';
import { letter } from '../support/mail-letters.ts';
import { needs } from '../support/needs.ts';

const REASON =
  'We copied this folder, but the new mailbox does not let us read it any more, so we could not check all of it.';

test(
  'a folder that was copied and can’t be read any more is reported as not checked, on the page and in the receipt',
  { ...needs('dovecot'), tags: 'proof' },
  async () => {
    let isWritten = false;
    const world = await openWorldOfTest({
      dovecots: true,
      mail: { INBOX: [letter(0), letter(1), letter(2)], Family: [letter(3), letter(4)], Sent: [letter(5)] },
      // Family is written to, and opened no more; Sent takes nothing. Dovecot knows no commands of these names.
      change: (direction, part) => {
        if (direction !== 'to server') return part;
        const closed = { EXAMINE: 'EXHUMED', ...(isWritten ? { SELECT: 'SEVERE' } : {}) };
        for (const [command, unknown] of Object.entries(closed)) {
          const at = part.indexOf(`${command} "Family"`);
          if (at >= 0) part.write(unknown, at, 'latin1');
        }
        isWritten ||= part.includes('APPEND "Family"');
        const refused = part.indexOf('APPEND "Sent"');
        if (refused >= 0) part.write('REFUSE', refused, 'latin1');
        return part;
      },
    });
    const ordered = await world.order();
    await using _worker = await world.work();
    await sentOn(world, ordered);
    const mail = await whenEnded(world, ordered);
    expect(mail).toMatchObject({ status: 'review', done: 6, total: 6, lost: 0, duplicated: 0, changed: 0 });
    expect(mail.failure).toMatch(/^We could not copy or check 1 folder\. Nothing was deleted/);
    expect(SENTENCES.incomplete({ unlisted: 0, mailboxesLeft: 1, skipped: 0 })).toContain(
      'We could not copy or check 1 folder. We copied all the other mail that we were given.',
    );
    expect(mail.skipped).toEqual([
      { mailbox: 'Family', reason: REASON },
      { mailbox: 'Sent', subject: 'Letter 5', reason: 'The new mailbox did not accept the message.' },
    ]);

    const receipt = async () => {
      const { body } = await world.web.get(receiptAddress(ordered.id, 'json'), ordered.headers);
      return body as { items: Record<string, unknown>[]; how_compared: string };
    };
    const { items, how_compared } = await receipt();
    expect(how_compared).toContain('3 of 5 copied messages');
    const told = items.map(({ folder, fate, note }) => ({ folder, fate, note }));
    // Folders come in the order in which they were begun.
    expect(
      told.filter(({ fate }) => fate !== 'refused').toSorted((a, b) => (String(a.folder) < String(b.folder) ? 1 : -1)),
    ).toEqual([
      ...Array.from({ length: 3 }, () => ({ folder: 'INBOX', fate: 'copied', note: '' })),
      ...Array.from({ length: 2 }, () => ({
        folder: 'Family',
        fate: 'copied',
        note: 'We did not read it back to compare it.',
      })),
    ]);
    // As it is of messages that were sent with another date, or another end, than their own.
    await world.web.database.query("update ledger set fate = 'kept' where reason is null and not verified");
    expect((await receipt()).items.filter(({ fate }) => fate === 'kept')).toEqual(
      Array.from({ length: 2 }, () =>
        expect.objectContaining({ folder: 'Family', note: 'We did not read it back to compare it.' }),
      ),
    );
    await using there = await world.destinationMail();
    expect(await there.command('STATUS Family (MESSAGES)')).toEqual(['* STATUS Family (MESSAGES 2)']);
  },
);
