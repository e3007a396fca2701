import { describe, expect, test } from 'vitest';
import { type Act, ACTS, isOffered } from '../../machines/owner-acts.ts';
import { NOTHING_TYPED } from '../../machines/wizard.context.ts';
import type { Event, Message } from '../../machines/wizard.types.ts';
import type { TransferStatus } from '../../src/contract/calls/status.ts';
import { goesOn } from '../../src/contract/transfer-status.ts';
import { ID, PASSWORD, SESSIONS } from '../support/moves.ts';
import {
  arriveAtStatus,
  close,
  DAILY_ON,
  destinationPassword,
  FINISHED,
  FORWARDED,
  FULL,
  mail,
  MOVED,
  needing,
  NEEDS_PASSWORD,
  open,
  password,
  RUNNING,
  type Script,
  STOPPED,
  submit,
  withDaily,
} from '../support/owner-acts.ts';
import { arriveAt, codesBut, refusal } from '../support/wizard.ts';

const OPEN = 'status.acts.open';
const RESTING = 'status.acts.resting';
const NEW_ID = '1'.repeat(32);
const OVERTAKEN = ['OPERATION_NOT_ALLOWED', 'INVALID_TOKEN', 'MIGRATION_ID_NOT_FOUND'] as const;

const offered = (status: TransferStatus) => ACTS.filter((act) => isOffered(status, act));

describe('what is offered', () => {
  test.each<[string, TransferStatus, Act[]]>([
    ['begins', { emailmigration: { status: 'started' } }, ['stop']],
    ['runs', RUNNING, ['stop']],
    ['waits', { emailmigration: { status: 'error', done: 1, total: 2, waiting: { reason: 'busy' } } }, ['stop']],
    ['needs its owner', FULL, ['stop', 'mend']],
    ['has ended well', MOVED, ['take back', 'again', 'receipt']],
    ['was stopped', STOPPED, ['take back', 'again', 'receipt']],
    ['had nothing to copy', { emailmigration: { ...mail, done: 0, total: 0 } }, ['again', 'receipt']],
    ['was taken back', { emailmigration: { ...mail, taken_back: 2 } }, ['again', 'receipt']],
    ['was taken back in part', { emailmigration: { ...mail, taken_back: 1 } }, ['take back', 'again', 'receipt']],
    ['forwards', FORWARDED, ['take back', 'again', 'receipt', 'forwarding']],
    [
      'does not forward any more',
      { ...MOVED, emailforwarding: { status: 'completed', since: FINISHED, ended: FINISHED } },
      ['take back', 'again', 'receipt'],
    ],
    ['could be brought once a day', withDaily(MOVED), ['take back', 'again', 'receipt', 'daily']],
    ['is brought once a day', DAILY_ON, ['take back', 'again', 'receipt', 'daily off']],
    ['is brought once a day and runs', { ...DAILY_ON, ...RUNNING }, ['stop', 'daily off']],
    ['could be brought once a day after its end', withDaily(RUNNING), ['stop']],
    ['is being taken back', { emailmigration: { ...mail, taking_back: true } }, ['receipt']],
    ['was of contacts alone', { contactsmigration: mail }, ['receipt']],
    ['goes on with its contacts', { ...MOVED, contactsmigration: { status: 'inprogress' } }, ['stop']],
    ['is a download that runs', { ...RUNNING, files: 'coming' }, ['stop']],
    ['is a download that has ended', { ...MOVED, files: 'there' }, []],
  ])('for a transfer that %s', (_, status, acts) => {
    expect(offered(status)).toEqual(acts);
  });

  test.each([RUNNING, FULL, FORWARDED])('nothing to who has shown nothing', (status) => {
    expect(offered({ ...status, limited: true })).toEqual([]);
  });

  test('what is not offered cannot be opened', async () => {
    const wizard = await arriveAtStatus(RUNNING);
    for (const act of ACTS.filter((act) => !isOffered(RUNNING, act))) await wizard.send(open(act));
    expect(wizard.isAt(RESTING)).toBe(true);
  });
});

