/** Between the stories and the chart panel, over Storybook's channel. */
export const STAGE = 'wizard/stage';
export const SEND = 'wizard/send';
export const ASK = 'wizard/ask';

/** An event that the shown state accepts, and from whom it would come. `words` is for events that have no name of their own. */
export type Offer = {
  readonly by: 'visitor' | 'clock' | 'server';
  readonly words?: string;
  readonly event: { readonly type: string };
};

/** Where the shown wizard stands; `null` while no wizard is shown. */
export type Stage = { readonly active: readonly string[]; readonly offers: readonly Offer[] };
