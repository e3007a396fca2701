import { PATHS } from '../../machines/wizard.routes.ts';
import { OAUTH_START, OAUTH_START_FOR_STATUS } from '../../src/contract/calls/oauth.ts';
import { type OauthProvider } from '../../src/contract/provider.ts';
import { isOauthProvider } from '../../src/contract/provider-name.ts';
import { Button } from '../../src/portal/parts/button.tsx';
import { Page } from '../../src/portal/parts/page.tsx';
import { PAT, TOKEN } from '../people.ts';

type Props = {
  readonly address: string;
  /** Who is signed in to the portal; `''` if nobody is. */
  readonly subscriber: string;
  readonly onReturn: (path: string) => void;
};

const MAILBOXES: Readonly<Record<OauthProvider, string>> = {
  google: 'pat.rivera@gmail.com',
  office365: 'pat.rivera@outlook.com',
  aol: 'pat.rivera@aol.com',
  yahoo: PAT,
};

/** Stands in for a page outside the portal: a provider's sign-in, with all of its possible answers, or any other page. */
export function Elsewhere({ address, subscriber, onReturn }: Props) {
  const { pathname, searchParams, hostname } = new URL(address, 'https://portal.example');
  const provider = searchParams.get('provider') ?? '';
  const forStatus = pathname === OAUTH_START_FOR_STATUS;
  if ((!forStatus && pathname !== OAUTH_START) || !isOauthProvider(provider))
    return (
      <Page heading={`At ${hostname}`} title="Elsewhere" lead="The portal was left for this page.">
        <p className="code">{address}</p>
        <div className="actions">
          <Button onPress={() => onReturn(PATHS.home)}>Back to the portal</Button>
        </div>
      </Page>
    );
  const mailbox = provider === 'yahoo' && subscriber !== '' ? subscriber : MAILBOXES[provider];
  const answer = (email: string, error = '') => {
    const given =
      error === ''
        ? { token_id: TOKEN, email, provider, ...(forStatus ? { hash: 'a-hash' } : {}) }
        : { error, provider };
    onReturn(`${forStatus ? PATHS.returnedForStatus : PATHS.returned}?${new URLSearchParams(given).toString()}`);
  };
  return (
    <Page
      heading="Sign in at the provider"
      title="Elsewhere"
      lead="This stands in for the provider’s own sign-in. The portal’s page is gone, and loads again on the way back."
    >
      <p className="code">{address}</p>
      <div className="actions">
        <Button rank="primary" onPress={() => answer(mailbox)}>{`Sign in as ${mailbox}`}</Button>
        <Button onPress={() => answer('somebody.else@mail.example')}>Sign in as somebody else</Button>
        <Button onPress={() => answer('', 'EXTERNAL_OAUTH_ERROR')}>Refuse</Button>
        <Button onPress={() => answer('', 'MISSING_SCOPE')}>Leave out a permission</Button>
      </div>
    </Page>
  );
}
