import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startMailServer } from '../../src/sandbox/mail-server.ts';
import { startWorker } from '../../src/server/worker/worker.ts';
import { DOVECOT_PASSWORD, startDovecot } from '../support/dovecot.ts';
import { openMailClient } from '../support/mail-client.ts';
import { differenceOf } from '../support/mail-comparison.ts';
import { letter } from '../support/mail-letters.ts';
import { needs } from '../support/needs.ts';
import { isPage, OauthBrowser } from '../support/oauth-browser.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { mailUntil } from '../support/transfer-world.ts';
import { LEGACY_DOMAIN, openWebWorld } from '../support/web-world.ts';

const ANN = `ann@${LEGACY_DOMAIN}`;
const FOLDERS = ['INBOX', 'One', 'Two', 'Three'];
const MESSAGES_A_FOLDER = 30;
const MESSAGES = FOLDERS.length * MESSAGES_A_FOLDER;
/** The counts of copied groups at which the provider's tokens end. */
const ENDS = [1, 2, 3];
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

describe('a transfer whose access tokens end while four connections copy', needs('dovecot'), () => {
  /** `advance`: what of it the portal's own clock shows. */
  test.each([
    { how: 'when their time is over', advance: HOUR_MS },
    { how: 'before their time, as a provider may decide', advance: MINUTE_MS },
  ])(
    'refreshes once for each end at most $how, ends complete, and has the consent revoked',
    async ({ advance }) => {
      const stack = new AsyncDisposableStack();
      onTestFinished(() => stack.disposeAsync());
      const folder = await mkdtemp(join(tmpdir(), 'tokens-'));
      stack.defer(() => rm(folder, { recursive: true, force: true }));
      const source = stack.use(await startDovecot());
      {
        await using mail = await openMailClient(source.port, ANN, DOVECOT_PASSWORD);
        for (const name of FOLDERS) {
          if (name !== 'INBOX') await mail.create(name);
          const letters = Array.from({ length: MESSAGES_A_FOLDER }, (_, at) =>
            letter(at + FOLDERS.indexOf(name) * 100),
          );
          await mail.append(name, letters);
        }
      }
      let issued: readonly string[] = [];
      let firstGood = 0;
      const refused: string[] = [];
      const takes = (token: string): boolean => {
        const good = issued.indexOf(token) >= firstGood;
        if (!good) refused.push(token);
        return good;
      };
      const destination = stack.use(
        await startMailServer({
          greeting: 'Ready',
          delimiter: '/',
          folder: join(folder, 'mail'),
          port: 0,
          seed: () => [{ name: 'INBOX' }],
          door: {
            password: (_email, password) => password === DOVECOT_PASSWORD,
            token: (_email, token) => takes(token),
          },
        }),
      );
      const proxy = stack.use(await startTcpProxy(destination.port));
      const world = stack.use(
        await openWebWorld({
          providers: ['google'],
          environment: {
            LEGACY_IMAP_URL: source.url,
            GOOGLE_IMAP_URL: `imap://127.0.0.1:${proxy.port}`,
            TRUSTED_MAIL_HOSTS: '127.0.0.1',
          },
        }),
      );
      const { google } = world.providers;
      if (google === undefined) throw new Error('Google was not started.');
      google.person.email = ANN;
      issued = google.accessTokens;
      const browser = new OauthBrowser(world);
      const page = await browser.until('/api/oauth/?provider=google', isPage);
      const order = {
        source_account: { email: ANN, password: DOVECOT_PASSWORD, provider: 'sanbruno' },
        destination_account: { email: ANN, provider: 'google', token_id: page.searchParams.get('token_id') },
        operations: ['emailmigration'],
        parameters: {},
      };
      const { body } = await world.post('/api/load/', order, browser.headers);
      const { jobid } = body as { jobid: string };
      google.tokenRequests.length = 0;
      let copied = 0;
      const cut: number[] = [];
      stack.use(
        await startWorker({
          ...world.services,
          safe: world.safe,
          queue: world.queue,
          discover: () => Promise.resolve(null),
          pause: async () => {},
          onStep: (step) => {
            if (step !== 'appended') return;
            copied += 1;
            if (!ENDS.includes(copied)) return;
            firstGood = google.accessTokens.length;
            world.advance(advance);
            const before = proxy.resets;
            proxy.resetAll();
            cut.push(proxy.resets - before);
          },
        }),
      );
      expect(await mailUntil(world.services.transfers, jobid)).toMatchObject({
        status: 'completed',
        done: MESSAGES,
        lost: 0,
        duplicated: 0,
        changed: 0,
      });
      // Some end meets several connections at once; one that follows it closely may meet none.
      expect(cut.length).toBe(ENDS.length);
      expect(Math.max(...cut)).toBeGreaterThanOrEqual(2);
      expect(proxy.resets).toBeGreaterThan(ENDS.length);
      // Once for an end at most, however many connections meet it; the last end may find nobody who signs in again.
      const grants = google.tokenRequests.map((request) => request.get('grant_type'));
      expect(new Set(grants)).toEqual(new Set(['refresh_token']));
      expect(grants.length).toBeLessThanOrEqual(ENDS.length);
      expect(grants.length).toBeGreaterThanOrEqual(ENDS.length - 1);
      // Where our own clock knows of the end, only a sign-in that was under way can show a bad token.
      const [least, most] = advance === HOUR_MS ? [0, ENDS.length] : [ENDS.length - 1, Infinity];
      expect(refused.length).toBeGreaterThanOrEqual(least);
      expect(refused.length).toBeLessThanOrEqual(most);

      const account = { user: ANN, password: DOVECOT_PASSWORD };
      const difference = await differenceOf({ ...account, port: source.port }, { ...account, port: destination.port });
      expect(difference).toEqual({ messages: MESSAGES, lost: [], duplicated: [], changed: [] });
      await expect.poll(() => google.revocations.map((each) => each.get('token_type_hint'))).toEqual(['refresh_token']);
      expect(await world.database.query('select 1 from oauth_tokens')).toEqual([]);
    },
    120_000,
  );
});
