import type { ReactNode } from 'react';
import type { Message as Subject } from '../../../machines/wizard.types.ts';
import { Message } from '../parts/message.tsx';
import { shared } from '../wording.ts';
import { messageWords, wordsBesideTransfers } from '../wording/message.ts';
import type { MessageWords } from '../wording/message.ts';
import { useSend, useWizard } from '../wizard-context.tsx';

/** The page's message. The machine holds its clock while the pointer or the focus is on it. */
export function Banner({ message }: { readonly message: Subject }) {
  const send = useSend();
  const legacyName = useWizard((snapshot) => snapshot.context.settings.legacyName);
  // A failed sign-in returns to Home only if it was begun there, to look up transfers.
  const wordsOf = useWizard((at) => (at.matches('home') || at.matches('status') ? wordsBesideTransfers : messageWords));
  return (
    <WordedMessage
      words={wordsOf(message, legacyName)}
      onHold={() => send({ type: 'message.hold' })}
      onRelease={() => send({ type: 'message.release' })}
    />
  );
}

type Props = {
  readonly words: MessageWords;
  readonly children?: ReactNode;
  readonly onHold?: () => void;
  readonly onRelease?: () => void;
};

export function WordedMessage({ words, children, ...clock }: Props) {
  const mail = useWizard((snapshot) => snapshot.context.settings.destinationMailUrl);
  return (
    <Message kind={words.kind} title={words.title} content={words.content} {...clock}>
      {children}
      {words.toMail !== undefined && (
        <p>
          <a href={mail}>{words.toMail}</a>
        </p>
      )}
    </Message>
  );
}

/** What is said when an answer takes longer than usual. */
export function SlowNote() {
  return <Message kind="info" content={[shared.slow]} />;
}
