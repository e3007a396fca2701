import { expect, test } from 'vitest';
import type { TransferStatus } from '../../src/contract/calls/status.ts';
import { arriveAtStatus, mail, MOVED, open, submit } from '../support/owner-acts.ts';

const call = 'take back what was copied';
const takenBack = (count: number): TransferStatus => ({
  emailmigration: { ...mail, taken_back: count, ...(count === 2 ? {} : { taking_back: true }) },
});

test('what is being taken back is followed until all of it is', async () => {
  const wizard = await arriveAtStatus(MOVED, { [call]: () => ({ ok: true }) });
  Object.assign(wizard.script, { 'ask for the status': () => takenBack(0) });
  await wizard.send(open('take back'), submit);
  expect(wizard.isAt('status.page.following')).toBe(true);
  await wizard.send({ type: 'status.arrive', status: takenBack(1) });
  expect(wizard.context()).toMatchObject({ status: takenBack(1), message: { about: 'take-back asked' } });
  await wizard.send({ type: 'status.arrive', status: takenBack(2) });
  expect(wizard.isAt('status.page.settled')).toBe(true);
  // Nobody says any more that it is being taken back.
  expect(wizard.isAt('status.banner.hidden')).toBe(true);
  expect(wizard.context().message).toBeNull();
});

test('another message stays when what was copied has been taken back', async () => {
  const wizard = await arriveAtStatus(takenBack(1));
  const message = { about: 'daily stopped' } as const;
  await wizard.send({ type: 'message.show', message }, { type: 'status.arrive', status: takenBack(2) });
  expect(wizard.context().message).toEqual(message);
});

test('a second take back is said although a part was taken back before', async () => {
  const before: TransferStatus = { emailmigration: { ...mail, taken_back: 1 } };
  const wizard = await arriveAtStatus(before, { [call]: () => ({ ok: true }) });
  delete wizard.script['ask for the status'];
  await wizard.send(open('take back'), submit);
  expect(wizard.isAt('status.page.asking')).toBe(true);
  expect(wizard.context()).toMatchObject({ status: before, message: { about: 'take-back asked' } });
});
