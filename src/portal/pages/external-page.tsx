import { BarsLoader } from '../parts/bars-loader.tsx';
import { shared } from '../wording.ts';
import { useWizard } from '../wizard-context.tsx';
import { WizardPage } from './wizard-page.tsx';

/** The privacy policy or the terms of service, on their way to the page that has them. */
export function ExternalPage() {
  const isPrivacy = useWizard((snapshot) => snapshot.matches('privacyPolicy'));
  return (
    <WizardPage heading={isPrivacy ? shared.privacy : shared.terms}>
      <BarsLoader label={shared.loading} text={shared.oneMoment} />
    </WizardPage>
  );
}
