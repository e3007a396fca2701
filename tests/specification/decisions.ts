import { CALLS } from './calls.ts';
import { frame, open, rule, type Rule } from './rule.ts';

const NAMES: readonly Rule[] = [
  frame('open point | decision'),
  rule(
    'Provider keys | `google`, `yahoo`, `office365`, `aol`, `sanbruno` (legacy), `file_export`, `other`',
    'nobody is signed in at the provider "%s"',
    'a provider is known by its other names',
    'a legacy address is the legacy provider, signed in to with its password',
    'a provider with a client is signed in to by OAuth and takes contacts',
    'a download makes files of both formats, whose links give them',
    'a mailbox at %s is signed in to by its password, and by no wrong one',
  ),
  rule(
    'Names normalised | `microsoft`, `outlook`, `hotmail`, `live` → `office365`; `gmail` → `google`; compared in lower case',
    'an OAuth provider that is called %s is left for as %s',
    'a provider is known by its other names',
  ),
  rule(
    'Legacy domains | setting `LEGACY_DOMAINS`, comma separated, the cable domain first; default `sanbrunocable.example,sanbruno.example,sbcable.example`',
    'without any settings, each has the default that was decided',
    'on the support form a field that is wrong is said, and nothing is sent',
    '%s belongs to a legacy domain',
  ),
  rule(
    'Access end date | setting `ACCESS_END`, default `2025-11-30T23:59:59-08:00`. Days left = whole days remaining, rounded down; under 24 h, whole hours rounded down ("1 hour", "1 day" in the singular); after it, "0 days"',
    'without any settings, each has the default that was decided',
    '%s the end, what is left is shown in whole units, rounded down',
    'the countdown of %s and %i reads "%s"',
    'the countdown goes by itself from days to hours, and to its end',
  ),
  rule(
    '`in_qa` | setting `IN_QA`: `true`, `True` or `1` means on; the portal sends `in_qa=true` or `in_qa=false`',
    'IN_QA=%s is for quality assurance: %s',
    'the account is created in quality assurance where the setting says so',
    'the calls say that they are for quality assurance where the setting does',
    'however often the button is pressed, one transfer is asked for, and the pre-move call comes before it',
  ),
  rule(
    "One settings file | the portal's build and the server read the same variables (`.env` optional). Each is checked by a schema when the program starts: a bad one ends it at once with its name, the value's fault and an example",
    'settings may stand in .env, and what the environment says counts above it',
    'every setting that makes no sense is named at once, with its fault and an example, and no value',
  ),
  rule(
    'OAuth redirect address | `/api/oauth/callback/{provider}/`, one for each provider (against mix-up, RFC 9700); the same for both flows, the stored transaction tells them apart',
    'the request to %s asks for exactly its scopes, by PKCE with S256, with state and nonce',
    'to another provider’s address is refused, and its code goes nowhere',
    '%s ends with an address and the ID of its tokens',
    'proves an address by a hash that opens its list, and keeps no tokens',
  ),
  rule(
    'Local-storage token | key `token`; checked once at start by `POST /api/validate-token/`; a token that fails is removed',
    'a token in local storage %s, and is asked about once',
    'the stored token is checked once, at the start',
    'a stored token that is invalid is removed',
  ),
  rule(
    '`jwt` | `POST /api/validate/` may answer with `token`; the portal then keeps it as `jwt` in session storage and sends it as a bearer. The portal must also work where no token comes',
    'the right password is proven by a sign-in and answered with a session token',
    'a call after the sign-in carries its token as a bearer, and the cookies',
    'the session storage holds exactly the keys of the specification',
    'a sign-in works where no token comes',
  ),
  rule(
    '`token_id` | opaque to the portal: 1 to 512 characters, no more is known of it',
    '%s starts nothing',
    'a return with %s is an unknown error',
  ),
  rule(
    'The password in session storage | `portal.md` §3 keeps `srcAccount` with its password there; it is removed as soon as the transfer has been ordered, and the pages after that need only the address',
    'the session is kept under the keys of the specification and no other, and no secret stands in an address',
    'Back to the page that started it stays here once the passwords are forgotten',
  ),
  rule(
    'External pages | settings `FAQ_URL`, `PRIVACY_URL`, `TERMS_URL`, `DESTINATION_MAIL_URL`, `SUPPORT_PHONE`',
    '%s shows the overlay for half a second, then goes to its page',
    'at %s the header has the logo and Home, which lead Home, and the FAQ',
    "an account whose migration is completed points to Yahoo's mail site",
    'whoever cannot sign in, or finds the portal closed, is told the phone number',
    'without any settings, each has the default that was decided',
  ),
  rule(
    "Legal footer | setting `FOOTER_URL`: the third party's page, shown in a sandboxed frame; without it, the portal's own plain footer with links to privacy, terms and support",
    "the third party's footer is shown in a frame that can run nothing, on every page",
    'without a third party the footer is our own, and leads to privacy, terms and support',
  ),
  rule(
    '"The migration portal is unavailable…" | shown in place of the page when the server answers 503 (setting `MAINTENANCE=on` makes it), or can\'t be reached when a page needs it; "Try again" repeats the call',
    'maintenance answers every call with 503 and the portal as ever',
    'the portal says that it is unavailable, and tries again when asked to',
    'says what to do when the answer is %s',
    'a portal that is unavailable at the %s goes on by %s',
  ),
  rule(
    'Banners that clear by themselves | they do, at the times of `portal.md`; the clock stands still while the pointer or the focus is on the message, and an error about a field stays at the field until it is mended',
    'a message stays while it is looked at, and then has its 7 s again',
    'a message stays while it is looked at',
    'a refusal stays until something is typed',
    'a message stays while the pointer or the focus is on it, and goes after that',
    'an error in the address has its title and text, said for 7 s',
    'a refusal of the transfer is said for 5 s',
  ),
];

