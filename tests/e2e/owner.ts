import type { Page } from 'playwright';
import type { TransferStatus } from '../../src/contract/calls/status.ts';
import { enter, TRANSFER_ID, type Wire } from '../support/portal-alone.ts';

export const STATUS = `/status?migration_id=${TRANSFER_ID}`;
export const NEW_ID = 'f'.repeat(32);
export const OK = { json: { ok: true } };

/** Where a call of a transfer's owner goes. */
export const call = (name: string) => `/api/v2/transfers/${name}/`;

/** A transfer's owner at the status page, whose wire is scripted. */
export function ownerAt(page: Page, url: string, wire: Wire) {
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const dialog = page.getByRole('dialog');
  const show = async (status: TransferStatus) => {
    wire.answer('/api/v2/status/', { json: status });
    await enter(page, url, STATUS);
    await page.getByText(TRANSFER_ID).waitFor();
  };
  return {
    page,
    wire,
    button,
    dialog,
    inDialog: (name: string) => dialog.getByRole('button', { name, exact: true }),
    field: (label: string) => dialog.getByLabel(label, { exact: true }),
    focused: () => page.evaluate(() => document.activeElement?.textContent.trim() ?? ''),
    show,
    /** Shows a transfer and presses a button there. */
    open: async (name: string, status: TransferStatus) => {
      await show(status);
      await button(name).click();
      await dialog.waitFor();
    },
  };
}
export type Owner = ReturnType<typeof ownerAt>;
