import type { Requirement } from '../requirement.ts';

const NO_WEBRTC = 'There is no WebRTC.';

export const V17: readonly Requirement[] = [
  { id: '17.1.1', line: 'TURN reaches no special addresses', not: NO_WEBRTC },
  { id: '17.2.1', line: 'keys of DTLS are managed', not: NO_WEBRTC },
  { id: '17.2.2', line: 'DTLS has approved suites', not: NO_WEBRTC },
  { id: '17.2.3', line: 'SRTP is authenticated', not: NO_WEBRTC },
  { id: '17.2.4', line: 'malformed SRTP stops nothing', not: NO_WEBRTC },
  { id: '17.3.1', line: 'signaling stands a flood', not: NO_WEBRTC },
  { id: '17.3.2', line: 'malformed signaling stops nothing', not: NO_WEBRTC },
];