const ACCESSIBLE_NAMES: readonly Rule[] = [
  rule(
    'Buttons and fields keep these accessible names, whatever the design looks like.',
    '$name is found without fault, in the schemes and at the sizes that are its turn',
  ),
  frame('page | names'),
  rule(
    'header | link "San Bruno" logo to `/`, links "Home" and "FAQ"',
    'at %s the header has the logo and Home, which lead Home, and the FAQ',
  ),
  rule(
    'wizard sidebar | navigation "Progress", an ordered list: "Start", "Yahoo Mail" (or "Destination" off the primary path), "Transfer", "Running"; the current one has `aria-current="step"`',
    'at 767 px the layout is that of a phone, from 768 px on that of a desk',
    '%s at %s stands at %s, and still does after a reload',
    'the four steps are Start, Yahoo Mail or Destination, Transfer and Running',
    'the session "%s" is a %s, and on the primary path: %s',
  ),
  rule(
    'Home | heading level 1 "San Bruno Email Data Transfer Tool"; button "Start"; button or link "check your transfer status"',
    'a newcomer moves a mailbox from Home to the status page, and every message arrives as it was',
    '%s at %s stands at %s, and still does after a reload',
  ),
  rule(
    'sign-in modal | dialog "Sign in to get started"; fields "Email", "Password"; button "Sign in"',
    'a newcomer moves a mailbox from Home to the status page, and every message arrives as it was',
    'the two modals and what leads to them have the names of the specification',
  ),
  rule(
    'status modal | dialog "Check your transfer status"; field "Transfer ID"; button "Check status"',
    'a newcomer moves a mailbox from Home to the status page, and every message arrives as it was',
    'the two modals and what leads to them have the names of the specification',
  ),
  rule(
    'destination | button "Go to Yahoo Mail"; dialog "Important notice" with button "Continue"; disclosure button "Check other options to export your data"; buttons "Gmail", "Outlook", "AOL", "Other", "Download"',
    'a newcomer moves a mailbox from Home to the status page, and every message arrives as it was',
    'a transfer to Gmail goes by way of the terms, to its end',
    'the other options are Gmail, Outlook, AOL, Other and Download',
  ),
  rule(
    'Other form | fields "Email", "Password", "IMAP host" (behind a checkbox "Use a custom IMAP host"); button "Sign in"',
    'a transfer to any other mailbox signs in by password, and takes no contacts',
    'the IMAP host is judged when its field is left, or at Enter',
  ),
  rule(
    'Download form | comboboxes "Email format", "Contacts format"; button "Download"',
    'a download makes files of both formats, whose links give them',
  ),
  rule(
    'start-migration | field "Notification email or phone number" (primary move) or "Notification email"; button "Back"; action button "Move", "Download" or "Transfer"',
    'on the %s a contact that cannot be is told what it should be, and one that is missing is asked for after 3 s',
    'the start has its two titles and three actions',
    'a newcomer moves a mailbox from Home to the status page, and every message arrives as it was',
  ),
  rule(
    'complete | heading "We\'re moving your email data!"; the transfer ID as text; button "Copy transfer ID", which says "Copied" for 1.5 s',
    'the copied ID is confirmed for 1.5 s',
    'the transfer ID is copied, and the confirmation stays for 1.5 s',
    'the complete page says that the data is moving, and that the ID was copied',
    'a newcomer moves a mailbox from Home to the status page, and every message arrives as it was',
  ),
  rule(
    'accept-google-terms | buttons "Back", "Accept"',
    'a transfer to Gmail goes by way of the terms, to its end',
    "Google's terms are accepted, and its scopes explained",
  ),
  rule(
    'check-email-scopes | button "Next"',
    'permissions that were not given lead to the page that explains them, and back',
  ),
  rule(
    'status | regions "Email transfer", "Contacts transfer"',
    'a newcomer moves a mailbox from Home to the status page, and every message arrives as it was',
  ),
  rule(
    'support-form | heading "Contact support"; fields "San Bruno email", "Contact email", "Transfer ID", "Describe your issue"; button "Send"',
    'a letter to support arrives',
    'a message to support that comes from a transfer names it, and what was sent stays in sight',
  ),
  rule(
    'messages | errors in `role="alert"`, the rest in `role="status"`',
    '%s: each message has its role, its icon, its tone and its form',
    'says what to do when the answer is %s',
    '%s, whose account is past its beginning, is told: %s',
    'a wrong password is said, and the email stays in its field while the password goes',
  ),
  rule(
    'loading overlay | `role="status"` named "Loading"',
    'the loading overlay has purple bars on a light ground that covers the page, and is a status named Loading',
    '%s shows the overlay for half a second, then goes to its page',
  ),
];