type Case = {
  readonly act: Act;
  readonly status: TransferStatus;
  readonly call:
    | 'stop the transfer'
    | 'resume the transfer'
    | 'take back what was copied'
    | 'copy what is new'
    | 'stop the daily copying'
    | 'stop forwarding';
  readonly typed: readonly Event[];
  readonly asks: object;
  readonly done: string | null;
  readonly refused: string;
  readonly failed: string;
};

const CASES: readonly Case[] = [
  {
    act: 'stop',
    status: RUNNING,
    call: 'stop the transfer',
    typed: [],
    asks: { id: ID },
    done: 'stop asked',
    refused: 'stop refused',
    failed: `${OPEN}.stopping.refused`,
  },
  {
    act: 'stop',
    status: { ...RUNNING, files: 'coming' },
    call: 'stop the transfer',
    typed: [],
    asks: { id: ID },
    done: 'download stop asked',
    refused: 'stop refused',
    failed: `${OPEN}.stopping.refused`,
  },
  {
    act: 'mend',
    status: NEEDS_PASSWORD,
    call: 'resume the transfer',
    typed: [password],
    asks: { id: ID, side: 'source', password: PASSWORD },
    done: 'mended',
    refused: 'mend refused',
    failed: `${OPEN}.mending.asking.refused`,
  },
  {
    act: 'mend',
    status: FULL,
    call: 'resume the transfer',
    typed: [],
    asks: { id: ID, side: 'destination' },
    done: 'mended',
    refused: 'mend refused',
    failed: `${OPEN}.mending.asking.refused`,
  },
  {
    act: 'take back',
    status: MOVED,
    call: 'take back what was copied',
    typed: [],
    asks: { id: ID },
    done: 'take-back asked',
    refused: 'take-back refused',
    failed: `${OPEN}.takingBack.refused`,
  },
  {
    act: 'again',
    status: MOVED,
    call: 'copy what is new',
    typed: [password, destinationPassword],
    asks: { id: ID, password: PASSWORD, destinationPassword: 'another' },
    done: null,
    refused: 'again refused',
    failed: `${OPEN}.again.asking.refused`,
  },
  {
    act: 'daily',
    status: withDaily(MOVED),
    call: 'copy what is new',
    typed: [password, destinationPassword],
    asks: { id: ID, password: PASSWORD, destinationPassword: 'another', daily: true },
    done: 'daily started',
    refused: 'again refused',
    failed: `${OPEN}.daily.asking.refused`,
  },
  {
    act: 'daily off',
    status: DAILY_ON,
    call: 'stop the daily copying',
    typed: [],
    asks: { id: ID },
    done: 'daily stopped',
    refused: 'daily-off refused',
    failed: `${OPEN}.dailyOff.refused`,
  },
  {
    act: 'forwarding',
    status: FORWARDED,
    call: 'stop forwarding',
    typed: [password],
    asks: { id: ID, password: PASSWORD },
    done: 'forwarding stopped',
    refused: 'forwarding refused',
    failed: `${OPEN}.forwarding.asking.refused`,
  },
];

test.each([
  ['what this tab has ordered goes', ID, NEW_ID],
  ['another goes is not taken for known', undefined, undefined],
])('where %s, once more', async (_, transferId, known) => {
  const destination = { email: 'sam@mail.example', provider: 'other', ...(transferId && { transferId }) } as const;
  const script: Script = {
    'ask for the status': () => MOVED,
    'copy what is new': () => ({ jobid: NEW_ID }),
  };
  const wizard = arriveAt(`/status?migration_id=${ID}`, script, { ...SESSIONS.ordered, destination });
  await wizard.wait(0);
  await wizard.send(open('again'), password, destinationPassword, submit);
  expect(wizard.context()).toMatchObject({ transferId: NEW_ID, destination: { email: 'sam@mail.example' } });
  expect(wizard.context().destination?.transferId).toBe(known);
});

