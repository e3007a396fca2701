import type { Requirement } from '../requirement.ts';

export const V11: readonly Requirement[] = [
  {
    id: '11.1.1',
    line: 'the life of keys is documented',
    shownBy: [
      'lists every use of cryptography, and no other',
      'is that of the first process, as long as something is sealed with it',
    ],
  },
  {
    id: '11.1.2',
    line: 'there is an inventory of cryptography',
    shownBy: [
      'lists every use of cryptography, and no other',
      'names the algorithms, sizes and costs that the source has',
    ],
  },
  {
    id: '11.2.1',
    line: 'implementations are those of the industry',
    shownBy: ['lists every use of cryptography, and no other'],
  },
  {
    id: '11.2.2',
    line: 'algorithms and keys can be replaced',
    shownBy: [
      'names its algorithm and its key, and is opened by that one alone',
      'from before it named them can still be opened',
      'is replaced while a transfer is under way, which then goes on',
    ],
  },
  {
    id: '11.2.3',
    line: 'every primitive has 128 bits or more',
    shownBy: [
      'names the algorithms, sizes and costs that the source has',
      'take what must not be guessed from the system’s random numbers',
    ],
  },
  {
    id: '11.3.1',
    line: 'no weak block modes and paddings',
    shownBy: ['names the algorithms, sizes and costs that the source has'],
  },
  {
    id: '11.3.2',
    line: 'approved ciphers and modes only',
    shownBy: ['names the algorithms, sizes and costs that the source has'],
  },
  {
    id: '11.3.3',
    line: 'what is encrypted can not be changed',
    shownBy: [
      'can not be changed by a bit without being refused',
      "can't be opened by the vault's key alone, at another place, or after it was destroyed",
    ],
  },
  {
    id: '11.4.1',
    line: 'approved hash functions only',
    shownBy: ['names the algorithms, sizes and costs that the source has'],
  },
  {
    id: '11.4.2',
    line: 'passwords are stored by a costly function',
    shownBy: [
      'what is kept of a password is sealed, and goes with the export',
      'names the algorithms, sizes and costs that the source has',
    ],
  },
  {
    id: '11.4.3',
    line: 'hashes for integrity have 256 bits',
    shownBy: ['names the algorithms, sizes and costs that the source has'],
  },
  {
    id: '11.4.4',
    line: 'keys of passwords are derived by a costly function',
    not: 'No key is made of a password; SECRET_KEY is 32 random bytes.',
  },
  {
    id: '11.5.1',
    line: 'what must not be guessed is random, of 128 bits or more',
    shownBy: [
      'take what must not be guessed from the system’s random numbers',
      'the right password is proven by a sign-in and answered with a session token',
    ],
  },
  {
    id: '11.6.1',
    line: 'key pairs and signatures by approved algorithms',
    shownBy: [
      'lists every use of cryptography, and no other',
      'is checked by a command, with nothing but the key',
      '%s signs nobody in',
    ],
  },
];
