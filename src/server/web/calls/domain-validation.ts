import { domainToASCII } from 'node:url';
import { domainValidation } from '../../../contract/calls/domain-validation.ts';
import { isAmongDomains, isDomain } from '../../../contract/email-address.ts';
import {
  certainRecordsOf,
  recordsOf,
  ResolverUnavailable,
  takesMailBy,
  type Resolver,
} from '../../network/resolver.ts';
import { domainUnchecked } from '../refusal.ts';
import type { Web } from '../services.ts';
import { route } from './route.ts';

export const answerDomainValidation = route(
  domainValidation,
  'look-ups by a client',
  async ({ query }, { settings, resolver }: Pick<Web, 'settings' | 'resolver'>) => {
    const given = query.domain.trim();
    // Checked before conversion, because `domainToASCII` also decodes `%2E`.
    const domain = isDomain(given) ? domainToASCII(given).toLowerCase() : '';
    if (!isDomain(domain)) return { valid: false };
    if (isAmongDomains(domain, settings.legacyDomains)) return { valid: true };
    try {
      return { valid: await takesMail(domain, resolver) };
    } catch (error) {
      if (!(error instanceof ResolverUnavailable)) throw error;
      throw domainUnchecked(error);
    }
  },
);

/** Mail goes to the MX hosts or, without any, to the domain's own address (RFC 5321 §5.1). */
async function takesMail(domain: string, resolver: Resolver): Promise<boolean> {
  const exchangers = await certainRecordsOf(resolver.resolveMx(domain));
  if (exchangers.length > 0) return takesMailBy(exchangers);
  const [v4, v6] = await Promise.all([
    certainRecordsOf(resolver.resolve4(domain)),
    recordsOf(resolver.resolve6(domain)),
  ]);
  return v4.length + v6.length > 0;
}
