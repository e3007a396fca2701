import type { ReactNode } from 'react';
import { Icon } from './icon.tsx';

/** What is said right under a field. Its place is kept when there is nothing to say. */
export type Note = {
  readonly kind: 'error' | 'good' | 'waiting';
  readonly text: string;
  /** The page's message announces the same text, so this one isn't announced again. */
  readonly isSaid?: true;
};

type Props = {
  readonly id: string;
  readonly note: Note | undefined;
  /** The longest error of this field, if it takes more lines than usual; room is kept for it. */
  readonly reserve?: string | undefined;
};

export function FieldNote({ id, note, reserve }: Props) {
  return (
    <div className="field-note" id={id} data-kind={note?.kind} data-reserve={reserve}>
      {note?.kind === 'error' && <Icon name="error" size={20} />}
      {note?.kind === 'good' && <Icon name="check" size={20} />}
      {note !== undefined && <span role={roleOf(note)}>{note.text}</span>}
    </div>
  );
}

function roleOf({ kind, isSaid }: Note): 'alert' | 'status' | undefined {
  if (isSaid === true) return undefined;
  return kind === 'error' ? 'alert' : 'status';
}

/** The ids of what describes a field, for `aria-describedby`. */
export function describedBy(id: string, help: ReactNode): string {
  return help === undefined ? `${id}-note` : `${id}-help ${id}-note`;
}
