import type { Rule } from '../specification/rule.ts';
import { V1 } from './asvs/v01-encoding.ts';
import { V2 } from './asvs/v02-validation.ts';
import { V3 } from './asvs/v03-web-frontend.ts';
import { V4 } from './asvs/v04-web-service.ts';
import { V5 } from './asvs/v05-files.ts';
import { V6 } from './asvs/v06-authentication.ts';
import { V7 } from './asvs/v07-sessions.ts';
import { V8 } from './asvs/v08-authorization.ts';
import { V9 } from './asvs/v09-tokens.ts';
import { V10 } from './asvs/v10-oauth.ts';
import { V11 } from './asvs/v11-cryptography.ts';
import { V12 } from './asvs/v12-communication.ts';
import { V13 } from './asvs/v13-configuration.ts';
import { V14 } from './asvs/v14-data.ts';
import { V15 } from './asvs/v15-coding.ts';
import { V16 } from './asvs/v16-logging.ts';
import { V17 } from './asvs/v17-webrtc.ts';
import { ruleOf, type Requirement } from './requirement.ts';
import { RFC_9700 } from './rfc9700.ts';

/** OWASP ASVS 5.0.0, every requirement of the levels 1 and 2. */
export const ASVS: readonly Requirement[] = [
  V1,
  V2,
  V3,
  V4,
  V5,
  V6,
  V7,
  V8,
  V9,
  V10,
  V11,
  V12,
  V13,
  V14,
  V15,
  V16,
  V17,
].flat();

/** Both, as lines of the table that a whole run holds. */
export const STANDARDS: readonly Rule[] = [
  ...ASVS.map((each) => ruleOf('ASVS', each)),
  ...RFC_9700.map((each) => ruleOf('RFC 9700', each)),
];
