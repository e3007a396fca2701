import type { Operation } from '../../contract/operation.ts';
import type { Transfer } from '../store/transfers.ts';
import { runContacts } from './contacts.runner.ts';
import { runMail } from './mail.runner.ts';
import type { Runner } from './runner.ts';

/** Chooses what does an operation, by where it goes. */
export function runnerOf(_transfer: Transfer, operation: Operation): Runner {
  switch (operation) {
    case 'emailmigration':
      return runMail;
    case 'contactsmigration':
      return runContacts;
    case 'emailforwarding':
      throw new Error('Forwarding is not offered, so it can not have been ordered.');
  }
}
