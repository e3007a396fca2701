import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import { openHolds } from '../../src/server/mail/imap/hold.ts';
import { startWorker, type WorkerServices } from '../../src/server/worker/worker.ts';
import type { Environment } from '../../src/contract/settings.ts';
import type { OauthProvider } from '../../src/contract/provider.ts';
import type { TransferStatus } from '../../src/contract/calls/status.ts';
import { DOVECOT_PASSWORD, startDovecot, type Dovecot, type DovecotOptions } from './dovecot.ts';
import { FRESH, type TestAddress } from './fresh-database.ts';
import { HASTY_CLOCK } from './hasty-clock.ts';
import { openMailClient, type Letter, type MailClient } from './mail-client.ts';
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts';
import { LEGACY_DOMAIN, openWebWorld, type Answer, type WebWorld } from './web-world.ts';

export const ANN = `ann@${LEGACY_DOMAIN}`;
export const NEW_ANN = 'ann@mail.example';
export const PASSWORD = DOVECOT_PASSWORD;
/** A name that the world's name server resolves to this machine. */
export const HOST = 'imap.trusted.example';
const WITHIN_MS = 40_000;

type Mails = Readonly<Record<string, readonly Letter[]>>;

export type LifeWorld = AsyncDisposable & {
  readonly web: WebWorld;
  /** The proxy between the portal and the destination. */
  readonly proxy: TcpProxy;
  /** Orders the transfer in a browser. */
  readonly order: (changes?: {
    readonly parameters?: object;
    readonly destination?: object;
    readonly headers?: Record<string, string>;
    readonly operations?: readonly string[];
  }) => Promise<Ordered>;
  /** Runs a worker until it is disposed of; its pauses between two tries take no time. */
  readonly work: (services?: Partial<WorkerServices>) => Promise<AsyncDisposable>;
  readonly sourceMail: () => Promise<MailClient>;
  readonly destinationMail: () => Promise<MailClient>;
  /** Damages messages on the destination's disk; only with Dovecot. */
  readonly damageAtDestination: Dovecot['damage'];
};

/** `headers` are those of the browser that ordered it. */
export type Ordered = { readonly id: string; readonly headers: Record<string, string> };

type Options = {
  readonly mail?: Mails;
  readonly address?: TestAddress;
  readonly environment?: Environment;
  /** The key for sealing secrets; random by default. */
  readonly key?: Uint8Array;
  readonly sourceOptions?: DovecotOptions;
  readonly destinationOptions?: DovecotOptions;
  /** Uses two Dovecots; otherwise both mailboxes are on the world's own mail server, with the passwords in `web.passwords`. */
  readonly dovecots?: boolean;
  readonly providers?: readonly OauthProvider[];
  readonly takesToken?: (email: string, token: string) => boolean;
  readonly change?: NonNullable<Parameters<typeof startTcpProxy>[1]>['change'];
};

/** The whole product except its portal, and the mailboxes around it. */
export async function openLifeWorld(options: Options = {}): Promise<LifeWorld> {
  await using opening = new AsyncDisposableStack();
  const { dovecots = false, change, mail: mails = {}, environment, providers, takesToken } = options;
  const source = dovecots ? opening.use(await startDovecot(options.sourceOptions)) : null;
  const destination = dovecots ? opening.use(await startDovecot(options.destinationOptions)) : null;
  const web = opening.use(
    await openWebWorld({
      address: options.address ?? FRESH,
      ...(options.key === undefined ? {} : { key: options.key }),
      ...(providers === undefined ? {} : { providers }),
      ...(takesToken === undefined ? {} : { takesToken }),
      environment: {
        TRUSTED_MAIL_HOSTS: `127.0.0.1,${HOST}`,
        ...(source === null ? {} : { LEGACY_IMAP_URL: source.url }),
        ...environment,
      },
    }),
  );
  for (const email of [ANN, NEW_ANN]) web.passwords.set(email, PASSWORD);
  const sourcePort = Number(new URL(web.settings.legacyImapUrl ?? '').port);
  const destinationPort = destination?.port ?? Number(web.trustedImap.split(':')[1]);
  const proxy = opening.use(await startTcpProxy(destinationPort, change === undefined ? {} : { change, byLine: true }));
  const sourceMail = () => openMailClient(sourcePort, ANN, PASSWORD);
  {
    await using mail = await sourceMail();
    for (const [name, letters] of Object.entries(mails)) {
      if (name !== 'INBOX') await mail.create(name);
      await mail.append(name, letters);
    }
  }
  const lifetime = opening.move();
  return {
    web,
    proxy,
    sourceMail,
    destinationMail: () => openMailClient(destinationPort, NEW_ANN, PASSWORD),
    damageAtDestination: async (...given) => {
      if (destination === null) throw new Error('There is no Dovecot.');
      await destination.damage(...given);
    },
    order: async ({ parameters, destination: changes, headers, operations = ['emailmigration'] } = {}) => {
      const answer = await web.post(
        '/api/load/',
        {
          source_account: { email: ANN, password: PASSWORD, provider: 'sanbruno' },
          destination_account: { email: NEW_ANN, password: PASSWORD, provider: 'other', ...changes },
          operations,
          parameters: { destination_imap: `${HOST}:${proxy.port}`, ...parameters },
        },
        headers,
      );
      if (answer.status !== 200) throw new Error(`The order was answered ${answer.status}: ${answer.text}`);
      const cookie = headers?.['cookie'] ?? answer.headers.getSetCookie()[0]?.split(';')[0] ?? '';
      return { id: (answer.body as { jobid: string }).jobid, headers: { cookie } };
    },
    work: (services) => {
      const { settings, database, vault, log, tokens, exports, onUncheckedCertificate, transfers, resolver } =
        web.services;
      return startWorker({
        settings,
        database,
        vault,
        log,
        tokens,
        exports,
        onUncheckedCertificate,
        resolver,
        safe: web.safe,
        queue: web.queue,
        transfers,
        discover: async () => null,
        clock: HASTY_CLOCK,
        // A test sends on what would wait for minutes, and signs in within a second as often as others in an hour.
        holds: openHolds(services?.clock ?? HASTY_CLOCK, 0),
        ...services,
      });
    },
    [Symbol.asyncDispose]: () => lifetime.disposeAsync(),
  };
}