const COMMANDS: readonly Rule[] = [
  open(
    '`npm ci && npm start` starts the product; `npm ci && npm test` passes its tests. Both do all the set-up that a fresh machine needs.',
    '`.ci/run` does it on a clean clone, which no test of the run itself can',
  ),
  rule(
    '`npm start` prints one line `Listening on URL` when it is ready, and builds the portal only when its sources or its settings have changed.',
    'the product stops gracefully on SIGTERM and starts again after kill -9 in the same data folder',
    'the portal is built again for other settings, and for the same ones not',
  ),
  open(
    "`npm test` fetches what the machine lacks (Chromium, Dovecot, PostgreSQL and whatever else the tests talk to) by the system's package manager where it may (root or passwordless sudo on Debian and Ubuntu, Homebrew on macOS), and says so; `TEST_SETUP=off` keeps it from it. What still can't be had is skipped with a line that names it. It ends with the plain line `N passed, N failed, N skipped`.",
    'what a machine lacks can be fetched once only; how a run is counted: `tests/runner/verdict.ts`',
  ),
  frame('`npm run check`, `npm run bench`, `npm run storybook` are the others that people look for.'),
];

const SETTINGS: readonly Rule[] = [
  rule(
    'All, those named above included, are environment variables, or lines of an optional `.env`. With none at all the product runs on its embedded defaults.',
    'without any settings, each has the default that was decided',
    'settings may stand in .env, and what the environment says counts above it',
    'a newcomer moves a mailbox from Home to the status page, and every message arrives as it was',
  ),
  frame('variable | default | meaning'),
  rule(
    '`HOST`, `PORT`, `PUBLIC_URL` | `127.0.0.1`, `8080`, `http://localhost:$PORT` | where it listens and how the world reaches it (redirect addresses, links in mails)',
    'without any settings, each has the default that was decided',
    'the address that the provider is told never follows the request’s host',
    'is a letter with the result first, the transfer ID and the link, and is sent once',
  ),
  rule(
    '`ROLE` | `all` | `all`, `web` or `worker`',
    'without any settings, each has the default that was decided',
    'one finishes the sign-in at a provider that the other started, but only once',
    'settings that contradict each other are refused',
  ),
  rule(
    '`DATA_DIR` | `.data` | embedded database, exports, generated key',
    'without any settings, each has the default that was decided',
    'the product stops gracefully on SIGTERM and starts again after kill -9 in the same data folder',
  ),
  rule(
    '`DATABASE_URL` | none: embedded PGlite in `DATA_DIR` | a PostgreSQL; then any number of web and worker processes share the work',
    'puts it right, stops it, gives its receipt, takes it back and runs it again',
    'one finishes the sign-in at a provider that the other started, but only once',
  ),
  rule(
    '`SECRET_KEY` | generated into `DATA_DIR` on first start; required with `DATABASE_URL` | 32 bytes, base64; encrypts credentials and tokens at rest',
    'lies where its owner alone can read it',
    'is that of the first process, as long as something is sealed with it',
    'settings that contradict each other are refused',
    'no password, code or token is in a log, an answer, an address or the database in clear',
  ),
  rule(
    '`EXPORTS_URL` | `DATA_DIR/exports` | where finished exports lie: a folder, or an S3-compatible bucket',
    'without any settings, each has the default that was decided',
    'EXPORTS_URL=%s is refused, and makes no folder of that name',
    'an export in a bucket is written, downloaded in parts and deleted as one in a folder',
  ),
  rule(
    '`SANDBOX` | `on` when neither `LEGACY_IMAP_URL` nor `DATABASE_URL` is set, else `off` | the embedded outside world; without it and without `LEGACY_IMAP_URL` the start refuses',
    'with %j the sandbox is on: %s',
    'without the sandbox and a legacy server the start is refused: %j',
  ),
  rule(
    '`LEGACY_NAME` | `San Bruno` |',
    'without any settings, each has the default that was decided',
    'the portal is built again for other settings, and for the same ones not',
  ),
  rule(
    '`LEGACY_IMAP_URL` | none | `imaps://host:port`, or `imap://host:port` (STARTTLS required unless the host is trusted, below)',
    'without TLS is not sent the password, unless the operator trusts it',
    'STARTTLS before the password, where the place is %s',
    'every setting that makes no sense is named at once, with its fault and an example, and no value',
  ),
  rule(
    '`LEGACY_CARDDAV_URL` | none: then contacts come from nowhere and `contactsmigration` is not offered | `{email}` in it is replaced',
    'the start says what is not set, and what that means',
    'is asked at the address of the account, its email put in and escaped, by Basic in UTF-8',
    'where the legacy service has no address book, contacts are not offered',
  ),
  rule(
    "`GOOGLE_…`, `YAHOO_…`, `OFFICE365_…`, `AOL_…` with `CLIENT_ID`, `CLIENT_SECRET`, `ISSUER`, `IMAP_URL`, `CONTACTS_URL` | the providers' public addresses; no client: that provider answers `PROVIDER_NOT_SUPPORTED` |",
    'without any settings, each has the default that was decided',
    'the start says what is not set, and what that means',
    'an unknown provider and one without a client are told apart',
    'a provider without a client is not supported',
  ),
  rule(
    "`PROVISIONING_URL`, `PROVISIONING_TOKEN` | none: the primary move answers `GENERAL_ERROR` and the start says so | the destination provider's account-creation service: `POST {url}/accounts {email, password, in_qa}`, `POST {url}/migrations {email, in_qa}`",
    'the start says what is not set, and what that means',
    'without provisioning and mail the calls that need them say so',
    'the account is made by the provisioning service',
  ),
  rule(
    '`TRUSTED_MAIL_HOSTS` | none | comma separated `host` or `host:port` that may be private or loopback addresses and may be spoken to without TLS',
    'a server without TLS is sent a password only where the operator trusts it',
    'a host that the operator trusts may be anywhere, at the port that is named',
  ),
  rule(
    '`SMTP_URL`, `MAIL_FROM`, `SUPPORT_EMAIL` | none: notifications are off and the start says so |',
    'the start says what is not set, and what that means',
    'without provisioning and mail the calls that need them say so',
  ),
  rule(
    '`SMS_URL`, `SMS_TOKEN` | none: a phone number is checked but not messaged, and the start says so | an HTTP gateway: `POST {url} {to, text}`',
    'the start says what is not set, and what that means',
    'to a phone number goes to the gateway for SMS, with its token',
  ),
  rule(
    '`TRANSFERS_AT_ONCE` | 4 | jobs that one worker runs at a time',
    'without any settings, each has the default that was decided',
    'a worker has a limited number of transfers at a time, and then takes the next one (%s)',
    'a worker takes as many transfers at a time as its setting says',
  ),
  rule(
    '`CONNECTIONS_PER_ACCOUNT` | per provider, else 4 | upper bound towards one mailbox',
    'a mailbox has as many connections as its provider or the operator allows',
  ),
  rule(
    '`EXPORT_DAYS` | 7 | how long a finished export can be downloaded',
    'without any settings, each has the default that was decided',
    'exports whose days are over, and what ended without one, are deleted by themselves',
  ),
  rule('`LOG_LEVEL` | `info` |', 'without any settings, each has the default that was decided'),
];

