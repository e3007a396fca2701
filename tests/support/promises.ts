import { getNextSnapshot } from 'xstate';
import { expect } from 'vitest';
import { is } from 'valibot';
import { NotificationContact } from '../../src/contract/transfer.ts';
import { DELAYS } from '../../machines/wizard.delays.ts';
import { addressOf, pageOf, type WizardSnapshot } from '../../machines/wizard.routes.ts';
import { sessionOf } from '../../machines/wizard.context.ts';
import { BEARER, PASSWORD, TOKEN } from './moves.ts';
import type { Context } from '../../machines/wizard.types.ts';
import type { Visitor } from './visitor.ts';
import { optionsAt, type Step } from './walk.ts';

const SUBMITS: readonly string[] = ['transfer.submit', 'call.retry'];
const BETWEEN_PAGES: readonly unknown[] = [
  'arriving',
  'leavingForMove',
  'leavingForTransfer',
  'leavingForStatus',
  'leavingForAct',
  'unavailableForTransfer',
  'unavailableForStatus',
  'unavailableForAct',
  'signingOut',
];

/** Checks every step of a visitor against what the portal promises for all of them. `places` have already been checked. */
export function promisesTo(places: Set<string>) {
  return (visitor: Visitor) => {
    let transfers = 0;
    let mayTransfer = false;
    let shownSince = 0;
    return ({ move, before, after }: Step): void => {
      const type = move.kind === 'send' ? move.event.type : move.kind;
      expect(after.status).toBe('active');

      const place = after._nodes.map(({ id }) => id).join();
      if (!places.has(place)) {
        places.add(place);
        leadsHomeAndToSupport(after);
        goesOn(visitor, after);
      }
      tellsNoSecret(after, visitor.left);
      keepsAnswers(type, before, after);

      // One submit, one transfer
      if (SUBMITS.includes(type)) mayTransfer = true;
      if (type === 'reload') mayTransfer = false;
      const starts = visitor.called.filter(({ name }) => name === 'start the transfer');
      if (starts.length > transfers) {
        expect(starts.length - transfers).toBe(1);
        expect(mayTransfer).toBe(true);
        expect(is(NotificationContact, notified(starts.at(-1)?.input))).toBe(true);
        mayTransfer = false;
        transfers = starts.length;
      }

      // A message disappears by itself, and stays while it is looked at
      const bannerBefore = bannerOf(before);
      const banner = bannerOf(after);
      const refused = after._nodes.some(({ key, parent }) => key === 'refused' && parent?.key !== 'banner');
      expect(after.context.message !== null).toBe(banner === 'shown' || banner === 'held' || refused);
      // The old message disappears during the longest wait, and the timeout then shows the same one again.
      const saidAnew = move.kind === 'wait' && move.delay === 'answer limit';
      if (
        banner === 'shown' &&
        (bannerBefore !== 'shown' || after.context.message !== before.context.message || saidAnew)
      )
        shownSince = visitor.now();
      const life =
        DELAYS[after.matches('home') || after.matches('destination') ? 'destination banner life' : 'banner life'];
      if (banner === 'shown') expect(visitor.now() - shownSince).toBeLessThan(life);
      if (move.kind === 'wait' && bannerBefore === 'held' && pageOf(before) === pageOf(after))
        expect(after.context.message).not.toBeNull();
    };
  };
}

function leadsHomeAndToSupport(snapshot: WizardSnapshot): void {
  const next = (event: Parameters<typeof snapshot.can>[0]) => getNextSnapshot(snapshot.machine, snapshot, event);
  expect(next({ type: 'home.visit', error: '' }).matches('home')).toBe(true);
  expect(next({ type: 'support.visit' }).matches('support')).toBe(true);
}

/** The visitor sees a page or is on the way to one; busy states end by themselves or by leaving. */
function goesOn(visitor: Visitor, snapshot: WizardSnapshot): void {
  const { value } = snapshot;
  if (pageOf(snapshot) === null)
    expect(BETWEEN_PAGES).toContain(typeof value === 'string' ? value : Object.keys(value)[0]);
  const types = optionsAt(visitor).map(({ type }) => type);
  if (snapshot.hasTag('busy') && !types.includes('page.return'))
    expect(snapshot._nodes.filter(({ tags }) => tags.includes('busy')).every(({ after }) => after.length > 0)).toBe(
      true,
    );
  if (snapshot.hasTag('unavailable')) expect(types).toContain('call.retry');
}

function tellsNoSecret(snapshot: WizardSnapshot, left: readonly string[]): void {
  const address = addressOf(snapshot);
  const text = [address?.path, ...Object.values(address?.query ?? {}), ...left.map(decodeURIComponent)].join(' ');
  for (const secret of [PASSWORD, TOKEN, BEARER]) expect(text).not.toContain(secret);
}

/** Back, Forward, visits and reloads keep the visitor's answers, unless they lead Home. */
function keepsAnswers(type: string, before: WizardSnapshot, after: WizardSnapshot): void {
  if (after.matches('home')) return;
  const [was, is] = [sessionOf(before.context), sessionOf(after.context)];
  if (type === 'reload') {
    expect(is).toEqual({ ...was, draft: is.draft });
    keepsLetter(before.context, after.context);
  }
  if (type !== 'page.back' && !type.endsWith('.visit')) return;
  const {
    destination: _,
    emailHash: __,
    allowContactsMigration: ___,
    awaitedConsent: ____,
    draft: _____,
    letter: ________,
    ...said
  } = was;
  // A sign-in for a transfer is awaited until it returns, or until the visitor comes back by another way.
  const {
    emailExportType,
    contactsExportType,
    awaitedConsent: ______,
    draft: _______,
    letter: _________,
    ...rest
  } = was;
  // If no formats were chosen, the recommended ones are filled in.
  const formats = { ...(emailExportType && { emailExportType }), ...(contactsExportType && { contactsExportType }) };
  expect(is).toMatchObject(type.startsWith('oauth-callback') ? said : { ...rest, ...formats });
  // With a letter that was sent goes all that was typed of it.
  if (was.letter !== null && is.letter === null) return;
  // The support form is filled in with the transfer and the address that the visitor comes with, until they leave that, or
  // enter it anew.
  const { legacyEmail, supportId } = (type === 'support.visit' ? after : before).context.typed;
  const isEntered = type === 'status.visit' || type === 'complete.visit';
  const isLeft = supportId === before.context.transferId && (isEntered || after.context.transferId !== supportId);
  expect(after.context.typed).toEqual({
    ...before.context.typed,
    legacyEmail,
    supportId: isLeft && type !== 'support.visit' ? '' : supportId,
  });
}

/** What is empty in a letter may be filled in, and the ID of the transfer that is looked at comes and goes. */
function keepsLetter({ typed: was, transferId, letter }: Context, { typed: is }: Context): void {
  // Whoever comes next must not see to whom the answer goes.
  if (letter !== null && was.issue === '') return;
  expect([is.contactEmail, is.issue]).toEqual([was.contactEmail, was.issue]);
  if (was.legacyEmail !== '') expect(is.legacyEmail).toBe(was.legacyEmail);
  if (was.supportId !== '' && was.supportId !== transferId) expect(is.supportId).toBe(was.supportId);
}

function bannerOf(snapshot: WizardSnapshot): 'hidden' | 'shown' | 'held' | null {
  const node = snapshot._nodes.find(({ parent }) => parent?.key === 'banner');
  return node === undefined ? null : (node.key as 'hidden' | 'shown' | 'held');
}

function notified(input: unknown): unknown {
  return (input as { parameters: { notificationEmail: unknown } }).parameters.notificationEmail;
}
