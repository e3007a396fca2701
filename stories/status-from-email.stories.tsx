import { at } from './at.tsx';
import { TRANSFER } from './people.ts';

export default { title: 'States/Status from email' };

const proven = { emailHash: 'a-hash' };
const transfers = [
  { id: TRANSFER, started: '2025-10-20T09:12:00-07:00' },
  { id: '9b1e77c2a04d4f1f8d5e6a3b2c1d0e9f', started: '2025-10-02T18:20:00-07:00' },
];

export const AskingPrompt = at('statusFromEmail.asking.prompt', proven);
export const AskingSlow = at('statusFromEmail.asking.slow', proven);
export const Showing = at('statusFromEmail.showing', { ...proven, transfers });
export const NotFound = at('statusFromEmail.notFound', proven);
export const Unavailable = at('statusFromEmail.unavailable', proven);
