import type { Locator, Page } from 'playwright';

export type Subscriber = { readonly email: string; readonly password: string };

/** What a person does in the portal and on the sandbox's sign-in pages, by the names that people and screen readers find. */
export async function signIn(page: Page, subscriber: Subscriber): Promise<void> {
  const submit = await fillSignIn(page, subscriber);
  await submit.click();
}

/** Opens the sign-in and fills it in. @returns its button */
export async function fillSignIn(page: Page, { email, password }: Subscriber): Promise<Locator> {
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Sign in to get started' });
  await dialog.getByLabel('Email', { exact: true }).fill(email);
  await dialog.getByLabel('Password', { exact: true }).fill(password);
  return dialog.getByRole('button', { name: 'Sign in', exact: true });
}

/** On Home, asks how a transfer stands. */
export async function lookUpTransfer(page: Page, id: string): Promise<void> {
  await page.getByRole('button', { name: 'check your transfer status' }).click();
  await page.getByLabel('Transfer ID').fill(id);
  await page.getByRole('button', { name: 'Check status' }).click();
}

/** From Home to the sandbox's sign-in page of Yahoo. */
export async function goToYahoo(page: Page, url: string, subscriber: Subscriber): Promise<void> {
  await page.goto(url);
  await signIn(page, subscriber);
  await page.waitForURL('**/destination-account');
  await page.getByRole('button', { name: 'Go to Yahoo Mail' }).click();
  await page.getByRole('dialog', { name: 'Important notice' }).getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('heading', { name: 'Sandbox: Yahoo sign-in' }).waitFor();
}

/** Signs in at a sandbox provider and agrees to all it asks. */
export async function consent(page: Page, { email, password }: Subscriber): Promise<void> {
  await page.getByLabel('Email', { exact: true }).fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('button', { name: 'Agree' }).click();
}

/** Gives the address, waits until it is accepted, and starts the transfer. Answers its ID. */
export async function startTransfer(
  page: Page,
  contact: string,
  action: 'Move' | 'Transfer' | 'Download',
): Promise<string> {
  await page.waitForURL('**/start-migration');
  await page.getByLabel(action === 'Move' ? 'Notification email or phone number' : 'Notification email').fill(contact);
  await page.getByRole('button', { name: action, exact: true }).click();
  await page.waitForURL('**/complete?migration_id=*');
  return new URL(page.url()).searchParams.get('migration_id') ?? '';
}

/** Opens the form for any other provider, fills it in and signs in. */
export async function chooseOther(page: Page, subscriber: Subscriber, host?: string): Promise<void> {
  await page.getByRole('button', { name: 'Check other options to export your data' }).click();
  await page.getByRole('button', { name: 'Other', exact: true }).click();
  await fillOther(page, subscriber, host);
}

export async function fillOther(page: Page, { email, password }: Subscriber, host?: string): Promise<void> {
  const form = page.getByRole('form', { name: 'Another provider' });
  await form.getByLabel('Email', { exact: true }).fill(email);
  await form.getByLabel('Password', { exact: true }).fill(password);
  if (host !== undefined) {
    await form.getByLabel('Use a custom IMAP host').check();
    await form.getByLabel('IMAP host', { exact: true }).fill(host);
    await form.getByLabel('IMAP host', { exact: true }).blur();
    await form.getByText('We found this server.').waitFor();
  }
  await form.getByRole('button', { name: 'Sign in', exact: true }).click();
}

export async function fillSupport(
  page: Page,
  { email, contact = '', id = '', issue }: { email: string; contact?: string; id?: string; issue: string },
): Promise<void> {
  await page.getByLabel('San Bruno email').fill(email);
  await page.getByLabel('Contact email').fill(contact);
  await page.getByLabel('Transfer ID').fill(id);
  await page.getByLabel('Describe your issue').fill(issue);
}