const PERMISSIONS: readonly Rule[] = [
  frame('who | may'),
  rule(
    'anyone with a transfer ID | see how it stands: statuses, counts, folders by number, times, how many were skipped and why. No subject, folder name, address or file',
    'tells numbers, and no subject, folder, address or file',
    'neither fetches nor deletes the files',
  ),
  rule(
    "the browser that ordered it (an HttpOnly cookie that `load` sets, good until the transfer's data are erased), or a bearer of `validate` for the source's address | see everything of it, download and delete the files, get the receipt, cancel, put right, take back, run it again",
    'the browser that ordered it, by a cookie that no script reads',
    'who signs in to the mailbox it reads, by the bearer or in that browser',
    'nobody who signs in to another mailbox, or to this address at a server of their own',
    'puts it right, stops it, gives its receipt, takes it back and runs it again',
    'is erased so many days after its end, and not while its files lie somewhere',
  ),
  rule(
    'the browser that began a sign-in at a provider | use the `token_id` that came of it; from any other browser `load` answers 401 `INVALID_CREDENTIALS`',
    'is used by the browser that began it, and by no other that has seen its ID',
  ),
  rule(
    'Without one of these, v2 status says `files: "there"` and the page asks for a sign-in with the San Bruno address and password. So that this still works when the legacy service is gone, a verifier of the password (scrypt, sealed) is kept with an export until it ends.',
    'who has shown nothing is offered nothing, and all of it after a sign-in',
    'the password that the export was ordered with still opens it, and no other does',
    'what is kept of a password is sealed, and goes with the export',
  ),
  rule(
    'Letters and SMS lead to the status page; their links carry no authority.',
    'is a letter with the result first, the transfer ID and the link, and is sent once',
    'never holds the link to files when a transfer has %s, and leads to the status page only',
    'to a phone fits in two parts of an SMS',
    'neither fetches nor deletes the files',
  ),
  rule(
    "Before any answer that depends on somebody's mailbox comes the proof that it is theirs.",
    'tells nobody without the password whether a mailbox is moving to an address',
    'nobody can have an account created for a mailbox whose password they do not know',
    'is refused to a stranger, to a token of another mailbox, and to one that has run out',
  ),
];

