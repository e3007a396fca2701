import type { StoryObj } from '@storybook/react-vite';
import { expect, userEvent, waitFor, within } from 'storybook/test';
import type { Script } from '../script.ts';
import { Journey } from './journey.tsx';

/** What a step can do with the page, in a visitor's words. */
export type Hand = {
  readonly press: (name: string) => Promise<void>;
  readonly follow: (name: string) => Promise<void>;
  readonly type: (label: string, text: string) => Promise<void>;
  readonly choose: (label: string, option: string) => Promise<void>;
  readonly tick: (label: string) => Promise<void>;
  /** Moves the focus out of the current field. */
  readonly leave: () => Promise<void>;
  readonly see: (text: string) => Promise<void>;
  readonly arriveAt: (heading: string) => Promise<void>;
};
/**
 * Steps by unique names, in order. Names have only letters, digits, spaces and hyphens, so that they can be used in a
 * link.
 */
export type Steps = Readonly<Record<string, (hand: Hand) => Promise<void>>>;

const TO_THE_END = 'The end';
const PATIENCE_MS = 10_000;

/**
 * A journey through the real machine. The Interactions panel plays its steps one by one, up to `stopAfter` if that is
 * set (as a control, or in a link as `&args=stopAfter:…`). The page can be taken over by hand at any point.
 */
export function flow(steps: Steps, script: Script = {}, start = '/'): StoryObj<{ stopAfter: string }> {
  return {
    args: { stopAfter: TO_THE_END },
    argTypes: { stopAfter: { control: 'select', options: [TO_THE_END, ...Object.keys(steps)] } },
    parameters: { controls: { disable: false } },
    render: () => <Journey script={script} start={start} />,
    play: async ({ canvasElement, step, args: { stopAfter } }) => {
      const hand = handOn(canvasElement);
      for (const [name, act] of Object.entries(steps)) {
        await step(name, () => act(hand));
        if (name === stopAfter) return;
      }
    },
  };
}

function handOn(element: HTMLElement): Hand {
  const page = within(element);
  const patience = { timeout: PATIENCE_MS };
  // Only closed options are hidden on these pages, and checking whether elements are hidden takes most of the time.
  const find = (role: string, name: string) => page.findByRole(role, { name, hidden: true }, patience);
  const user = userEvent.setup({ delay: null });
  return {
    press: async (name) => {
      const button = await find('button', name);
      await waitFor(() => expect(button).toBeEnabled(), patience);
      await waitFor(() => expect(button).not.toHaveAttribute('aria-disabled', 'true'), patience);
      await user.click(button);
    },
    follow: async (name) => user.click(await find('link', name)),
    type: async (label, text) => {
      const field = await page.findByLabelText(label, {}, patience);
      await user.clear(field);
      await user.type(field, text);
    },
    choose: async (label, option) => user.selectOptions(await find('combobox', label), option),
    tick: async (label) => user.click(await find('checkbox', label)),
    leave: () => user.tab(),
    see: async (text) => {
      await waitFor(() => expect(page.getAllByText(text)[0]).toBeVisible(), patience);
    },
    // Queries again at each try, because an element that was found may be removed while pages fade.
    arriveAt: async (name) => {
      await waitFor(() => expect(page.getByRole('heading', { level: 1, name, hidden: true })).toBeVisible(), patience);
    },
  };
}
