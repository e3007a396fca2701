import { at } from './at.tsx';
import { EXPORTED, RUNNING, TRANSFER } from './people.ts';

export default { title: 'States/Status from email' };

const proven = { emailHash: 'a-hash' };
const destination = { email: 'pat.rivera@gmail.com', provider: 'google' } as const;
const OLDER = '9b1e77c2a04d4f1f8d5e6a3b2c1d0e9f';
const { files: _, exports: __, ...done } = EXPORTED;
const statuses = { [TRANSFER]: RUNNING, [OLDER]: done };
const transfers = [
  { id: TRANSFER, started: '2025-10-20T09:12:00-07:00' },
  { id: OLDER, started: '2025-10-02T18:20:00-07:00' },
];

export const AskingPrompt = at('statusFromEmail.asking.prompt', proven);
export const AskingSlow = at('statusFromEmail.asking.slow', proven);
export const ShowingAsking = at('statusFromEmail.showing.asking', { ...proven, destination, transfers });
export const ShowingTold = at('statusFromEmail.showing.told', { ...proven, destination, transfers, statuses });
export const NotFound = at('statusFromEmail.notFound', proven);
export const UnavailablePausing = at('statusFromEmail.unavailable.pausing', proven);
export const UnavailableAsking = at('statusFromEmail.unavailable.asking', proven);
