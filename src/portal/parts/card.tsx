import type { ReactNode } from 'react';
import { Icon, type IconName } from './icon.tsx';

type Props = { readonly icon: IconName; readonly title: string; readonly children: ReactNode };

export function Card({ icon, title, children }: Props) {
  return (
    <div className="card">
      <Icon name={icon} size={28} />
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** A list of short statements, each with its icon. */
export function Facts({ facts }: { readonly facts: readonly { readonly icon: IconName; readonly text: string }[] }) {
  return (
    <ul className="facts">
      {facts.map((fact) => (
        <li key={fact.text}>
          <Icon name={fact.icon} />
          <span>{fact.text}</span>
        </li>
      ))}
    </ul>
  );
}
