import { useOnline } from '../parts/online.ts';
import { shared } from '../wording.ts';

export function OfflineBanner() {
  const online = useOnline();
  return (
    <div role={online ? undefined : 'status'}>{!online && <p className="offline">{shared.offline.banner}</p>}</div>
  );
}
