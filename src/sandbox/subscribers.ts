import type { MailboxKind } from './mailbox/seed.ts';
import type { ProvisioningState } from './provisioning.ts';

/** A customer of the legacy provider. `provisioned` is their initial state in the account-creation service. */
export type Subscriber = {
  readonly name: string;
  readonly email: string;
  readonly password: string;
  readonly about: string;
  readonly mailboxes: MailboxKind;
  readonly contacts: number;
  readonly provisioned?: ProvisioningState;
};

/** The seeded subscribers, at the legacy provider's domains. */
export function seededSubscribers(domains: readonly string[]): readonly Subscriber[] {
  const [first = 'sanbrunocable.example', second = first, third = first] = domains;
  return [
    {
      name: 'Maria Keller',
      email: `maria.keller@${first}`,
      password: 'garden-2005',
      about: 'Twenty years of mail: 400 letters in 14 mailboxes, some of them odd; 60 contacts. Never moved.',
      mailboxes: 'twenty years',
      contacts: 60,
    },
    {
      name: 'Tom Rivera',
      email: `tom.rivera@${first}`,
      password: 'harbor-1998',
      about: 'A dozen letters and 3 contacts, for a quick look. Never moved.',
      mailboxes: 'a dozen',
      contacts: 3,
    },
    {
      name: 'Ruth Young',
      email: `ruth.young@${second}`,
      password: 'blank-page',
      about: 'An empty mailbox and no contacts. Never moved.',
      mailboxes: 'empty',
      contacts: 0,
    },
    {
      name: 'Walter Price',
      email: `walter.price@${third}`,
      password: 'almost-there',
      about: 'Has a Yahoo account already, but has not begun to move: the move goes on without a message.',
      mailboxes: 'a dozen',
      contacts: 3,
      provisioned: 'created',
    },
    {
      name: 'Ines Moreno',
      email: `ines.moreno@${first}`,
      password: 'on-the-way',
      about: 'Has begun to move: “Transfer is already in progress”.',
      mailboxes: 'a dozen',
      contacts: 3,
      provisioned: 'in progress',
    },
    {
      name: 'Paul Tanaka',
      email: `paul.tanaka@${first}`,
      password: 'long-gone',
      about: 'Has moved: “Transfer is already completed”.',
      mailboxes: 'a dozen',
      contacts: 3,
      provisioned: 'completed',
    },
  ];
}
