import { CONTACTS_FORMATS, EMAIL_FORMATS } from '../../contract/export-format.ts';
import { Button } from '../parts/button.tsx';
import { Choice } from '../parts/choice.tsx';
import { Form } from '../parts/form.tsx';
import { FormHeading } from '../parts/form-heading.tsx';
import { destination } from '../wording/destination.ts';
import { useSend, useWizard } from '../wizard-context.tsx';

const words = destination.download;

export function DownloadForm() {
  const snapshot = useWizard((whole) => whole);
  const send = useSend();
  const { emailExportType, contactsExportType } = snapshot.context;
  return (
    <Form label={words.heading} onSubmit={() => send({ type: 'download.press' })}>
      <FormHeading heading={words.heading} intro={words.intro} />
      <div className="columns">
        <Choice
          label={words.emailFormat}
          prompt={words.choose}
          value={emailExportType}
          options={EMAIL_FORMATS.map((value) => ({ value, text: words.emailFormats[value] }))}
          onChoose={(format) => send({ type: 'email-format.choose', format })}
        />
        <Choice
          label={words.contactsFormat}
          prompt={words.choose}
          value={contactsExportType}
          options={CONTACTS_FORMATS.map((value) => ({ value, text: words.contactsFormats[value] }))}
          onChoose={(format) => send({ type: 'contacts-format.choose', format })}
        />
      </div>
      <div className="actions">
        <Button rank="primary" type="submit" disabled={!snapshot.can({ type: 'download.press' })}>
          {words.submit}
        </Button>
      </div>
    </Form>
  );
}
