import { describe, expect, test } from 'vitest';
import type { Act } from '../../machines/owner-acts.ts';
import { BLANK_SESSION, sessionOf } from '../../machines/wizard.context.ts';
import type { AwaitedConsent, Event } from '../../machines/wizard.types.ts';
import type { TransferStatus } from '../../src/contract/calls/status.ts';
import { ID, PASSWORD, TOKEN } from '../support/moves.ts';
import {
  arriveAtStatus,
  FULL,
  MOVED,
  movedTo,
  NEEDS_CONSENT,
  NEEDS_PASSWORD,
  open,
  password,
  type Script,
  submit,
  withDaily,
} from '../support/owner-acts.ts';
import { arriveAt, refusal } from '../support/wizard.ts';

const OPEN = 'status.acts.open';
const RESTING = 'status.acts.resting';

const awaiting = (purpose: AwaitedConsent['purpose']) => ({
  ...BLANK_SESSION,
  awaitedConsent: { transferId: ID, purpose, provider: 'google' as const },
});
const back = (said: Record<string, string> = {}) =>
  `/oauth-callback?${new URLSearchParams({ token_id: TOKEN, email: 'sam@gmail.com', provider: 'google', ...said }).toString()}`;

describe('a sign-in at the provider of the new mailbox', () => {
  const seek = { type: 'consent.seek', provider: 'google' } as const;
  const wants401 = { 'take back what was copied': refusal('INVALID_CREDENTIALS') };

  test.each<[Act & AwaitedConsent['purpose'], TransferStatus, readonly Event[]]>([
    ['mend', NEEDS_CONSENT, []],
    ['again', movedTo('google'), []],
    ['daily', withDaily(movedTo('google')), []],
    ['take back', movedTo('google'), [submit]],
  ])('to %s is left for, and remembered with its transfer', async (act, status, events) => {
    const wizard = await arriveAtStatus(status, wants401);
    const calls = wizard.calls.length + events.length;
    await wizard.send(open(act), ...events, submit, seek);
    expect(wizard.left).toEqual(['/api/oauth/?provider=google']);
    expect(wizard.calls).toHaveLength(calls);
    expect(sessionOf(wizard.context()).awaitedConsent).toEqual({ transferId: ID, purpose: act, provider: 'google' });
    await wizard.send({ type: 'page.return' });
    expect(wizard.address()).toBe(`/status?migration_id=${ID}`);
    expect(wizard.context().awaitedConsent).toBeNull();
  });

  test.each<[Act, TransferStatus]>([
    ['mend', NEEDS_PASSWORD],
    ['mend', FULL],
    ['again', MOVED],
    ['daily', withDaily(MOVED)],
  ])('is not there to %s where a password or nothing is wanted', async (act, status) => {
    const wizard = await arriveAtStatus(status);
    await wizard.send(open(act), seek);
    expect(wizard.left).toEqual([]);
  });

  test('puts its transfer right at once', async () => {
    const wizard = arriveAt(back(), { 'resume the transfer': () => ({ ok: true }) }, awaiting('mend'));
    expect(wizard.address()).toBe(`/status?migration_id=${ID}`);
    await wizard.wait(0);
    expect(wizard.asked('resume the transfer')).toEqual([{ id: ID, tokenId: TOKEN }]);
    expect(wizard.isAt(RESTING)).toBe(true);
    expect(wizard.context()).toMatchObject({ message: { about: 'mended' }, tokenId: null, awaitedConsent: null });
  });

  test('that is of another mailbox is refused, and offered again', async () => {
    const script: Script = {
      'ask for the status': () => NEEDS_CONSENT,
      'resume the transfer': refusal('INVALID_CREDENTIALS'),
    };
    const wizard = arriveAt(back(), script, awaiting('mend'));
    await wizard.wait(0);
    expect(wizard.isAt(`${OPEN}.mending.asking.refused`)).toBe(true);
    expect(wizard.context()).toMatchObject({ status: NEEDS_CONSENT, tokenId: null });
    await wizard.send(seek);
    expect(wizard.left).toEqual(['/api/oauth/?provider=google']);
  });

  test('that could not be used for now is tried again without another', async () => {
    const script: Script = {
      'ask for the status': () => NEEDS_CONSENT,
      'resume the transfer': refusal('UNAVAILABLE'),
    };
    const wizard = arriveAt(back(), script, awaiting('mend'));
    await wizard.wait(0);
    await wizard.send(seek, submit);
    expect(wizard.left).toEqual([]);
    expect(wizard.asked('resume the transfer')).toHaveLength(2);
  });

  test('is followed by the password of the San Bruno mailbox, for what is new', async () => {
    const script: Script = { 'ask for the status': () => movedTo('google') };
    const wizard = arriveAt(back(), script, awaiting('again'));
    await wizard.wait(0);
    expect(wizard.isAt(`${OPEN}.again.asking.editing`)).toBe(true);
    await wizard.send(password, submit);
    expect(wizard.asked('copy what is new')).toEqual([{ id: ID, password: PASSWORD, tokenId: TOKEN }]);
  });

  test('is asked about once more before anything is taken back', async () => {
    const script: Script = { 'ask for the status': () => movedTo('google') };
    const wizard = arriveAt(back(), script, awaiting('take back'));
    await wizard.wait(0);
    expect(wizard.isAt(`${OPEN}.takingBack.confirming`)).toBe(true);
    expect(wizard.asked('take back what was copied')).toEqual([]);
    await wizard.send(submit);
    expect(wizard.asked('take back what was copied')).toEqual([{ id: ID, tokenId: TOKEN }]);
  });

  test.each<[AwaitedConsent['purpose'], string]>([
    ['mend', `${OPEN}.mending.asking.refused`],
    ['take back', `${OPEN}.takingBack.signingIn.refused`],
    ['again', `${OPEN}.again.asking.refused`],
    ['daily', `${OPEN}.daily.asking.refused`],
  ])('to %s that failed is said so in its dialog', async (purpose, state) => {
    for (const [said, error] of [
      [{ error: 'EXTERNAL_OAUTH_ERROR' }, 'EXTERNAL_OAUTH_ERROR'],
      [{ token_id: '' }, 'OTHER'],
      [{ provider: 'yahoo' }, 'OTHER'],
    ] as const) {
      const wizard = arriveAt(back(said), {}, awaiting(purpose));
      expect(wizard.isAt(state)).toBe(true);
      expect(wizard.context()).toMatchObject({
        message: { about: 'query', error },
        tokenId: null,
        awaitedConsent: null,
      });
    }
  });

  test.each<[AwaitedConsent['purpose'], string]>([
    ['mend', `${OPEN}.mending.calling`],
    ['take back', `${OPEN}.takingBack.confirming`],
    ['again', `${OPEN}.again.asking.editing`],
    ['daily', `${OPEN}.daily.asking.editing`],
  ])('to %s leads back to its transfer, well or not, and is known there where it went well', (purpose, state) => {
    const well = arriveAt(back(), {}, awaiting(purpose));
    expect(well.isAt(state)).toBe(true);
    const failed = arriveAt(back({ error: 'EXTERNAL_OAUTH_ERROR' }), {}, awaiting(purpose));
    for (const [wizard, tokenId] of [
      [well, TOKEN],
      [failed, null],
    ] as const) {
      expect(wizard.address()).toBe(`/status?migration_id=${ID}`);
      expect(wizard.asked('ask for the status')).toEqual([{ id: ID }]);
      expect(wizard.context()).toMatchObject({ tokenId, status: null, awaitedConsent: null });
    }
  });

  test('of one transfer is not taken for another', async () => {
    const wizard = arriveAt(back(), { 'ask for the status': () => NEEDS_CONSENT }, awaiting('again'));
    wizard.visit(`/status?migration_id=${'1'.repeat(32)}`);
    await wizard.wait(0);
    await wizard.send(open('mend'), submit);
    expect(wizard.asked('resume the transfer')).toEqual([]);
  });

  test.each(['again', 'daily'] as const)(
    'that is refused with the password to copy (%s) is sought anew',
    async (act) => {
      const script: Script = {
        'ask for the status': () => withDaily(movedTo('google')),
        'copy what is new': refusal('INVALID_CREDENTIALS'),
      };
      const wizard = arriveAt(back(), script, awaiting(act));
      await wizard.wait(0);
      await wizard.send(password, submit);
      expect(wizard.context()).toMatchObject({ tokenId: null, typed: { password: '' } });
      await wizard.send(password, submit);
      expect(wizard.asked('copy what is new')).toHaveLength(1);
      await wizard.send(seek);
      expect(wizard.left).toEqual(['/api/oauth/?provider=google']);
    },
  );

  test.each(['again', 'daily'] as const)(
    'stands when it is the San Bruno password that is refused (%s): that one alone is typed again',
    async (act) => {
      const script: Script = {
        'ask for the status': () => withDaily(movedTo('google')),
        'copy what is new': refusal('INVALID_CREDENTIALS', { side: 'source' }),
      };
      const wizard = arriveAt(back(), script, awaiting(act));
      await wizard.wait(0);
      await wizard.send(password, submit);
      expect(wizard.isAt(`${OPEN}.${act}.asking.refused`)).toBe(true);
      expect(wizard.context()).toMatchObject({
        message: { about: 'source refused' },
        tokenId: TOKEN,
        typed: { password: '' },
      });
      await wizard.send(password, submit);
      expect(wizard.asked('copy what is new')).toMatchObject([{ tokenId: TOKEN }, { tokenId: TOKEN }]);
    },
  );

  test.each(['again', 'daily'] as const)('is what is sought anew when it is refused (%s)', async (act) => {
    const script: Script = {
      'ask for the status': () => withDaily(movedTo('google')),
      'copy what is new': refusal('INVALID_CREDENTIALS', { side: 'destination' }),
    };
    const wizard = arriveAt(back(), script, awaiting(act));
    await wizard.wait(0);
    await wizard.send(password, submit);
    expect(wizard.isAt(`${OPEN}.${act}.asking.refused`)).toBe(true);
    expect(wizard.context()).toMatchObject({
      message: { about: 'destination refused' },
      tokenId: null,
      typed: { password: '' },
    });
    await wizard.send(seek);
    expect(wizard.left).toEqual(['/api/oauth/?provider=google']);
  });

  test.each<[Act, TransferStatus, readonly Event[], string]>([
    ['again', movedTo('google'), [], `${OPEN}.again.asking.editing`],
    ['daily', withDaily(movedTo('google')), [], `${OPEN}.daily.asking.editing`],
    ['take back', movedTo('google'), [submit], `${OPEN}.takingBack.signingIn.editing`],
  ])('comes before the password to %s', async (act, status, events, state) => {
    const wizard = await arriveAtStatus(status, wants401);
    await wizard.send(open(act), ...events, submit);
    expect(wizard.isAt(state)).toBe(true);
  });

  test('is not there to take back from a mailbox that signs in by password', async () => {
    const wizard = await arriveAtStatus(MOVED, wants401);
    await wizard.send(open('take back'), submit, seek);
    expect(wizard.isAt(`${OPEN}.takingBack.signingIn.editing`)).toBe(true);
    expect(wizard.left).toEqual([]);
  });

  test('that failed says so also beside the sign-in for all of the status', async () => {
    const limited = { ...NEEDS_CONSENT, limited: true as const };
    const wizard = arriveAt(back({ error: 'x' }), { 'ask for the status': () => limited }, awaiting('mend'));
    await wizard.wait(0);
    await wizard.send({ type: 'more.show' });
    expect(wizard.context().message).toEqual({ about: 'query', error: 'OTHER' });
  });

  test('through a portal that is closed is begun once more', async () => {
    const wizard = arriveAt(back({ error: 'UNAVAILABLE' }), {}, awaiting('mend'));
    expect(wizard.has('unavailable')).toBe(true);
    await wizard.send({ type: 'call.retry' });
    expect(wizard.left).toEqual(['/api/oauth/?provider=google']);
    expect(wizard.context().awaitedConsent).not.toBeNull();
  });

  test('that this tab did not begin is not taken', async () => {
    const wizard = arriveAt(back(), {});
    expect(wizard.address()).toBe('/');
    expect(wizard.asked('resume the transfer')).toEqual([]);
  });

  test('is taken once: by the same address again nothing is put right', async () => {
    const wizard = arriveAt(back(), { 'ask for the status': () => NEEDS_CONSENT }, awaiting('mend'));
    await wizard.wait(0);
    wizard.visit(back());
    await wizard.wait(0);
    expect(wizard.asked('resume the transfer')).toHaveLength(1);
  });

  test.each([
    ['Home is visited', '/'],
    ['the status is visited', `/status?migration_id=${ID}`],
  ])('is not awaited any more once %s', (_, to) => {
    expect(arriveAt(to, {}, awaiting('mend')).context().awaitedConsent).toBeNull();
  });

  test('is not awaited any more once another is begun for a new transfer', async () => {
    const source = { email: 'pat@sanbrunocable.example', password: PASSWORD, provider: 'sanbruno' } as const;
    const wizard = arriveAt('/destination-account', {}, { ...awaiting('mend'), source });
    await wizard.send({ type: 'provider.choose', provider: 'aol' });
    expect(wizard.context().awaitedConsent).toBeNull();
  });
});
