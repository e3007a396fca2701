import { expect, test } from 'vitest';
import { isOnPrimaryPath, type Page } from '../../machines/wizard.routes.ts';
import { blankContext } from '../../machines/wizard.context.ts';
import { modeOf, operationsOf } from '../../machines/mode.ts';
import { wizardMachine } from '../../machines/wizard.machine.ts';
import type { Context, Session } from '../../machines/wizard.types.ts';
import { impliedOperations } from '../../src/contract/operation.ts';
import { SESSIONS } from '../support/moves.ts';
import { NOW, SETTINGS } from '../support/wizard.ts';

const context = (session: Session) => blankContext({ settings: SETTINGS, now: NOW, session });
const isPrimaryOn = (value: Page, context: Context) => isOnPrimaryPath(wizardMachine.resolveState({ value, context }));
const MAIL = ['emailmigration'];
const BOTH = ['emailmigration', 'contactsmigration'];

test.each([
  ['moving', 'move', true],
  ['toGoogle', 'transfer', false],
  ['toOther', 'transfer', false],
  ['downloading', 'download', false],
  ['signedIn', 'transfer', true],
] as const)('the session "%s" is a %s, and on the primary path: %s', (session, mode, primary) => {
  expect(modeOf(context(SESSIONS[session]))).toBe(mode);
  expect(isPrimaryOn('startMigration', context(SESSIONS[session]))).toBe(primary);
});

test.each([
  ['yahoo', true],
  ['google', false],
  ['other', false],
  [undefined, true],
] as const)('a transfer to %s that the server tells of is on the primary path: %s', (destination, primary) => {
  const told = { ...context(SESSIONS.blank), status: destination === undefined ? {} : { destination } };
  expect(isPrimaryOn('status', told)).toBe(primary);
});

test('files that the server tells of, without a destination, are not on the primary path', () => {
  expect(isPrimaryOn('status', { ...context(SESSIONS.blank), status: { files: 'there' } })).toBe(false);
});

test('a download stays a download where the address was to be checked', () => {
  expect(modeOf({ ...SESSIONS.downloading, checkSanBrunoOnOauthCallback: true })).toBe('download');
});

test.each([
  ['mail and contacts where both ends can', { ...SESSIONS.moving }, BOTH],
  ['mail only where the source has no contacts', { ...SESSIONS.moving, operations: MAIL }, MAIL],
  ['mail only where contacts are not allowed', SESSIONS.toOther, MAIL],
  ['mail and contacts where nothing is known of the source', { ...SESSIONS.toGoogle, operations: null }, BOTH],
  ['mail and contacts for a download', { ...SESSIONS.downloading, operations: null }, BOTH],
])('a job is asked for %s', (_, session, operations) => {
  expect(operationsOf(context(session))).toEqual(operations);
});

test('forwarding is asked for with mail, and never alone', () => {
  expect(impliedOperations(['emailforwarding'])).toEqual(['emailmigration', 'emailforwarding']);
  expect(impliedOperations(['contactsmigration'])).toEqual(['contactsmigration']);
});
