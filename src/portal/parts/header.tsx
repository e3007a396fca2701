import { Link } from './link.tsx';
import { Logo } from './logo.tsx';

type Props = {
  readonly name: string;
  readonly homeLabel: string;
  readonly faqLabel: string;
  readonly faqUrl: string;
  readonly onHome: () => void;
  /** Omitted for visitors who have not signed in. */
  readonly signOut?: { readonly label: string; readonly onPress: () => void };
};

export function Header({ name, homeLabel, faqLabel, faqUrl, onHome, signOut }: Props) {
  return (
    <header className="header">
      <div className="header-inner">
        <Link href="/" className="logo" onFollow={onHome}>
          <Logo />
          {name}
        </Link>
        <div className="header-links">
          <Link href="/" onFollow={onHome}>
            {homeLabel}
          </Link>
          <a href={faqUrl}>{faqLabel}</a>
          {signOut !== undefined && (
            <button type="button" onClick={signOut.onPress}>
              {signOut.label}
            </button>
          )}
        </div>
      </div>
    </header>
  );
}
