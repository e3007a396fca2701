import { Link } from './link.tsx';

type Props = {
  readonly owner: string;
  readonly links: readonly { readonly href: string; readonly text: string; readonly onFollow: () => void }[];
  /** The third party's legal footer: its address and its name. */
  readonly frame?: { readonly url: string; readonly title: string };
};

export function Footer({ owner, links, frame }: Props) {
  return (
    <footer className="footer">
      {frame === undefined ? (
        <div className="footer-inner">
          <p>{owner}</p>
          <ul>
            {links.map((link) => (
              <li key={link.href}>
                <Link href={link.href} onFollow={link.onFollow}>
                  {link.text}
                </Link>
              </li>
            ))}
          </ul>
        </div>
      ) : (
        <iframe
          className="footer-frame"
          src={frame.url}
          title={frame.title}
          sandbox="allow-popups allow-popups-to-escape-sandbox"
          referrerPolicy="no-referrer"
          loading="lazy"
        />
      )}
    </footer>
  );
}
