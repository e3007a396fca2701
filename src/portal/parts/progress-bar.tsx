type Props = { readonly label: string; readonly done: number; readonly total: number };

/** `total` of 0 reads as an unknown end. */
export function ProgressBar({ label, done, total }: Props) {
  return total > 0 ? (
    <progress className="bar" aria-label={label} value={done} max={total} />
  ) : (
    <progress className="bar" aria-label={label} />
  );
}
