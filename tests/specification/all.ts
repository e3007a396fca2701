import { SECTION_4, SECTION_5, SECTION_6 } from './behaviour.ts';
import { SECTION_7 } from './calls.ts';
import { DECISIONS } from './decisions.ts';
import { STANDARDS } from '../security/standards.ts';
import { SECTION_8, SECTION_9 } from './messages.ts';
import { SECTION_1, SECTION_2, SECTION_3 } from './product.ts';
import type { Rule } from './rule.ts';

export const SECTIONS: readonly (readonly [number: number, rules: readonly Rule[]])[] = [
  [1, SECTION_1],
  [2, SECTION_2],
  [3, SECTION_3],
  [4, SECTION_4],
  [5, SECTION_5],
  [6, SECTION_6],
  [7, SECTION_7],
  [8, SECTION_8],
  [9, SECTION_9],
];

/** Every line of the specification and of the security standards. */
export const RULES: readonly Rule[] = [...[...SECTIONS, ...DECISIONS].flatMap(([, listed]) => listed), ...STANDARDS];
