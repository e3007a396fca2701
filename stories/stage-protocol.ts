/** The events between the stories and the chart panel, on Storybook's channel. */
export const STAGE = 'wizard/stage';
export const SEND = 'wizard/send';
export const ASK = 'wizard/ask';

/** An event that the displayed state accepts, and who would send it. `words` is for events without a name of their own. */
export type Offer = {
  readonly by: 'visitor' | 'clock' | 'server';
  readonly words?: string;
  readonly event: { readonly type: string };
};

/** The state of the displayed wizard; `null` while there is none. */
export type Stage = { readonly active: readonly string[]; readonly offers: readonly Offer[] };
