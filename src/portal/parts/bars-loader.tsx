type Props = {
  readonly label: string;
  /** What is being waited for, in a few words. */
  readonly text?: string;
  /** Only after a moment: for a wait that is most often too short to be seen. */
  readonly late?: boolean;
};

/** Covers the page while there is nothing else to show. */
export function BarsLoader({ label, text, late }: Props) {
  return (
    <output className="bars" data-late={late} aria-label={label}>
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
