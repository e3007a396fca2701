import { describe, expect, test } from 'vitest';
import { ID, SESSIONS } from '../support/moves.ts';
import { arriveAt, codesBut, refusal } from '../support/wizard.ts';

type Script = NonNullable<Parameters<typeof arriveAt>[1]>;
const idOf = (digit: number) => String(digit).repeat(32);
async function arriveAtList(script: Script = {}) {
  const wizard = arriveAt('/status-from-email', script, SESSIONS.listing);
  await wizard.wait(0);
  return wizard;
}

describe('the list of transfers', () => {
  test('the last five transfers are listed, newest first', async () => {
    const transfers = Object.fromEntries([3, 1, 6, 2, 5, 4].map((day) => [idOf(day), `2025-11-0${day}T00:00:00Z`]));
    const wizard = await arriveAtList({ 'list the transfers': () => transfers });
    expect(wizard.asked('list the transfers')).toEqual([{ hash: 'hash' }]);
    expect(wizard.context().transfers).toEqual(
      [6, 5, 4, 3, 2].map((day) => ({ id: idOf(day), started: `2025-11-0${day}T00:00:00Z` })),
    );
  });

  test('each transfer of the list is told with how it stands, where that can be had', async () => {
    const statuses = { [ID]: { emailmigration: { status: 'inprogress' } } };
    const wizard = await arriveAtList({
      'list the transfers': () => ({ [ID]: '2025-11-01T00:00:00Z', ['f'.repeat(32)]: '2025-10-01T00:00:00Z' }),
      'ask for the statuses': () => statuses,
    });
    expect(wizard.asked('ask for the statuses')).toEqual([{ ids: [ID, 'f'.repeat(32)] }]);
    expect(wizard.isAt('statusFromEmail.showing.told')).toBe(true);
    expect(wizard.context().statuses).toEqual(statuses);
  });

  test('who looks at the list again is told how its transfers stand by now', async () => {
    const script: Script = {
      'list the transfers': () => ({ [ID]: '2025-11-01T00:00:00Z' }),
      'ask for the statuses': () => ({ [ID]: { emailmigration: { status: 'inprogress' } } }),
    };
    const wizard = await arriveAtList(script);
    const ended = { [ID]: { emailmigration: { status: 'completed' } } };
    script['ask for the statuses'] = () => ended;
    await wizard.send({ type: 'page.look' });
    expect(wizard.context().statuses).toEqual(ended);
    expect(wizard.asked('list the transfers')).toHaveLength(1);
  });

  test('the list is there while nobody says how its transfers stand, and after that', async () => {
    const wizard = await arriveAtList({ 'list the transfers': () => ({ [ID]: '2025-11-01T00:00:00Z' }) });
    expect(wizard.isAt('statusFromEmail.showing.asking')).toBe(true);
    await wizard.wait(30_000);
    expect(wizard.isAt('statusFromEmail.showing.told')).toBe(true);
    expect(wizard.context().transfers).toHaveLength(1);
  });

  test('transfers are told apart by their moment, whatever their time zones', async () => {
    const transfers = { [idOf(1)]: '2025-11-02T00:30:00+02:00', [idOf(2)]: '2025-11-01T23:00:00Z' };
    const wizard = await arriveAtList({ 'list the transfers': () => transfers });
    expect(wizard.context().transfers.map(({ id }) => id)).toEqual([idOf(2), idOf(1)]);
  });

  test('an empty list has not been found', async () => {
    const wizard = await arriveAtList({ 'list the transfers': () => ({}) });
    expect(wizard.isAt('statusFromEmail.notFound')).toBe(true);
  });

  test.each(codesBut('UNAVAILABLE'))('a list that fails with %s has not been found', async (code) => {
    const wizard = await arriveAtList({ 'list the transfers': refusal(code) });
    expect(wizard.isAt('statusFromEmail.notFound')).toBe(true);
  });

  test('a list is slow after 10 s, and has not been found after 30 s', async () => {
    const wizard = await arriveAtList();
    await wizard.wait(10_000);
    expect(wizard.has('slow')).toBe(true);
    await wizard.wait(19_999);
    expect(wizard.isAt('statusFromEmail.asking')).toBe(true);
    await wizard.wait(1);
    expect(wizard.isAt('statusFromEmail.notFound')).toBe(true);
  });

  test.each(['call.retry', 'connection.return'] as const)(
    'a portal that is unavailable goes on by %s',
    async (type) => {
      const script: Script = { 'list the transfers': refusal('UNAVAILABLE') };
      const wizard = await arriveAtList(script);
      expect(wizard.has('unavailable')).toBe(true);
      script['list the transfers'] = () => ({ [ID]: '2025-11-01T00:00:00Z' });
      await wizard.send({ type });
      expect(wizard.isAt('statusFromEmail.showing')).toBe(true);
    },
  );

  test('a portal that is unavailable is asked again by itself every 10 s, and the page stays', async () => {
    const script: Script = { 'list the transfers': refusal('UNAVAILABLE') };
    const wizard = await arriveAtList(script);
    await wizard.wait(9_999);
    expect(wizard.asked('list the transfers')).toHaveLength(1);
    await wizard.wait(1);
    expect(wizard.asked('list the transfers')).toHaveLength(2);
    expect(wizard.has('unavailable')).toBe(true);
    script['list the transfers'] = () => ({ [ID]: '2025-11-01T00:00:00Z' });
    await wizard.wait(10_000);
    expect(wizard.isAt('statusFromEmail.showing')).toBe(true);
    expect(wizard.context().transfers).toEqual([{ id: ID, started: '2025-11-01T00:00:00Z' }]);
  });

  test('a request by itself that is not answered is given up after 30 s, and made again', async () => {
    const script: Script = { 'list the transfers': refusal('UNAVAILABLE') };
    const wizard = await arriveAtList(script);
    delete script['list the transfers'];
    await wizard.wait(10_000);
    expect(wizard.isAt('statusFromEmail.unavailable.asking')).toBe(true);
    await wizard.wait(30_000);
    expect(wizard.isAt('statusFromEmail.unavailable.pausing')).toBe(true);
    await wizard.wait(10_000);
    expect(wizard.asked('list the transfers')).toHaveLength(3);
  });

  test.each([
    ['an empty list', () => ({})],
    ['GENERAL_ERROR', refusal('GENERAL_ERROR')],
  ])('what is answered by %s once the portal is there has not been found', async (_, answer) => {
    const script: Script = { 'list the transfers': refusal('UNAVAILABLE') };
    const wizard = await arriveAtList(script);
    script['list the transfers'] = answer;
    await wizard.wait(10_000);
    expect(wizard.isAt('statusFromEmail.notFound')).toBe(true);
  });

  test('without a proven address there is no list, and no call', () => {
    const wizard = arriveAt('/status-from-email');
    expect(wizard.isAt('statusFromEmail.notFound')).toBe(true);
    expect(wizard.asked('list the transfers')).toEqual([]);
  });
});
