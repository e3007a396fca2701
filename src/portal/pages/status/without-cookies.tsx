import { Message } from '../../parts/message.tsx';
import { status } from '../../wording/status.ts';

/** Why a link that the browser itself follows would open nothing, where it has no cookie to show. */
export function WithoutCookies() {
  return navigator.cookieEnabled ? null : <Message kind="warning" content={[status.withoutCookies]} />;
}
