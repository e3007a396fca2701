type Props = { readonly label: string; readonly checked: boolean; readonly onToggle: () => void };

export function Checkbox({ label, checked, onToggle }: Props) {
  return (
    <label className="checkbox">
      <input type="checkbox" checked={checked} onChange={onToggle} />
      <span>{label}</span>
    </label>
  );
}
