import { useLayoutEffect, useRef, type ReactNode } from 'react';

type Props = {
  readonly heading: string;
  readonly lead?: string;
  /** The wizard's step list; pages beside the wizard have none. */
  readonly steps?: ReactNode;
  readonly children: ReactNode;
};

/** The frame of a page. The focus goes to its heading when it appears. */
export function Page({ heading, lead, steps, children }: Props) {
  const title = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => title.current?.focus({ preventScroll: true }), []);
  return (
    <div className="page" data-steps={steps === undefined ? 'none' : undefined}>
      {steps}
      <main className="sheet" id="main">
        <div className="stack" data-gap="large">
          <div className="stack" data-gap="small">
            <h1 ref={title} tabIndex={-1}>
              {heading}
            </h1>
            {lead !== undefined && <p className="lead">{lead}</p>}
          </div>
          {children}
        </div>
      </main>
    </div>
  );
}
