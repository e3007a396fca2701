import { Icon } from './icon.tsx';

type Props = {
  readonly label: string;
  readonly steps: readonly string[];
  /** From 1. */
  readonly current: number;
  /** The current step is done as well. */
  readonly done?: boolean;
  /** Such as `Step 2 of 4: Yahoo Mail`; replaces the list on a phone. */
  readonly summary: string;
  readonly doneLabel: string;
};

export function StepList({ label, steps, current, done = false, summary, doneLabel }: Props) {
  const isDone = (step: number) => step < current || (done && step === current);
  return (
    <nav className="steps" aria-label={label}>
      <div className="steps-summary" aria-hidden="true">
        <span>{summary}</span>
        <progress className="bar" data-thin value={current} max={steps.length} />
      </div>
      <ol className="steps-list">
        {steps.map((step, index) => (
          <li
            key={step}
            className="steps-item"
            data-state={isDone(index + 1) ? 'done' : undefined}
            aria-current={index + 1 === current ? 'step' : undefined}
          >
            <span className="steps-mark">{isDone(index + 1) && <Icon name="check" size={20} label={doneLabel} />}</span>
            <span>{step}</span>
          </li>
        ))}
      </ol>
    </nav>
  );
}