describe.each(CASES)('the act "$act"', ({ act, status, call, typed, asks, done, refused, failed }) => {
  const good = () => (call === 'copy what is new' ? { jobid: NEW_ID } : { ok: true });

  test('is asked about first, and then done once', async () => {
    const wizard = await arriveAtStatus(status, { [call]: good });
    await wizard.send(open(act));
    expect(wizard.asked(call)).toEqual([]);
    await wizard.send(...typed, submit, submit);
    expect(wizard.asked(call)).toEqual([asks]);
    expect(wizard.isAt(RESTING)).toBe(true);
    expect(wizard.context().typed).toMatchObject({ password: '', destinationPassword: '' });
    expect(wizard.context().message).toEqual(done === null ? null : { about: done });
    expect(wizard.asked('ask for the status')).toHaveLength(2);
    await wizard.wait(5_000);
    expect(wizard.context().message).toBeNull();
  });

  test('is given up by closing its dialog', async () => {
    const wizard = await arriveAtStatus(status);
    await wizard.send(open(act), ...typed, close);
    expect(wizard.isAt(RESTING)).toBe(true);
    expect(wizard.context().typed.password).toBe('');
    expect(wizard.asked(call)).toEqual([]);
  });

  test('shows how it stands when its dialog is closed while nobody answers', async () => {
    const wizard = await arriveAtStatus(status);
    await wizard.send(open(act), ...typed, submit, close);
    expect(wizard.isAt(RESTING)).toBe(true);
    expect(wizard.context().typed).toEqual(NOTHING_TYPED);
    expect(wizard.asked('ask for the status')).toHaveLength(2);
  });

  test('is slow after 10 s and refused after 30 s', async () => {
    const wizard = await arriveAtStatus(status);
    await wizard.send(open(act), ...typed, submit);
    await wizard.wait(10_000);
    expect(wizard.has('slow')).toBe(true);
    await wizard.wait(20_000);
    expect(wizard.isAt(failed)).toBe(true);
    expect(wizard.context()).toMatchObject({ message: { about: refused }, typed: NOTHING_TYPED });
  });

  test.each(codesBut(...OVERTAKEN, 'INVALID_CREDENTIALS'))(
    'that fails with %s says so until it is tried again',
    async (code) => {
      const wizard = await arriveAtStatus(status, { [call]: refusal(code) });
      await wizard.send(open(act), ...typed, submit);
      expect(wizard.isAt(failed)).toBe(true);
      expect(wizard.context()).toMatchObject({ message: { about: refused, code }, typed: NOTHING_TYPED });
      await wizard.send(...typed, submit);
      expect(wizard.asked(call)).toEqual([asks, asks]);
      await wizard.send(close);
      expect(wizard.context().message).toBeNull();
    },
  );

  test.each(OVERTAKEN)('that another tab was quicker with, which %s tells, shows how it stands', async (code) => {
    const wizard = await arriveAtStatus(status, { [call]: refusal(code) });
    await wizard.send(open(act), ...typed, submit);
    expect(wizard.isAt(RESTING)).toBe(true);
    expect(wizard.asked('ask for the status')).toHaveLength(2);
    expect(wizard.context()).toMatchObject({ message: { about: 'act overtaken', code }, typed: NOTHING_TYPED });
  });
});

