import type { Requirement } from '../requirement.ts';

export const V9: readonly Requirement[] = [
  {
    id: '9.1.1',
    line: 'tokens are believed by their signature',
    shownBy: ['%s signs nobody in', 'that is as it should be signs its owner in'],
  },
  { id: '9.1.2', line: 'only known algorithms, and never none', shownBy: ['%s signs nobody in'] },
  { id: '9.1.3', line: 'keys come from the issuer, not from the token', shownBy: ['%s signs nobody in'] },
  { id: '9.2.1', line: 'tokens are good in their time only', shownBy: ['%s signs nobody in'] },
  { id: '9.2.2', line: 'tokens are of the right kind', shownBy: ['%s signs nobody in'] },
  { id: '9.2.3', line: 'tokens are for this audience', shownBy: ['%s signs nobody in'] },
  {
    id: '9.2.4',
    line: 'issued tokens name their audience',
    not: 'The product issues no self-contained token: its own are random and looked up.',
  },
];
