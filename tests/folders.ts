import { availableParallelism } from 'node:os';

/** A folder of tests is a project of Vitest of the same name. */
export type Folder = {
  readonly name: string;
  /** In milliseconds; a test that needs longer says so itself. */
  readonly timeout: number;
  /** Its tests speak with the real server or run in a real browser, so they can show a rule that crosses the wire. */
  readonly crossesWire?: true;
  /** What only repeats a proof with more numbers: `npm run proofs`. */
  readonly isProof?: true;
  /** Files of other folders, instead of those of its own, of which it runs what `npm test` leaves to it. */
  readonly files?: readonly string[];
};

/** Tests of a folder that is no proof, of which {@link isChosen} leaves some to `npm run proofs`. */
export const TAGS = [
  { name: 'proof', description: 'Only `npm run proofs` runs it.' },
  { name: 'sampled', description: 'It has some of its cases in `npm test`, the others in `npm run proofs`.' },
] as const;

/** Which tests of its files a folder runs, as an expression of {@link TAGS}. */
export function tagsFilterOf({ isProof, files }: Folder): string | undefined {
  if (files !== undefined) return 'proof or sampled';
  return isProof === true ? undefined : '!proof';
}

/** Whether a folder runs a test with these tags: {@link tagsFilterOf} in another form. */
export function isChosen({ isProof, files }: Folder, tags: readonly string[]): boolean {
  if (files !== undefined) return tags.length > 0;
  return isProof === true || !tags.includes('proof');
}

/** A new folder of tests is one line here. */
export const FOLDERS: readonly Folder[] = [
  { name: 'machine', timeout: 30_000 },
  { name: 'contract', timeout: 10_000 },
  { name: 'server', timeout: 60_000, crossesWire: true },
  { name: 'security', timeout: 60_000, crossesWire: true },
  { name: 'simulation', timeout: 60_000 },
  { name: 'e2e', timeout: 120_000, crossesWire: true },
  { name: 'budget', timeout: 120_000 },
  {
    name: 'proofs',
    timeout: 600_000,
    isProof: true,
    crossesWire: true,
  },
  {
    name: 'rest',
    timeout: 600_000,
    isProof: true,
    crossesWire: true,
    files: [
      'tests/budget/budget.test.ts',
      'tests/e2e/accessibility.test.ts',
      'tests/e2e/appearance.test.ts',
      'tests/e2e/back-and-forward.test.ts',
      'tests/e2e/export-reader.test.ts',
      'tests/e2e/export.test.ts',
      'tests/e2e/finished.test.ts',
      'tests/e2e/journeys.test.ts',
      'tests/e2e/pages.test.ts',
      'tests/e2e/plain.test.ts',
      'tests/e2e/scripted-wire.test.ts',
      'tests/e2e/transfer-life.test.ts',
      'tests/machine/walks.test.ts',
      'tests/security/foreign-text.test.ts',
      'tests/security/siege.test.ts',
      'tests/server/contacts-carddav.test.ts',
      'tests/server/database.test.ts',
      'tests/server/erase.test.ts',
      'tests/server/export-bucket.test.ts',
      'tests/server/export-pst.test.ts',
      'tests/server/export-spreadsheet.test.ts',
      'tests/server/export-transfer.test.ts',
      'tests/server/forwarding.test.ts',
      'tests/server/imap-dovecot.test.ts',
      'tests/server/life-again.test.ts',
      'tests/server/life-cancel.test.ts',
      'tests/server/life-counts.test.ts',
      'tests/server/life-daily.test.ts',
      'tests/server/life-export.test.ts',
      'tests/server/life-killed.test.ts',
      'tests/server/life-take-back.test.ts',
      'tests/server/life-told.test.ts',
      'tests/server/life-unread.test.ts',
      'tests/server/queue.test.ts',
      'tests/server/sandbox-mail-server.test.ts',
      'tests/server/start.test.ts',
      'tests/server/transfer-changes.test.ts',
      'tests/server/transfer-damaged.test.ts',
      'tests/server/transfer-reset.test.ts',
      'tests/server/web-addresses.test.ts',
      'tests/server/web-mail-faults.test.ts',
      'tests/simulation/promises.test.ts',
      'tests/simulation/scenarios/hang-ups-and-goodbyes.test.ts',
      'tests/simulation/scenarios/large-folders.test.ts',
      'tests/simulation/scenarios/mailbox-names.test.ts',
      'tests/simulation/scenarios/mailboxes-in-trouble.test.ts',
      'tests/simulation/scenarios/mailboxes-that-hang-up.test.ts',
      'tests/simulation/scenarios/pauses.test.ts',
      'tests/simulation/scenarios/refused-messages.test.ts',
      'tests/simulation/scenarios/what-is-there.test.ts',
      'tests/simulation/simulation.test.ts',
      'tests/simulation/ways.test.ts',
    ],
  },
];

/** Files that run at once: most of a test's time is spent waiting for other programs. */
export const WORKERS = Math.min(availableParallelism() + 2, 8);

/** Whether `npm run proofs` runs it. */
export const IS_PROOF = process.env['IS_PROOF'] === 'true';

/** Of many cases every so many-th, for a test that is tagged as `sampled`; `npm run proofs` has the others. */
export function sampleOf<Case>(cases: readonly Case[], every: number): readonly Case[] {
  return cases.filter((_, at) => (at % every === 0) !== IS_PROOF);
}

/** Whether a proof is to go on for as long as it may, with its largest numbers: some take hours. */
export const ALL_PROOFS = process.env['PROOFS'] === 'all';

/** The stories, which `.storybook/vitest.config.ts` describes, in three browsers: `npm run proofs` looks at all. */
export const STORIES = {
  light: 'storybook: light, desktop',
  dark: 'storybook: dark, phone',
  moving: 'storybook: journeys, with pages that fade',
} as const;
