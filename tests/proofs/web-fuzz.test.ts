import { ALL_PROOFS } from '../folders.ts';
import { fuzzWeb } from '../support/web-fuzz.ts';

fuzzWeb(ALL_PROOFS ? 2000 : 100);
