export type Theme = 'system' | 'light' | 'dark';

const DARK = '(prefers-color-scheme: dark)';
const kept = new Map<CSSMediaRule, string>();

/**
 * Shows the portal in a theme, whatever the designer's own system prefers: the style sheets' dark parts are turned on
 * or off.
 */
export function showTheme(theme: Theme): void {
  document.documentElement.style.colorScheme = theme === 'system' ? '' : theme;
  for (const sheet of document.styleSheets) for (const rule of mediaRulesIn(sheet.cssRules)) setTheme(rule, theme);
}

function setTheme(rule: CSSMediaRule, theme: Theme): void {
  const original = kept.get(rule) ?? rule.media.mediaText;
  if (!original.includes(DARK)) return;
  kept.set(rule, original);
  const answer = { system: DARK, light: '(width < 0px)', dark: '(width >= 0px)' }[theme];
  rule.media.mediaText = original.replace(DARK, answer);
}

function* mediaRulesIn(rules: CSSRuleList): Generator<CSSMediaRule> {
  for (const rule of rules) {
    if (rule instanceof CSSMediaRule) yield rule;
    if (rule instanceof CSSImportRule && rule.styleSheet !== null) yield* mediaRulesIn(rule.styleSheet.cssRules);
    if (rule instanceof CSSGroupingRule) yield* mediaRulesIn(rule.cssRules);
  }
}
