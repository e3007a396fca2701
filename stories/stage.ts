import { addons } from 'storybook/preview-api';
import { DELAYS } from '../machines/wizard.delays.ts';
import type { WizardSnapshot } from '../machines/wizard.routes.ts';
import type { WizardActor } from '../src/portal/wizard-context.tsx';
import { ANSWERS, type CallName, EVENTS, REFUSALS } from '../tests/support/moves.ts';
import type { Offer, Stage } from './stage-protocol.ts';
import { ASK, SEND, STAGE } from './stage-protocol.ts';

let shown: WizardActor | null = null;

/** Reports this wizard's state to the chart panel and lets the panel send events, until the returned function is called. */
export function enter(actor: WizardActor): () => void {
  shown = actor;
  const tell = () => {
    if (shown === actor) channel()?.emit(STAGE, stageOf(actor.getSnapshot()));
  };
  const telling = actor.subscribe(tell);
  tell();
  return () => {
    telling.unsubscribe();
    if (shown === actor) {
      shown = null;
      channel()?.emit(STAGE, null);
    }
  };
}

function channel() {
  return addons.hasChannel() ? addons.getChannel() : null;
}

/** Listens to the panel. Storybook calls it once, when the preview loads. */
export function listenToPanel(): void {
  channel()?.on(SEND, (event: Offer['event']) => shown?.send(event as Parameters<WizardActor['send']>[0]));
  channel()?.on(ASK, () => {
    channel()?.emit(STAGE, shown === null ? null : stageOf(shown.getSnapshot()));
  });
}

function stageOf(snapshot: WizardSnapshot): Stage {
  return {
    active: snapshot._nodes.map((node) => node.path.join('.')),
    offers: offersAt(snapshot),
  };
}

/** Everything that this state accepts: the visitor's actions, delays, and the server's answers. */
function offersAt(snapshot: WizardSnapshot): Offer[] {
  const offers: Offer[] = EVENTS.filter((event) => snapshot.can(event)).map((event) => ({ by: 'visitor', event }));
  for (const node of snapshot._nodes) {
    for (const { delay, eventType } of node.after)
      if (typeof delay === 'string' && delay in DELAYS)
        offers.push({ by: 'clock', words: delay, event: { type: eventType } });
    for (const { src, id } of node.invoke)
      if (typeof src === 'string' && src in ANSWERS) offers.push(...answersOf(src as CallName, id));
  }
  return offers;
}

function answersOf(call: CallName, id: string): Offer[] {
  return [
    ...ANSWERS[call].map((output) => ({
      by: 'server' as const,
      words: `${call}: ${JSON.stringify(output) ?? 'done'}`,
      event: { type: `xstate.done.actor.${id}`, output, actorId: id },
    })),
    ...REFUSALS.map(({ code, ...told }) => ({
      by: 'server' as const,
      words: `${call}: ${[code, ...Object.values(told)].join(', ')}`,
      event: { type: `xstate.error.actor.${id}`, error: { error: code, message: '', ...told }, actorId: id },
    })),
  ];
}