describe('a dialog', () => {
  const code = 'INVALID_CREDENTIALS';

  test.each(CASES.filter(({ act }) => act !== 'take back'))(
    'for "$act" whose sign-in is refused says so and forgets what was typed',
    async ({ act, status, call, typed, refused, failed }) => {
      const wizard = await arriveAtStatus(status, { [call]: refusal(code) });
      await wizard.send(open(act), ...typed, submit);
      expect(wizard.isAt(failed)).toBe(true);
      expect(wizard.context()).toMatchObject({ message: { about: refused, code }, typed: NOTHING_TYPED });
    },
  );

  const settled = CASES.filter(({ status }) => !goesOn(status));
  test.each(settled.flatMap((each) => ['in vain', 'not at all'].map((answered) => ({ ...each, answered }))))(
    'for "$act" that was answered $answered is before a page that shows how the transfer stands now',
    async ({ act, status, call, typed, failed, answered }) => {
      const wizard = await arriveAtStatus(status, answered === 'in vain' ? { [call]: refusal('UNAVAILABLE') } : {});
      const now = { ...status, contactsmigration: mail };
      wizard.script['ask for the status'] = () => now;
      await wizard.send(open(act), ...typed, submit);
      await wizard.wait(answered === 'in vain' ? 0 : 30_000);
      expect(wizard.context().status).toEqual(now);
      expect(wizard.isAt(failed)).toBe(true);
      expect(wizard.context().message).not.toBeNull();
    },
  );

  test.each([...CASES, { act: 'receipt' as const, status: MOVED }])(
    'for "$act" begins with nothing that was typed elsewhere',
    async ({ act, status }) => {
      const script: Script = { 'ask for the status': () => status };
      const wizard = arriveAt('/destination-account?way=other', script, SESSIONS.signedIn);
      await wizard.send({ type: 'email.type', email: 'sam@mail.example' }, password);
      wizard.visit(`/status?migration_id=${ID}`);
      await wizard.wait(0);
      expect(wizard.context().typed.password).toBe(PASSWORD);
      await wizard.send(open(act));
      expect(wizard.context().typed).toEqual(NOTHING_TYPED);
    },
  );

  test('keeps what it says when another is asked for', async () => {
    const wizard = await arriveAtStatus(NEEDS_PASSWORD, { 'resume the transfer': refusal(code) });
    await wizard.send(open('mend'), password, submit, open('stop'));
    expect(wizard.context().message).toEqual({ about: 'mend refused', code });
  });
});

describe('the password to take back what was copied', () => {
  const call = 'take back what was copied';
  const TAKING_BACK = `${OPEN}.takingBack`;

  async function takenBack(then?: () => unknown) {
    const wizard = await arriveAtStatus(MOVED, { [call]: refusal('INVALID_CREDENTIALS') });
    await wizard.send(open('take back'), submit);
    if (then === undefined) delete wizard.script[call];
    else wizard.script[call] = then;
    await wizard.send(password, submit);
    return wizard;
  }

  test.each<[string, (() => unknown) | undefined, string, Message | null]>([
    ['it was taken back', () => ({ ok: true }), RESTING, { about: 'take-back asked' }],
    ...codesBut(...OVERTAKEN, 'INVALID_CREDENTIALS').map((code): [string, () => unknown, string, Message] => [
      code,
      refusal(code),
      `${TAKING_BACK}.refused`,
      { about: 'take-back refused', code },
    ]),
    ...OVERTAKEN.map((code): [string, () => unknown, string, Message] => [
      code,
      refusal(code),
      RESTING,
      { about: 'act overtaken', code },
    ]),
    [
      'INVALID_CREDENTIALS',
      refusal('INVALID_CREDENTIALS'),
      `${TAKING_BACK}.signingIn.refused`,
      { about: 'take-back refused', code: 'INVALID_CREDENTIALS' },
    ],
  ])('is forgotten after %s', async (_, then, state, message) => {
    const wizard = await takenBack(then);
    expect(wizard.asked(call)).toHaveLength(2);
    expect(wizard.isAt(state)).toBe(true);
    expect(wizard.context()).toMatchObject({ message, typed: NOTHING_TYPED });
  });

  test('is forgotten when nobody answers for 30 s, and when its dialog is closed', async () => {
    const unanswered = await takenBack();
    await unanswered.wait(30_000);
    expect(unanswered.isAt(`${TAKING_BACK}.refused`)).toBe(true);
    expect(unanswered.context().typed).toEqual(NOTHING_TYPED);
    const closed = await takenBack();
    await closed.send(close);
    expect(closed.isAt(RESTING)).toBe(true);
    expect(closed.context().typed).toEqual(NOTHING_TYPED);
  });

  test('that was refused is no longer said so once another is typed', async () => {
    const wizard = await takenBack(refusal('INVALID_CREDENTIALS'));
    await wizard.send(password);
    expect(wizard.isAt(`${TAKING_BACK}.signingIn.editing`)).toBe(true);
    expect(wizard.context().message).toBeNull();
  });
});

