import { useState } from 'react';
import { Checkbox } from '../../src/portal/parts/checkbox.tsx';
import { Choice } from '../../src/portal/parts/choice.tsx';
import { Field, type FieldProps } from '../../src/portal/parts/field.tsx';
import type { Note } from '../../src/portal/parts/field-note.tsx';
import { PasswordField } from '../../src/portal/parts/password-field.tsx';
import { TextArea } from '../../src/portal/parts/text-area.tsx';
import { shared } from '../../src/portal/wording.ts';
import { fieldErrors } from '../../src/portal/wording/field-errors.ts';
import { destination } from '../../src/portal/wording/destination.ts';
import { startMigration } from '../../src/portal/wording/start-migration.ts';
import { support } from '../../src/portal/wording/support.ts';
import { inColumn } from './in-column.tsx';

export default { title: 'Parts/Fields', decorators: [inColumn] };

type Typed = Omit<FieldProps, 'value' | 'onType' | 'name'> & { readonly value?: string };

function Text({ value: first = '', ...field }: Typed) {
  const [value, setValue] = useState(first);
  return <Field {...field} name="field" value={value} onType={setValue} />;
}

function Password({ note }: { readonly note?: Note }) {
  const [value, setValue] = useState('correct horse');
  return <PasswordField label="Password" words={shared.password} value={value} note={note} onType={setValue} />;
}

const wrong = (text: string): Note => ({ kind: 'error', text });

export const Empty = () => <Text label="Email" />;
export const WithHelp = () => (
  <Text label="Transfer ID" help="The 32 letters and digits that we gave you when the transfer started." code />
);
export const Waiting = () => (
  <Text label="Email" value="pat@mail.example" note={{ kind: 'waiting', text: shared.checking }} />
);
export const Good = () => (
  <Text label="IMAP host" value="imap.mail.example" note={{ kind: 'good', text: destination.other.hostGood }} />
);
export const ReadOnly = () => <Text label="Email" value="pat@mail.example" readOnly />;

export const InvalidEmail = () => <Text label="Email" value="pat" note={wrong(fieldErrors.email)} />;
export const ForeignEmail = () => (
  <Text label="Email" value="pat@mail.example" note={wrong(fieldErrors.legacyEmail('San Bruno'))} />
);
export const InvalidHost = () => (
  <Text label="IMAP host" value="imap mail" note={wrong(destination.other.invalidHost)} />
);
export const UnresolvedHost = () => (
  <Text label="IMAP host" value="imap.mail.example" note={wrong(destination.other.unresolvedHost)} />
);
export const MissingContact = () => (
  <Text label={startMigration.field('move')} note={wrong(startMigration.errors.contact('move'))} />
);
export const InvalidContactEmail = () => (
  <Text label={startMigration.field('transfer')} value="pat@" note={wrong(startMigration.errors.email)} />
);
export const InvalidContactPhone = () => (
  <Text label={startMigration.field('move')} value="555 0123" note={wrong(startMigration.errors.phone)} />
);
export const LegacyContact = () => (
  <Text
    label={startMigration.field('download')}
    value="pat@sanbruno.example"
    note={wrong(startMigration.errors.legacy('San Bruno'))}
  />
);
export const InvalidSupportEmail = () => (
  <Text
    label={support.legacyEmail('San Bruno')}
    value="pat@mail.example"
    note={wrong(support.errors.legacyEmail('sanbrunocable.example'))}
  />
);
export const InvalidTransferId = () => (
  <Text label={support.transferId} value="3f9c" note={wrong(support.errors.transferId)} code />
);

export const PasswordHidden = () => <Password />;
export const PasswordMissing = () => <Password note={wrong(fieldErrors.password)} />;

export const LongText = () => {
  const [issue, setIssue] = useState('The folder "Recipes" did not arrive.');
  return <TextArea label={support.issue} help={support.issueHelp} maxLength={500} value={issue} onType={setIssue} />;
};
export const OneOfAList = () => {
  const [format, setFormat] = useState<'eml' | 'mbox' | null>(null);
  return (
    <Choice
      label="Email format"
      prompt={destination.download.choose}
      value={format}
      options={[
        { value: 'eml', text: destination.download.emailFormats.eml },
        { value: 'mbox', text: destination.download.emailFormats.mbox },
      ]}
      onChoose={setFormat}
    />
  );
};
export const Tick = () => {
  const [checked, setChecked] = useState(true);
  return <Checkbox label="Use a custom IMAP host" checked={checked} onToggle={() => setChecked(!checked)} />;
};
