import { type Drawing, type Exit, labelLines, type Box, type Line, TEXT } from './layout.ts';

const ARROW = 7;

/** A drawing as the contents of an SVG. `data-state` and `data-to` let the viewer highlight states and open exits. */
export function drawn({ boxes, exits, lines }: Drawing): string {
  return [...boxes.map(box), ...lines.map(line), ...exits.map(exit), ...lines.map(label)].join('\n');
}

/** A drawing as a standalone file, light or dark as its reader prefers. */
export function asSvgFile(drawing: Drawing, title: string): string {
  const [width, height] = [Math.ceil(drawing.width), Math.ceil(drawing.height)];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(title)}">
<title>${escaped(title)}</title>
<style>${FILE_STYLE}</style>
<rect class="ground" width="${width}" height="${height}"/>
${drawn(drawing)}
</svg>
`;
}

function box({ x, y, width, height, state, rows }: Box): string {
  const dot = state.initial
    ? `<circle class="initial" cx="${at(x + TEXT.padding + 3)}" cy="${at(y + 19)}" r="4"/>`
    : '';
  const left = x + TEXT.padding + (state.initial ? 13 : 0);
  const text = rows.map(
    (row, index) =>
      `<text class="row" x="${at(x + TEXT.padding)}" y="${at(y + TEXT.name + 10 + index * TEXT.line)}">${escaped(row)}</text>`,
  );
  const tags = state.tags.length === 0 ? '' : ` data-tags="${state.tags.join(' ')}"`;
  return `<g class="state" data-state="${state.path}" data-kind="${state.kind}"${tags}><rect x="${at(x)}" y="${at(y)}" width="${at(width)}" height="${at(height)}" rx="8"/>${dot}<text class="name" x="${at(left)}" y="${at(y + 23)}">${escaped(state.name)}</text>${text.join('')}</g>`;
}

function exit({ x, y, width, height, to }: Exit): string {
  return `<g class="exit" data-to="${to}"><rect x="${at(x)}" y="${at(y)}" width="${at(width)}" height="${at(height)}" rx="13"/><text x="${at(x + TEXT.padding)}" y="${at(y + 17)}">→ ${escaped(to)}</text></g>`;
}

function line({ from, to, points }: Line): string {
  const path = points.map(({ x, y }, index) => `${index === 0 ? 'M' : 'L'}${at(x)} ${at(y)}`).join('');
  return `<g class="line" data-from="${from}" data-to-state="${to}"><path d="${path}"/>${head(points)}</g>`;
}

function head(points: Line['points']): string {
  const [end, before] = [points.at(-1), points.at(-2)];
  if (end === undefined || before === undefined) return '';
  const angle = Math.atan2(end.y - before.y, end.x - before.x);
  const side = (turn: number) =>
    `${at(end.x - ARROW * Math.cos(angle + turn))} ${at(end.y - ARROW * Math.sin(angle + turn))}`;
  return `<path class="head" d="M${at(end.x)} ${at(end.y)}L${side(0.45)}L${side(-0.45)}Z"/>`;
}

function label({ from, to, label: { x, y }, words }: Line): string {
  const text = labelLines(words).map(
    ({ text, strong }, index) =>
      `<text class="${strong ? 'event' : 'guard'}" x="${at(x + 4)}" y="${at(y + 11 + index * TEXT.line)}">${escaped(text)}</text>`,
  );
  return `<g class="label" data-from="${from}" data-to-state="${to}">${text.join('')}</g>`;
}

const at = (length: number) => String(Math.round(length * 10) / 10);

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

const FILE_STYLE = `
text{font:11px ui-sans-serif,system-ui,sans-serif;fill:#1d1726}.name{font-weight:600;font-size:13px}.event{font-weight:600;fill:#37126c}
.guard,.row{font-size:10px;fill:#544b5e}.ground{fill:#faf7f2}.state rect{fill:#fffefb;stroke:#7c7186}.state[data-kind=parallel]>rect{stroke-dasharray:6 3}
.state[data-tags~=busy]>rect{fill:#edf3fb}.state[data-tags~=unavailable]>rect{fill:#fdf0ed}.exit rect{fill:#f1eafa;stroke:#cdb9ea}.exit text{fill:#37126c}
.initial{fill:#4b1d8c}.line path{fill:none;stroke:#7c7186}.line .head{fill:#7c7186}.label text{paint-order:stroke;stroke:#fffefb;stroke-width:3px}
@media(prefers-color-scheme:dark){text{fill:#f4f0f8}.event,.exit text{fill:#dccbfb}.guard,.row{fill:#c6bdd0}.ground{fill:#15121a}.state rect{fill:#1d1925;stroke:#9d92ab}
.state[data-tags~=busy]>rect{fill:#1a2a41}.state[data-tags~=unavailable]>rect{fill:#3a1d1c}.exit rect{fill:#2f2445;stroke:#5f4a85}.initial{fill:#c9aef8}
.line path{stroke:#9d92ab}.line .head{fill:#9d92ab}.label text{stroke:#1d1925}}`;
