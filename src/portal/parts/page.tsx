import { useLayoutEffect, useRef, type ReactNode } from 'react';
import { setTitles } from './title.ts';

type Props = {
  readonly heading: string;
  /** The titles of the browser's tab: as it is, and while a form has an error. */
  readonly title: string;
  readonly titleWithError?: string;
  readonly lead?: ReactNode;
  /** The wizard's step list; pages beside the wizard have none. */
  readonly steps?: ReactNode;
  /** Names what the page shows of several things in turn. */
  readonly view?: string;
  readonly children: ReactNode;
};

/**
 * The frame of a page. The heading gets the focus when the page appears, and when a change of view removed the focused
 * element.
 */
export function Page({ heading, title, titleWithError = title, lead, steps, view, children }: Props) {
  const top = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => {
    top.current?.focus({ preventScroll: true });
    // After a longer page, the top of this one could be scrolled out of sight.
    if ((top.current?.getBoundingClientRect().top ?? 0) < 0) scrollTo(0, 0);
  }, []);
  const shown = useRef(view);
  useLayoutEffect(() => {
    if (view !== shown.current && document.activeElement === document.body) {
      top.current?.focus({ preventScroll: true });
      scrollTo(0, 0);
    }
    shown.current = view;
  }, [view]);
  useLayoutEffect(() => {
    setTitles({ plain: title, withError: titleWithError });
  }, [title, titleWithError]);
  return (
    <div className="page" data-steps={steps === undefined ? 'none' : undefined}>
      {steps}
      <main className="sheet" id="main">
        <div className="stack" data-gap="large">
          <div className="stack" data-gap="medium">
            <h1 ref={top} tabIndex={-1}>
              {heading}
            </h1>
            {typeof lead === 'string' ? <p className="lead">{lead}</p> : lead}
          </div>
          {children}
        </div>
      </main>
    </div>
  );
}
