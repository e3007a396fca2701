type Props = {
  readonly label: string;
  /** What is being waited for, in a few words. */
  readonly text?: string;
};

/** Covers the page while there is nothing else to show. */
export function BarsLoader({ label, text }: Props) {
  return (
    <output className="bars" aria-label={label}>
      <span className="bars-mark" aria-hidden="true">
        <i />
        <i />
        <i />
        <i />
        <i />
      </span>
      {text !== undefined && <span className="lead">{text}</span>}
    </output>
  );
}
