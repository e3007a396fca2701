import { join } from 'node:path';
import { buildPortal, earlierBuilds } from './build-portal.ts';
import type { Environment, Settings } from './contract/settings.ts';
import { EXIT, exitWith } from './exit.ts';
import { exitFor } from './operator-faults.ts';
import { loadEnvFile, settingsFrom, withSecretFiles } from './read-settings.ts';
import { runServer } from './server/main.ts';
import { faultIn, holdDataFolder } from './server/store/data-folder.ts';

const OLDEST_NODE = 24;
const LAST_PORT = 65_535;
/**
 * How long the process may take to end after a signal. What does not end by then, such as a statement to a silent
 * database, is cut off, before an orchestrator kills the process after 60 s.
 */
const STOP_WITHIN_MS = 50_000;
/** A terminal and systemd send their signal to npm as well, which passes it on. */
const SAME_SIGNAL_WITHIN_MS = 2000;

if (Number(process.versions.node.split('.')[0]) < OLDEST_NODE)
  exitWith(
    `This needs Node ${OLDEST_NODE}, and here is ${process.version}. Start it by "npm start", which brings its own; if that fails, run "npm rebuild node".`,
    EXIT.configuration,
  );

const stopping = new AbortController();
let firstSignalAt: number | undefined;
for (const name of ['SIGINT', 'SIGTERM'] as const)
  process.on(name, () => {
    firstSignalAt ??= performance.now();
    // The second signal ends at once.
    if (performance.now() - firstSignalAt > SAME_SIGNAL_WITHIN_MS) process.exit(130);
    beginStop();
  });

// Where what they say can't be written, as on a full disk, the product works all the same.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

try {
  await start();
} catch (error) {
  exitFor(error);
}

async function start(): Promise<void> {
  loadEnvFile();
  const settings = settingsFrom(process.env);
  await using lifetime = new AsyncDisposableStack();
  const folder = lifetime.use(await holdDataFolder(settings.dataDir));
  const environment = settings.sandbox
    ? { ...(await openSandbox(lifetime, settings)), ...withSecretFiles(process.env) }
    : process.env;
  const portalFolder = settings.role === 'worker' ? null : await buildPortal(environment);
  const server = runServer({
    settings: settingsFrom(environment),
    folder,
    portalFolder,
    earlierPortals: portalFolder === null ? [] : await earlierBuilds(portalFolder),
    onBroken: ({ message }) => {
      process.stderr.write(`${message} The process ends: only the next start can open it again.\n`);
      process.exitCode = 1;
      beginStop();
    },
  });
  lifetime.use(
    await server.catch((error: unknown) => {
      throw faultIn(folder.path, error);
    }),
  );
  process.stdout.write(`Listening on ${settings.publicUrl}\n`);
  if (!stopping.signal.aborted)
    await new Promise((resolve) => {
      stopping.signal.addEventListener('abort', resolve, { once: true });
    });
}

function beginStop(): void {
  if (stopping.signal.aborted) return;
  stopping.abort();
  setTimeout(() => {
    process.stderr.write(
      `The stop has taken ${STOP_WITHIN_MS / 1000} s and is broken off: is the database there? What was under way is settled by the next start.\n`,
    );
    process.exit(1);
  }, STOP_WITHIN_MS).unref();
}

/** The embedded outside world. Only this file knows of it: to the server it is one more set of addresses. */
async function openSandbox(lifetime: AsyncDisposableStack, settings: Settings): Promise<Environment> {
  const { startSandbox } = await import('./sandbox/main.ts');
  const sandbox = lifetime.use(
    await startSandbox({
      folder: join(settings.dataDir, 'sandbox'),
      webPort: sandboxPort(settings),
      publicUrl: settings.publicUrl,
      legacyDomains: settings.legacyDomains,
    }),
  );
  const rows = sandbox.subscribers.map(({ email, password, about }) => `  ${email}  ${password}  ${about}\n`);
  process.stdout.write(
    `The sandbox is the outside world: ${sandbox.webUrl}\nSubscribers to sign in with:\n${rows.join('')}`,
  );
  return sandbox.environment;
}

/** The next one, or any that is free. */
function sandboxPort({ port, healthPort }: Settings): number {
  return port === LAST_PORT || port + 1 === healthPort ? 0 : port + 1;
}