const LIFE: readonly Rule[] = [
  rule(
    '`started` → `inprogress` → `completed`; on the way it may wait or need its owner. v2 status adds, under an operation:',
    'to a provider by OAuth is started, and its status can be asked for',
    'rests, keeps the other credential, tells its owner once, and goes on with the right password',
  ),
  frame('field | meaning'),
  rule(
    '`waiting: {reason, until?}` | goes on by itself: `provider_limit`, `unreachable`, `busy`, `queue`, `disk`',
    'a transfer that waits says why, and one that was stopped what to do next',
    'why a transfer waits is said for %s, with the moment when it is known',
    'a wait, a rest, what is kept, the folders and what was taken back are reported as decided',
  ),
  rule(
    '`attention: {side, reason}` | goes on when its owner has put it right; `side` `source` or `destination`; `reason` `password`, `consent`, `full`, `refused`. The status is then `authentication_error` (password, consent) or `review`',
    'a new sign-in at the provider comes back to this transfer and puts it right',
    'what the $side mailbox needs for $reason is said with the one thing to do',
    'rests, keeps the other credential, tells its owner once, and goes on with the right password',
    'is full goes on where it stopped once there is room, with nothing twice',
    'refuses every message rests, and goes on when it takes them',
    'a wait, a rest, what is kept, the folders and what was taken back are reported as decided',
  ),
  rule(
    '`ended: "cancelled"` | with status `review`',
    'of a transfer under way leaves what is copied, and nothing comes after it',
  ),
  rule(
    '`left` | seconds until it is likely to be done, when that can be said',
    'a transfer that runs says how far it is, folder by folder, and how long it still takes',
    'the time left counts down between estimates, and is omitted once it is over',
    '%i s left read "%s"',
  ),
  rule(
    '`folders: [{name?, done, total}]` | in the order of work',
    'a transfer that runs says how far it is, folder by folder, and how long it still takes',
    'a wait, a rest, what is kept, the folders and what was taken back are reported as decided',
    'tells numbers, and no subject, folder, address or file',
  ),
  rule(
    '`kept` | how many messages the provider keeps in a form of its own',
    'a wait, a rest, what is kept, the folders and what was taken back are reported as decided',
    'names each message with its folder, date, subject, size, digest and fate',
  ),
  rule(
    '`taken_back` | how many were removed again',
    'keeps what was read, flagged, moved or put there since',
    'a wait, a rest, what is kept, the folders and what was taken back are reported as decided',
  ),
  frame('call | request | success | failure'),
  rule(
    'POST /api/v2/transfers/cancel/ | `{job_id}` | `{ok: true}`; nothing is appended 5 s later | 401 `INVALID_TOKEN`, 404 `MIGRATION_ID_NOT_FOUND`, 409 `OPERATION_NOT_ALLOWED`',
    'of a transfer under way leaves what is copied, and nothing comes after it',
    'comes within 5 s of a worker whose server does not answer, and what it took after that is taken back',
    'is for who may manage the transfer',
    'that comes while the transfer ends by itself is told as too late',
  ),
  rule(
    'POST /api/v2/transfers/resume/ | `{job_id, side?, password?, token_id?}` | `{ok: true}` | the same, 401 `INVALID_CREDENTIALS`',
    'is put right only by who may manage it, and guesses are limited',
    'rests, keeps the other credential, tells its owner once, and goes on with the right password',
  ),
  rule(
    'POST /api/v2/transfers/take-back/ | `{job_id}`, after an end | `{ok: true}`; removes what this transfer appended and nobody has changed since, and nothing else | the same',
    'keeps what was read, flagged, moved or put there since',
    'leaves what was there before it',
    'is ordered by who may manage the transfer, after its end, with what signs in',
  ),
  rule(
    'POST /api/v2/transfers/again/ | `{job_id, ...what load needs of passwords and tokens}` | `{jobid}`: brings what came since | the same',
    'brings only that, and undoes nothing that its owner did',
    'is ordered by who may manage the transfer, when it has ended, with what signs in',
  ),
  rule(
    'GET /api/v2/transfers/receipt/?job_id=&format=csv\\|json\\|html | | the receipt: for each message its folder, date, subject, size, sha256 and fate; sums; when, from where, to where | the same',
    'names each message with its folder, date, subject, size, digest and fate',
    'is for who may manage the transfer',
  ),
  frame('page | names'),
  rule(
    'status | buttons "Stop the transfer", "Put it right", "Take back what was copied", "Copy what is new", "Download the receipt"; each asks before it does what can\'t be undone',
    '"$button" ("$confirm") asks, is given up by Escape, and is done once by its button',
    'the receipt is there to read, and as two files',
    'the buttons of the status page have the names of the specification',
    'for a transfer that %s',
  ),
  rule(
    'status, for who has shown nothing | button "Show more", dialog "Sign in to see your transfer", fields "Email", "Password"',
    'who has shown nothing is offered nothing, and all of it after a sign-in',
    'the buttons of the status page have the names of the specification',
  ),
  open(
    'anywhere | `role="group"` named "Language" with one button a language, each in its own language and with its `lang`',
    'a choice of one language is none: it comes with the second',
  ),
];

/** The sections of `decisions.md`, which settles what `portal.md` leaves open. */
export const DECISIONS: readonly (readonly [heading: string, rules: readonly Rule[]])[] = [
  ['Names and settings', NAMES],
  ['Calls', CALLS],
  ['Names that people and screen readers find', ACCESSIBLE_NAMES],
  ['Commands', COMMANDS],
  ['Settings', SETTINGS],
  ['Who may do what', PERMISSIONS],
  ["A transfer's life", LIFE],
];
