import type { ComponentType } from 'react';

/** A part in the column that a page's text has, on its own. */
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
