import { expect, test } from 'vitest';
import { GUIDES, guideOf, openGuide } from '../../machines/mail-guide.ts';
import { PROVIDERS } from '../../src/contract/provider-name.ts';
import { MAIL_FACTS, mailGuide } from '../../src/portal/wording/mail-guide.ts';
import { ID } from '../support/moves.ts';
import { arriveAt, type Wizard } from '../support/wizard.ts';

const STATUS = `/status?migration_id=${ID}`;
const script = {
  'ask for the status': () => ({ emailmigration: { status: 'completed', finished: '2025-11-02T00:00:00Z' } }),
};
const opened = (wizard: Wizard) => GUIDES.filter((guide) => wizard.isAt(`status.guide.${guide}`));

test.each(GUIDES)(
  'the guide for %s has an address of its own, which leads to it again and from which Back leads out',
  async (guide) => {
    const wizard = arriveAt(STATUS, script);
    await wizard.wait(0);
    await wizard.send({ type: 'guide.open', guide });
    expect(wizard.address()).toBe(`${STATUS}&guide=${guide}`);
    expect(opened(wizard)).toEqual([guide]);
    expect(opened(arriveAt(`${STATUS}&guide=${guide}`, script))).toEqual([guide]);
    await wizard.send({ type: 'guide.close' });
    expect(wizard.address()).toBe(STATUS);
    expect(opened(wizard)).toEqual([]);
  },
);

test.each([`${STATUS}&guide=nonsense`, `${STATUS}&guide=toString`, STATUS])('no guide is open at %s', (address) => {
  expect(opened(arriveAt(address, script))).toEqual([]);
});

test('a guide without a transfer is the page that finds none', () => {
  const wizard = arriveAt('/status?migration_id=short&guide=yahoo', script);
  expect(opened(wizard)).toEqual([]);
  expect(wizard.isAt('status.page.notFound')).toBe(true);
});

test('every provider has a guide, and whoever is no provider of ours the one for all others', () => {
  expect(PROVIDERS.map((provider) => [provider, guideOf(provider)])).toEqual([
    ['google', 'google'],
    ['yahoo', 'yahoo'],
    ['office365', 'office365'],
    ['aol', 'aol'],
    ['sanbruno', 'other'],
    ['file_export', 'other'],
    ['other', 'other'],
  ]);
  expect(openGuide('home')).toBeUndefined();
});

test('each guide names the servers and ports of its provider, and how to go on without a password that fits', () => {
  const servers = GUIDES.map((guide) => {
    const { incoming, outgoing } = MAIL_FACTS[guide];
    return [guide, incoming.server, incoming.port, outgoing.server, outgoing.port];
  });
  expect(servers).toEqual([
    ['google', 'imap.gmail.com', 993, 'smtp.gmail.com', 465],
    ['yahoo', 'imap.mail.yahoo.com', 993, 'smtp.mail.yahoo.com', 465],
    ['office365', 'outlook.office365.com', 993, 'smtp-mail.outlook.com', 587],
    ['aol', 'imap.aol.com', 993, 'smtp.aol.com', 465],
    ['other', '', 993, '', 465],
  ]);
  for (const guide of GUIDES) {
    expect(mailGuide.heading(guide)).toContain(MAIL_FACTS[guide].name);
    expect(MAIL_FACTS[guide].password.join(' ')).toMatch(guide === 'office365' ? /OAuth2/ : /app password/);
  }
});
