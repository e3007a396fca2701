import { wizard } from '../../wizard.setup.ts';
import { waiting } from '../waiting.ts';
import { closedWhileCalling, LOOKING, passwordForm, refusedAt, typing } from './act.ts';

const { failed, failures } = refusedAt('#status-forwarding-refused', 'forwarding refused', LOOKING);

/** Needs the password of the San Bruno mailbox, as it changes where that mailbox's mail goes. */
export const forwardingOff = wizard.createStateConfig({
  initial: 'asking',
  states: {
    asking: {
      initial: 'editing',
      on: {
        ...typing,
        'act.submit': [{ guard: 'the password is empty', target: '.passwordMissing' }, { target: 'calling' }],
      },
      states: passwordForm('status-forwarding-refused'),
    },
    calling: {
      ...waiting(failed),
      on: closedWhileCalling,
      invoke: {
        src: 'stop forwarding',
        input: ({ context }) => ({ id: context.transferId ?? '', password: context.typed.password }),
        onDone: {
          target: '#status-asking',
          actions: [
            'forget the sign-in',
            { type: 'show the message', params: { message: { about: 'forwarding stopped' } } },
          ],
        },
        onError: failures,
      },
    },
  },
});