describe('a password', () => {
  test.each<[Act, TransferStatus, readonly Event[], string]>([
    ['mend', NEEDS_PASSWORD, [], `${OPEN}.mending.asking.passwordMissing`],
    ['again', MOVED, [destinationPassword], `${OPEN}.again.asking.passwordMissing`],
    ['again', MOVED, [password], `${OPEN}.again.asking.destinationPasswordMissing`],
    ['daily', withDaily(MOVED), [destinationPassword], `${OPEN}.daily.asking.passwordMissing`],
    ['daily', withDaily(MOVED), [password], `${OPEN}.daily.asking.destinationPasswordMissing`],
    ['forwarding', FORWARDED, [], `${OPEN}.forwarding.asking.passwordMissing`],
  ])('that is missing to %s is asked for without a call', async (act, status, typed, state) => {
    const wizard = await arriveAtStatus(status);
    const calls = wizard.calls.length;
    await wizard.send(open(act), ...typed, submit);
    expect(wizard.isAt(state)).toBe(true);
    expect(wizard.calls).toHaveLength(calls);
    await wizard.send(password);
    expect(wizard.isAt(state)).toBe(false);
  });

  test('that is wrong is forgotten', async () => {
    const wizard = await arriveAtStatus(NEEDS_PASSWORD, { 'resume the transfer': refusal('INVALID_CREDENTIALS') });
    await wizard.send(open('mend'), password, submit);
    expect(wizard.isAt(`${OPEN}.mending.asking.refused`)).toBe(true);
    expect(wizard.context().typed.password).toBe('');
  });

  test('that was typed for another transfer does not come along', async () => {
    const wizard = await arriveAtStatus(NEEDS_PASSWORD);
    await wizard.send(open('mend'), password);
    wizard.visit(`/status?migration_id=${NEW_ID}`);
    await wizard.wait(0);
    await wizard.send(open('mend'));
    expect(wizard.isAt(`${OPEN}.mending.asking.editing`)).toBe(true);
    expect(wizard.context().typed.password).toBe('');
  });

  test.each([
    ['another mailbox needs one', needing({ side: 'destination', reason: 'password' })],
    ['the same mailbox needs something else', needing({ side: 'source', reason: 'refused' })],
    ['it has been put right in another tab', RUNNING],
  ])('that was typed is not sent when in the meantime %s, and nothing is said to be refused', async (_, status) => {
    const wizard = await arriveAtStatus(NEEDS_PASSWORD, { 'resume the transfer': refusal('INVALID_CREDENTIALS') });
    await wizard.send(open('mend'), password, submit, password, { type: 'status.arrive', status });
    expect(wizard.isAt(`${OPEN}.mending.asking.editing`)).toBe(true);
    expect(wizard.context().typed.password).toBe('');
    await wizard.send(password, { type: 'status.arrive', status });
    expect(wizard.context()).toMatchObject({ status, typed: { password: PASSWORD } });
  });

  test('that was typed is not sent to another mailbox that the page learns of when it is online again', async () => {
    const wizard = await arriveAtStatus(NEEDS_PASSWORD);
    await wizard.send(open('mend'), password);
    wizard.script['ask for the status'] = () => needing({ side: 'destination', reason: 'password' });
    await wizard.send({ type: 'connection.return' });
    expect(wizard.context().typed.password).toBe('');
  });

  test('that was refused is said so as long as the same is needed', async () => {
    const wizard = await arriveAtStatus(NEEDS_PASSWORD, { 'resume the transfer': refusal('INVALID_CREDENTIALS') });
    await wizard.send(open('mend'), password, submit, { type: 'status.arrive', status: NEEDS_PASSWORD });
    expect(wizard.isAt(`${OPEN}.mending.asking.refused`)).toBe(true);
    await wizard.send({ type: 'status.arrive', status: RUNNING });
    expect(wizard.isAt(`${OPEN}.mending.asking.editing`)).toBe(true);
    expect(wizard.context().message).toBeNull();
  });

  test('is asked for to take back what was copied, where the server wants one', async () => {
    const script: Script = { 'take back what was copied': refusal('INVALID_CREDENTIALS') };
    const wizard = await arriveAtStatus(MOVED, script);
    await wizard.send(open('take back'), submit);
    expect(wizard.isAt(`${OPEN}.takingBack.signingIn.editing`)).toBe(true);
    expect(wizard.context().message).toBeNull();
    await wizard.send(submit);
    expect(wizard.isAt(`${OPEN}.takingBack.signingIn.passwordMissing`)).toBe(true);
    await wizard.send(password, submit);
    expect(wizard.isAt(`${OPEN}.takingBack.signingIn.refused`)).toBe(true);
    expect(wizard.context().message).toEqual({ about: 'take-back refused', code: 'INVALID_CREDENTIALS' });
    expect(wizard.asked('take back what was copied')).toEqual([{ id: ID }, { id: ID, password: PASSWORD }]);
  });
});

