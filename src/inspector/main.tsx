import { createRoot } from 'react-dom/client';
import { wizardMachine } from '../../machines/wizard.machine.ts';
import { chartOf } from './chart.ts';
import { openViewerEnd } from './line.ts';
import { createRecorder } from './recorder.ts';
import { Viewer } from './viewer.tsx';

const recorder = createRecorder(wizardMachine);
openViewerEnd(recorder.hear);

const place = document.querySelector('#root');
if (place === null) throw new Error('index.html has no #root.');
createRoot(place).render(<Viewer chart={chartOf(wizardMachine)} recorder={recorder} />);
