import { useId, type ReactNode } from 'react';
import { Icon } from './icon.tsx';

type Props = {
  readonly label: string;
  readonly open: boolean;
  readonly onToggle: () => void;
  readonly children: ReactNode;
};

export function Disclosure({ label, open, onToggle, children }: Props) {
  const id = useId();
  return (
    <div className="disclosure">
      <button className="disclosure-button" type="button" aria-expanded={open} aria-controls={id} onClick={onToggle}>
        <span>{label}</span>
        <Icon name="down" />
      </button>
      <div className="disclosure-body" id={id} hidden={!open}>
        {open && children}
      </div>
    </div>
  );
}
