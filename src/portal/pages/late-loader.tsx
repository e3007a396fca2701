import { useEffect, useState } from 'react';
import { DELAYS } from '../../../machines/wizard.delays.ts';
import { BarsLoader } from '../parts/bars-loader.tsx';
import { shared } from '../wording.ts';

/** Most scripts are there before the eye would see anything of it, and before a screen reader should tell. */
const LATE_MS = 400;

/** Shown while the script of what was pressed is fetched, which no state of the machine knows of. */
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
