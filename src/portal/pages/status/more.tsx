import { isOffered } from '../../../../machines/owner-acts.ts';
import type { WizardSnapshot } from '../../../../machines/wizard.routes.ts';
import { Button } from '../../parts/button.tsx';
import type { Note } from '../../parts/field-note.tsx';
import { useSend } from '../../wizard-context.tsx';
import { signIn } from '../../wording/home-modals.ts';
import { wordsBesideTransfers } from '../../wording/message.ts';
import { status as statusWords } from '../../wording/status.ts';
import { SlowNote, WordedMessage } from '../banner.tsx';
import { legacyEmailNote, SignInDialog } from '../sign-in-form.tsx';

const words = statusWords.more;

type Props = { readonly snapshot: WizardSnapshot };

/** Offers visitors who see only numbers a sign-in that shows everything, above all the files of an export. */
export function ShowMore({ snapshot, files = false }: Props & { readonly files?: boolean }) {
  const send = useSend();
  const { settings, status } = snapshot.context;
  return (
    <section className="stack on-screen" data-gap="small">
      <p>{files ? words.filesLead : hasReceipt(snapshot) ? words.receiptLead : words.lead}</p>
      <div className="actions">
        <Button rank={files ? 'primary' : 'secondary'} onPress={() => send({ type: 'more.show' })}>
          {words.button}
        </Button>
      </div>
      {snapshot.matches({ status: { more: 'signingIn' } }) && (
        <SignInDialog
          title={words.title}
          help={words.help(settings.legacyName, status?.files === 'there' || status?.files === 'coming')}
          emailNote={emailNote(snapshot)}
          passwordMissing={snapshot.matches({ status: { more: { signingIn: 'passwordMissing' } } })}
          busy={!snapshot.can({ type: 'password.type', password: '' })}
        >
          <Outcome snapshot={snapshot} />
        </SignInDialog>
      )}
    </section>
  );
}

/** Whether its owner would be offered the receipt. */
function hasReceipt({ context: { status } }: WizardSnapshot): boolean {
  if (status === null) return false;
  const { limited: _, ...whole } = status;
  return isOffered(whole, 'receipt');
}

function emailNote(snapshot: WizardSnapshot): Note | undefined {
  const at = (state: 'malformed' | 'notLegacy') => snapshot.matches({ status: { more: { signingIn: state } } });
  if (at('malformed')) return legacyEmailNote('malformed', snapshot.context.settings.legacyName);
  if (at('notLegacy')) return legacyEmailNote('notLegacy', snapshot.context.settings.legacyName);
  return undefined;
}

function Outcome({ snapshot }: Props) {
  const { message, settings } = snapshot.context;
  if (snapshot.matches({ status: { more: { signingIn: 'refused' } } }) && message !== null)
    return <WordedMessage words={wordsBesideTransfers(message, settings.legacyName)} />;
  if (snapshot.hasTag('slow')) return <SlowNote />;
  return <p className="soft">{signIn.forgot(settings.supportPhone)}</p>;
}
