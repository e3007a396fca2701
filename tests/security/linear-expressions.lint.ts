import { RegExpParser, visitRegExpAST, type AST } from '@eslint-community/regexpp';
import type { CharSet } from 'refa';
import { toUnicodeSet } from 'regexp-ast-analysis';
import { analyse } from 'scslre';

/** A quantifier with a larger bound than this can be as bad as one without. */
const SMALL_BOUND = 99;

type Node = { readonly type: string; readonly regex?: { readonly pattern: string; readonly flags: string } };
type Context = { readonly report: (found: { node: unknown; message: string }) => void };

/** Why an expression may take more than linear time on some text; `null` when it does not. */
export function superLinear(pattern: string, flags: string): string | null {
  const unbounded = withoutBounds(pattern, flags);
  const literal = { source: unbounded, flags: flags.replace('y', '') };
  const [report] = analyse(literal, { maxReports: 1, reportTypes: { Move: !flags.includes('y') } }).reports;
  if (report !== undefined) return `repeating ${report.character.pick} makes it try again and again (${report.type})`;
  return flags.includes('y') ? null : repeatedPrefix(unbounded, flags);
}

/** `{0,4000}` becomes `*`, since the analysis looks at unbounded quantifiers only. */
function withoutBounds(pattern: string, flags: string): string {
  const cuts: { start: number; end: number; text: string }[] = [];
  visitRegExpAST(patternOf(pattern, flags), {
    onQuantifierEnter: ({ min, max, greedy, end, element }) => {
      if (max > SMALL_BOUND && max !== Infinity)
        cuts.push({ start: element.end, end, text: `${min === 0 ? '*' : '+'}${greedy ? '' : '?'}` });
    },
  });
  return cuts
    .toSorted((one, other) => other.start - one.start)
    .reduce((text, { start, end, text: by }) => text.slice(0, start) + by + text.slice(end), pattern);
}

/** `exceed\w* quota`: each `exceed` of `exceedexceed…` is a start from which all the others are read. */
function repeatedPrefix(pattern: string, flags: string): string | null {
  for (const alternative of patternOf(pattern, flags).alternatives) {
    const [first] = alternative.elements;
    if (first?.type === 'Assertion' && first.kind === 'start') continue;
    const elements = flat(alternative);
    const at = elements.findIndex((element) => element.type === 'Quantifier' && element.max === Infinity);
    const quantifier = elements[at];
    if (quantifier?.type !== 'Quantifier' || at === 0 || at === elements.length - 1) continue;
    const prefix = elements.slice(0, at);
    const read = setOf(quantifier.element, flags);
    const sets = prefix.map((element) => setOf(element, flags));
    if (read !== null && sets.every((set) => set !== null && !set.isDisjointWith(read)))
      return 'repeating its beginning makes it try again and again';
  }
  return null;
}

/** Assertions read nothing, and a group is what it holds. */
function flat({ elements }: AST.Alternative): AST.Element[] {
  return elements.flatMap((element) => {
    if (element.type === 'Assertion') return [];
    const isGroup = element.type === 'Group' || element.type === 'CapturingGroup';
    const [only, ...others] = isGroup ? element.alternatives : [];
    return only === undefined || others.length > 0 ? [element] : flat(only);
  });
}

/** The signs that an element reads one at a time; `null` for what is more than that. */
function setOf(element: AST.Element, flags: string): CharSet | null {
  const known = new RegExp('', flags);
  switch (element.type) {
    case 'Character':
    case 'CharacterSet':
    case 'CharacterClass':
      return toUnicodeSet(element, known).chars;
    case 'Quantifier':
      return element.max <= SMALL_BOUND ? setOf(element.element, flags) : null;
    case 'Assertion':
    case 'Backreference':
    case 'CapturingGroup':
    case 'ExpressionCharacterClass':
    case 'Group':
      return null;
  }
}

function patternOf(pattern: string, flags: string): AST.Pattern {
  return new RegExpParser().parsePattern(pattern, 0, pattern.length, {
    unicode: flags.includes('u'),
    unicodeSets: flags.includes('v'),
  });
}

const isText = (node: Node | undefined) => node?.type === 'Literal' && node.regex === undefined;

/** Rules for oxlint (`jsPlugins`): what runs on foreign text must take linear time, whatever that text is. */
const plugin = {
  meta: { name: 'expressions' },
  rules: {
    linear: {
      create: (context: Context) => ({
        Literal: (node: Node) => {
          if (node.regex === undefined) return;
          const why = superLinear(node.regex.pattern, node.regex.flags);
          if (why !== null) context.report({ node, message: `This expression is not linear: ${why}.` });
        },
      }),
    },
    written: {
      create: (context: Context) => ({
        NewExpression: (node: { callee: { name?: string }; arguments: Node[] }) => {
          if (node.callee.name === 'RegExp' && !isText(node.arguments[0]))
            context.report({ node, message: 'An expression that is put together at run time can’t be judged.' });
        },
      }),
    },
  },
};
// oxlint loads a plugin by its default export.
// oxlint-disable-next-line import/no-default-export
export default plugin;
