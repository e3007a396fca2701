import { fuzzWeb } from '../support/web-fuzz.ts';

fuzzWeb(8);
