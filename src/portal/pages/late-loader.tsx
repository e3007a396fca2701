import { useEffect, useState } from 'react';
import { DELAYS } from '../../../machines/wizard.delays.ts';
import { BarsLoader } from '../parts/bars-loader.tsx';
import { shared } from '../wording.ts';

/** Most scripts arrive sooner than this; for them nothing is shown, or announced by a screen reader. */
const LATE_MS = 400;

/** Shown while a script is fetched after a press. The machine has no state for that. */
export function LateLoader() {
  const [text, setText] = useState<string>();
  useEffect(() => {
    const timers = [
      setTimeout(() => setText(shared.oneMoment), LATE_MS),
      setTimeout(() => setText(shared.slow), DELAYS['slow answer']),
    ];
    return () => timers.forEach(clearTimeout);
  }, []);
  return text !== undefined && <BarsLoader label={shared.loading} text={text} />;
}
