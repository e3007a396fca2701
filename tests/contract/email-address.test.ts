import { expect, test } from 'vitest';
import { domainOf, isAmongDomains, isAtDomain } from '../../src/contract/email-address.ts';

test.each([
  ['ann@bücher.example', 'xn--bcher-kva.example', true],
  ['ann@XN--BCHER-KVA.example', 'bücher.example', true],
  ['ann@BÜCHER.example', 'bücher.example', true],
  ['ann@bucher.example', 'bücher.example', false],
  ['ann@bücher.example/x', 'bücher.example', false],
  ['ann@bücher.example:80', 'bücher.example', false],
  ['ann@b%C3%BCcher.example', 'bücher.example', false],
  ['ann@xn--a.example', 'xn--b.example', false],
  ['', 'bücher.example', false],
])('%j is at the domain that the operator writes as %s: %s', (email, domain, isThere) => {
  expect(isAmongDomains(domainOf(email), ['other.example', domain])).toBe(isThere);
});

test('a mailbox has one spelling: at the legacy domain is only what is written as the operator does', () => {
  expect(isAtDomain('ann@BÜCHER.example', ['bücher.example'])).toBe(true);
  expect(isAtDomain('ann@xn--bcher-kva.example', ['bücher.example'])).toBe(false);
});