/** Opens a world that is closed at the end of the current test. */
export async function openWorldOfTest(options: Options = {}): Promise<LifeWorld> {
  const world = await openLifeWorld(options);
  onTestFinished(() => world[Symbol.asyncDispose]());
  return world;
}

/** Orders an export of the mail and the contacts in a browser. */
export async function orderExport({ web }: Pick<LifeWorld, 'web'>): Promise<Ordered> {
  const answer = await web.post('/api/load/', {
    source_account: { email: ANN, password: PASSWORD, provider: 'sanbruno' },
    destination_account: { email: 'ann@elsewhere.example', provider: 'file_export' },
    operations: ['emailmigration', 'contactsmigration'],
    parameters: {},
    file_export_parameters: { email_format: 'eml', contacts_format: 'vcf' },
  });
  if (answer.status !== 200) throw new Error(`The order was answered ${answer.status}: ${answer.text}`);
  return {
    id: (answer.body as { jobid: string }).jobid,
    headers: { cookie: answer.headers.getSetCookie()[0]?.split(';')[0] ?? '' },
  };
}

export async function statusOf({ web }: Pick<LifeWorld, 'web'>, { id, headers }: Ordered): Promise<TransferStatus> {
  return (await web.get(`/api/v2/status/?job_id=${id}`, headers)).body as TransferStatus;
}

export type MailStatus = NonNullable<TransferStatus['emailmigration']>;

/** Polls until the mail's status satisfies the condition. */
export async function mailWhen(
  world: Pick<LifeWorld, 'web'>,
  ordered: Ordered,
  isSo: (mail: MailStatus) => boolean,
): Promise<MailStatus> {
  let last: MailStatus | undefined;
  for (const until = Date.now() + WITHIN_MS; Date.now() < until; await wait(25)) {
    last = (await statusOf(world, ordered)).emailmigration;
    if (last !== undefined && isSo(last)) return last;
  }
  throw new Error(`The mail is still ${JSON.stringify(last)}.`);
}

const ended = ({ finished }: MailStatus): boolean => finished !== undefined;

/** Polls until the mail has ended, and then the transfer, whose end is recorded a moment later. */
export async function whenEnded(world: Pick<LifeWorld, 'web'>, ordered: Ordered): Promise<MailStatus> {
  const mail = await mailWhen(world, ordered, ended);
  for (const until = Date.now() + WITHIN_MS; Date.now() < until; await wait(25)) {
    const goingOn = 'select 1 from transfers where id = $1 and finished is null';
    if ((await world.web.database.query(goingOn, [ordered.id])).length === 0) return mail;
  }
  throw new Error('The mail has ended, and the transfer has not.');
}

/**
 * Makes a transfer continue whenever it waits, until its mail has ended or come to rest, or it has waited `most` times.
 * @returns the reason of each wait
 */
export async function sentOn(
  world: Pick<LifeWorld, 'web'>,
  ordered: Ordered,
  most = Infinity,
): Promise<readonly unknown[]> {
  const reasons: unknown[] = [];
  let before: string | undefined;
  for (; ; await wait(25)) {
    const mail = await mailWhen(world, ordered, (now) => now.waiting !== undefined || isOver(now));
    if (isOver(mail)) return reasons;
    const now = JSON.stringify(mail.waiting);
    if (now !== before) reasons.push(mail.waiting?.reason);
    if (reasons.length === most) return reasons;
    before = now;
    // Its worker may not have let go of it yet.
    await world.web.queue.send(ordered.id);
  }
}

/** Polls until the worker of a transfer that waits has let go of it. */
export async function whenLetGo({ web }: Pick<LifeWorld, 'web'>, { id }: Ordered): Promise<void> {
  const held = 'select 1 from transfers where id = $1 and leased_until is not null';
  for (const until = Date.now() + WITHIN_MS; Date.now() < until; await wait(25))
    if ((await web.database.query(held, [id])).length === 0) return;
  throw new Error('A worker still has the transfer.');
}

function isOver(mail: MailStatus): boolean {
  return ended(mail) || mail.attention !== undefined;
}

/** Orders the same move once more, with the same passwords. @returns the new order */
export async function again(world: Pick<LifeWorld, 'web'>, ordered: Ordered): Promise<Ordered> {
  const given = { source_account: { password: PASSWORD }, destination_account: { password: PASSWORD } };
  const answer = await call(world, 'again', ordered, given);
  expect(answer.status).toBe(200);
  return { ...ordered, id: (answer.body as { jobid: string }).jobid };
}

export function call(
  { web }: Pick<LifeWorld, 'web'>,
  name: 'cancel' | 'resume' | 'take-back' | 'again' | 'daily-off',
  { id, headers }: Ordered,
  body: object = {},
): Promise<Answer> {
  return web.post(`/api/v2/transfers/${name}/`, { job_id: id, ...body }, headers);
}
