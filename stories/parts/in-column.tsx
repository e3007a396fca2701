import type { ComponentType } from 'react';

/** A part by itself, in a column like that of a page's text. */
export function inColumn(Story: ComponentType) {
  return (
    <div className="page" data-steps="none">
      <main className="sheet">
        <div className="stack">
          <Story />
        </div>
      </main>
    </div>
  );
}
