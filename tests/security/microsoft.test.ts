import { expect, test } from 'vitest';
import { office365 } from '../../src/server/oauth/office365.ts';

const PERSONAL = '9188040d-6c67-4c5b-b112-36a304b66dad';
const TENANT = 'c0ffee00-0000-4000-8000-000000000000';
const email = 'ann@sanbruno.example';

test.each([
  ['of a personal account', { email, tid: PERSONAL }, true],
  ['whose domain the tenant owns', { email, tid: TENANT, xms_edov: true }, true],
  ['whose domain the tenant owns, as some tokens say it', { email, tid: TENANT, xms_edov: '1' }, true],
  ['that an administrator has set', { email, tid: TENANT }, false],
  ['of a domain that the tenant does not own', { email, tid: TENANT, xms_edov: false }, false],
  ['that is a name at the tenant', { preferred_username: email, tid: TENANT }, false],
])('an address %s is believed to be somebody: %s', (_what, claims, believed) => {
  expect(office365.isVerified?.(claims)).toBe(believed);
  expect(office365.emailClaims).toEqual(['email']);
});