test.each(['again', 'daily'] as const)(
  'a password of the new mailbox that is refused (%s) is typed again, and the other one stands',
  async (act) => {
    const wizard = await arriveAtStatus(withDaily(MOVED), {
      'copy what is new': refusal('INVALID_CREDENTIALS', { side: 'destination' }),
    });
    await wizard.send(open(act), password, destinationPassword, submit);
    expect(wizard.isAt(`${OPEN}.${act}.asking.refused`)).toBe(true);
    expect(wizard.context()).toMatchObject({
      message: { about: 'destination refused' },
      typed: { password: PASSWORD, destinationPassword: '' },
    });
  },
);

test('what came since is copied by a transfer of its own, which is shown', async () => {
  const wizard = await arriveAtStatus(MOVED, { 'copy what is new': () => ({ jobid: NEW_ID }) });
  await wizard.send(open('again'), password, destinationPassword, submit);
  expect(wizard.address()).toBe(`/status?migration_id=${NEW_ID}`);
  expect(wizard.asked('ask for the status')).toEqual([{ id: ID }, { id: NEW_ID }]);
});

test.each<[Act, TransferStatus]>([
  ['again', MOVED],
  ['daily', withDaily(MOVED)],
])('the transfer that "%s" begins is not shown with the status of the first', async (act, status) => {
  const script: Script = { 'copy what is new': () => ({ jobid: NEW_ID }) };
  const wizard = await arriveAtStatus(status, script);
  delete wizard.script['ask for the status'];
  await wizard.send(open(act), password, destinationPassword, submit);
  expect(wizard.asked('ask for the status')).toEqual([{ id: ID }, { id: NEW_ID }]);
  expect(wizard.context()).toMatchObject({ transferId: NEW_ID, status: null });
});

test('the receipt is offered in a dialog that closes', async () => {
  const wizard = await arriveAtStatus(MOVED);
  await wizard.send(open('receipt'));
  expect(wizard.isAt(`${OPEN}.receipt`)).toBe(true);
  await wizard.send(close);
  expect(wizard.isAt(RESTING)).toBe(true);
});

test('a dialog hides what was said before', async () => {
  const wizard = await arriveAtStatus(NEEDS_PASSWORD, { 'resume the transfer': () => ({ ok: true }) });
  await wizard.send(open('mend'), password, submit, open('stop'));
  expect(wizard.isAt(`${OPEN}.stopping.confirming`)).toBe(true);
  expect(wizard.context().message).toBeNull();
});

test('a transfer that ends while its dialog is open leaves the dialog where it is', async () => {
  const wizard = await arriveAtStatus(RUNNING);
  await wizard.send({ type: 'status.arrive', status: RUNNING }, open('stop'));
  await wizard.send({ type: 'status.arrive', status: MOVED });
  expect(wizard.isAt('status.page.settled')).toBe(true);
  expect(wizard.isAt(`${OPEN}.stopping.confirming`)).toBe(true);
});

test('a transfer that needs its owner is followed, so that it goes on here when it is put right elsewhere', async () => {
  const wizard = await arriveAtStatus(NEEDS_PASSWORD);
  expect(wizard.isAt('status.page.following')).toBe(true);
  await wizard.send({ type: 'status.arrive', status: RUNNING });
  expect(wizard.context().status).toEqual(RUNNING);
});
