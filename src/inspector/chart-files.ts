import { wizardMachine } from '../../machines/wizard.machine.ts';
import { PATHS } from '../../machines/wizard.routes.ts';
import { chartOf, statesIn } from './chart.ts';
import { asSvgFile } from './draw.ts';
import { layOutOverview, layOutPage } from './layout.ts';

const HEAD = `# The chart of the wizard

Generated from \`machines/wizard.machine.ts\` by \`npm run chart\`; a test fails when it is out of date.
A dot marks the initial state of a region, a dashed frame holds parallel regions, blue states wait for an answer, red ones
make way for the "unavailable" page, and a rounded arrow leads to another page.
In addition to the transitions drawn here, each page can be entered by its address; \`machines/wizard.visits.ts\` says how.
`;

/** The files of `machines/chart`, by name: the overview, a chart for each page with states inside, and a README. */
export async function chartFiles(): Promise<ReadonlyMap<string, string>> {
  const chart = chartOf(wizardMachine);
  const files = new Map<string, string>();
  const sections = [HEAD, '## All pages\n', '![All pages and the ways between them](overview.svg)\n'];
  files.set(
    'overview.svg',
    asSvgFile(await layOutOverview(chart), 'All pages of the wizard and the ways between them'),
  );
  for (const page of chart.root.states) {
    const leaves = statesIn(page).filter(({ states }) => states.length === 0).length;
    if (leaves === 1) continue;
    const title = `The states of ${page.name}`;
    files.set(`${page.name}.svg`, asSvgFile(await layOutPage(chart, page.path), title));
    sections.push(
      `## ${page.name}\n`,
      `${addressOf(page.name)}${leaves} leaf states.\n`,
      `![${title}](${page.name}.svg)\n`,
    );
  }
  files.set('README.md', sections.join('\n'));
  return files;
}

function addressOf(page: string): string {
  const address = (PATHS as Readonly<Record<string, string>>)[page];
  return address === undefined ? '' : `At \`${address}\`; `;
}
