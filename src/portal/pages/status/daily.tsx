import { isCancelled, isOffered } from '../../../../machines/owner-acts.ts';
import type { WizardSnapshot } from '../../../../machines/wizard.routes.ts';
import { Button } from '../../parts/button.tsx';
import { useSend } from '../../wizard-context.tsx';
import { daily as words, nextLook } from '../../wording/status-daily.ts';
import { ActDialog, ActOutcome, Ask } from './act-dialog.tsx';

type Props = { readonly snapshot: WizardSnapshot };

/** Whether new mail is copied once a day, when next and until when; with the button that switches it on or off. */
export function DailyCard({ snapshot }: Props) {
  const send = useSend();
  const { status, settings } = snapshot.context;
  const { turnOn, turnOff } = words;
  // Not offered after a stop, when the rest should be copied first, nor after a take-back, when nothing is wanted.
  const isWanted = status !== null && !isCancelled(status) && status.brings_back !== true;
  const mayTurnOn = isWanted && isOffered(status, 'daily');
  const mayTurnOff = isOffered(status, 'daily off');
  if (status?.daily === undefined || !(mayTurnOn || mayTurnOff)) return null;
  const { until, next, ended } = status.daily;
  // A mere offer is not printed, because paper has no button to accept it.
  const isOffer = next === undefined && ended === undefined;
  return (
    <section className={isOffer ? 'status-card on-screen' : 'status-card'} aria-labelledby="daily">
      <h2 id="daily">{words.title}</h2>
      {ended !== undefined && <p className="strong">{words.ended(ended)}</p>}
      {next === undefined ? (
        <p className="on-screen">{words.off(settings.legacyName, until)}</p>
      ) : (
        words
          .on(nextLook(status.daily), until, settings.legacyName, settings.accessEnd)
          .map((each) => <p key={each}>{each}</p>)
      )}
      <div className="actions">
        {mayTurnOn && <Button onPress={() => send({ type: 'act.open', act: 'daily' })}>{turnOn.button}</Button>}
        {mayTurnOff && <Button onPress={() => send({ type: 'act.open', act: 'daily off' })}>{turnOff.button}</Button>}
      </div>
    </section>
  );
}

export function DailyOff({ snapshot }: Props) {
  const { title, text, keep, confirm, busy } = words.turnOff;
  const calling = snapshot.matches({ status: { acts: { open: { dailyOff: 'calling' } } } });
  return (
    <ActDialog title={title}>
      <p>{text}</p>
      <Ask keep={keep} confirm={confirm} busyLabel={busy} busy={calling} />
      <ActOutcome snapshot={snapshot} />
    </ActDialog>
  );
}
