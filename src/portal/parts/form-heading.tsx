import { useLayoutEffect, useRef } from 'react';

type Props = { readonly heading: string; readonly intro: string };

/** The top of a form that takes the place of the button that opened it; the focus goes there, as the button is gone. */
export function FormHeading({ heading, intro }: Props) {
  const top = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => top.current?.focus(), []);
  return (
    <div className="stack" data-gap="small">
      <h2 ref={top} tabIndex={-1}>
        {heading}
      </h2>
      <p className="soft">{intro}</p>
    </div>
  );
}
