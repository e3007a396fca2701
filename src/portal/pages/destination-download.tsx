import { CONTACTS_FORMATS, EMAIL_FORMATS } from '../../contract/export-format.ts';
import { Button } from '../parts/button.tsx';
import { Choice } from '../parts/choice.tsx';
import { Form } from '../parts/form.tsx';
import { shared } from '../wording.ts';
import { destination } from '../wording/destination.ts';
import { useSend, useWizard } from '../wizard-context.tsx';
import { WizardPage } from './wizard-page.tsx';

const words = destination.download;

/** The form for a download. It replaces the page; Back returns to the ways to choose from. */

export function DownloadPage() {
  const snapshot = useWizard((whole) => whole);
  const send = useSend();
  const { emailExportType, contactsExportType, settings } = snapshot.context;
  return (
    <WizardPage heading={words.heading} lead={words.intro(settings.sendsNoLetters !== true, settings)} view="download">
      <Form label={words.heading} onSubmit={() => send({ type: 'download.press' })}>
        <p>{words.recommended(emailExportType === 'eml' && contactsExportType === 'csv', settings)}</p>
        <div className="stack" data-gap="small">
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
          <Button onPress={() => send({ type: 'page.back' })}>{shared.back}</Button>
        </div>
      </Form>
    </WizardPage>
  );
}
