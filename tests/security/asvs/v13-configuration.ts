import type { Requirement } from '../requirement.ts';

export const V13: readonly Requirement[] = [
  {
    id: '13.1.1',
    line: 'it is documented what is connected to',
    shownBy: ['tells what goes to each address that a setting names'],
  },
  {
    id: '13.2.1',
    line: 'services authenticate by short-lived or own credentials',
    open: 'decisions.md (Settings) fixes it: PROVISIONING_TOKEN, SMS_TOKEN and the passwords in DATABASE_URL and SMTP_URL, which do not change by themselves. They are each service’s own; what lays them down as files may change them, and a restart takes the new ones.',
  },
  {
    id: '13.2.2',
    line: 'services have the least rights',
    not: 'Which rights the accounts of the database, the bucket and the gateways have is the operator’s; SECURITY.md asks for accounts of the product’s own.',
  },
  {
    id: '13.2.3',
    line: 'no default credentials between services',
    shownBy: ['has no value of its own in the settings', 'the sandbox and the viewer are refused: %o'],
  },
  {
    id: '13.2.4',
    line: 'what may be connected to is a list',
    shownBy: [
      'port %i is no mail port',
      'never reaches this machine, however it is spelled',
      'a host that the operator trusts may be anywhere, at the port that is named',
      'a next page at another host is not requested',
    ],
  },
  {
    id: '13.2.5',
    line: 'what the web server may ask and load is a list',
    shownBy: [
      '%s is not there',
      'that points to %s is not followed there',
      'never reaches this machine, however it is spelled',
    ],
  },
  {
    id: '13.3.1',
    line: 'secrets are kept by a key vault, and in no source or build',
    // A vault hands secrets over as files; the product asks none over the network.
    shownBy: [
      'comes from the file that %s_FILE names',
      'is each setting whose name says so, and each address that has a password in it',
      'a secret whose file can not be used is named, with what to do, and neither the file nor the secret',
      'has no secret of its operator in it, whatever the settings were when it was built',
      'holds no key, token or password of anything that runs elsewhere',
    ],
  },
  {
    id: '13.3.2',
    line: 'secrets are for who needs them',
    shownBy: [
      'lies where its owner alone can read it',
      'no password and no token of it is anywhere, whether it completed or its owner stopped it while it was at rest',
    ],
  },
  { id: '13.4.1', line: 'nothing of the repository can be asked for', shownBy: ['to %s is nothing of the repository'] },
  {
    id: '13.4.2',
    line: 'no debug modes in production',
    shownBy: [
      'the sandbox and the viewer are refused: %o',
      'a build that is not asked for the inspector has nothing of it',
    ],
  },
  { id: '13.4.3', line: 'no listings of folders', shownBy: ['%s is not there'] },
  { id: '13.4.4', line: 'no TRACE', shownBy: ['by TRACE gives nothing of itself back'] },
  {
    id: '13.4.5',
    line: 'documentation and monitoring are public only on purpose',
    shownBy: ['the server says that it lives and that it is ready', 'tells who may make each call, and of no other'],
  },
];
