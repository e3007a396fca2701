import { pageRule, rule, type Rule } from './rule.ts';

/** Where `decisions.md` settles what `portal.md` leaves open for the portal. */
export const DECISIONS: readonly Rule[] = [
  rule(
    'compared in lower case',
    'an OAuth provider that is called %s is left for as %s',
    'a provider is known by its other names',
  ),
  rule(
    'Days left = whole days remaining, rounded down; under 24 h, whole hours rounded down ("1 hour", "1 day" in the singular); after it, "0 days"',
    '%s the end, what is left is shown in whole units, rounded down',
    'the countdown of %s and %i reads "%s"',
    'the countdown goes by itself from days to hours, and to its end',
  ),
  rule(
    'the portal sends `in_qa=true` or `in_qa=false`',
    'the account is created in quality assurance where the setting says so',
    'the calls say that they are for quality assurance where the setting does',
    'however often the button is pressed, one transfer is asked for, and the pre-move call comes before it',
  ),
  rule(
    'key `token`; checked once at start by `POST /api/validate-token/`; a token that fails is removed',
    'a token in local storage %s, and is asked about once',
    'the stored token is checked once, at the start',
    'a stored token that is invalid is removed',
  ),
  pageRule('The portal must also work where no token comes', 'a sign-in works where no token comes'),
  rule(
    'shown in place of the page when the server answers 503 (setting `MAINTENANCE=on` makes it), or can\'t be reached when a page needs it; "Try again" repeats the call',
    'the portal says that it is unavailable, and tries again when asked to',
    'says what to do when the answer is %s',
    'a portal that is unavailable at the %s goes on by %s',
  ),
  rule(
    'the clock stands still while the pointer or the focus is on the message, and an error about a field stays at the field until it is mended',
    'a message stays while it is looked at, and then has its 7 s again',
    'a message stays while it is looked at',
    'a refusal stays until something is typed',
    'a message stays while the pointer or the focus is on it, and goes after that',
  ),
  rule(
    'A phone number as the notification contact travels in `notification_email` as well, in the form `+1XXXXXXXXXX`.',
    'a move makes the pre-move call, then the transfer, and goes on to the transfer ID',
    'however often the button is pressed, one transfer is asked for, and the pre-move call comes before it',
  ),
  rule(
    'A file export sends `emailmigration` and `contactsmigration`.',
    'a download makes no pre-move call, and asks for mail and contacts in their formats',
    'a job is asked for %s',
    'a download makes files of both formats, whose links give them',
  ),
  rule(
    "An answer that does not fit its schema is an error of the call, shown as the page's unknown error, never a crash.",
    'says what to do when the answer is %s',
  ),
  rule(
    'anything else is the page\'s "other". Case does not matter.',
    'the error %s of the address is shown as %s and clears after 7 s',
    'an error in the address has its title and text, said for 7 s',
  ),
  rule(
    'link "San Bruno" logo to `/`, links "Home" and "FAQ"',
    'at %s the header has the logo and Home, which lead Home, and the FAQ',
  ),
  rule(
    'navigation "Progress", an ordered list: "Start", "Yahoo Mail" (or "Destination" off the primary path), "Transfer", "Running"; the current one has `aria-current="step"`',
    'at 767 px the layout is that of a phone, from 768 px on that of a desk',
    '%s at %s stands at %s, and still does after a reload',
    'the four steps are Start, Yahoo Mail or Destination, Transfer and Running',
    'the session "%s" is a %s, and on the primary path: %s',
  ),
  rule(
    'field "Notification email or phone number" (primary move) or "Notification email"',
    'on the %s a contact that cannot be is told what it should be, and one that is missing is asked for after 3 s',
    'the start has its two titles and three actions',
  ),
  rule(
    'button "Copy transfer ID", which says "Copied" for 1.5 s',
    'the copied ID is confirmed for 1.5 s',
    'the transfer ID is copied, and the confirmation stays for 1.5 s',
    'a newcomer moves a mailbox from Home to the status page, and every message arrives as it was',
  ),
  rule(
    'errors in `role="alert"`, the rest in `role="status"`',
    '%s: each message has its role, its icon, its tone and its form',
    'says what to do when the answer is %s',
    '%s, whose account is past its beginning, is told: %s',
    'a wrong password is said, and the email stays in its field while the password goes',
  ),
  rule(
    '`role="status"` named "Loading"',
    'the loading overlay has purple bars on a light ground that covers the page, and is a status named Loading',
    '%s shows the overlay for half a second, then goes to its page',
  ),
  rule(
    'newest first',
    'lists the five newest transfers to the address, newest first',
    'the last five transfers are listed, newest first',
  ),
  rule(
    'buttons "Stop the transfer", "Put it right", "Take back what was copied", "Copy what is new", "Download the receipt"; each asks before it does what can\'t be undone',
    '"$button" ("$confirm") asks, is given up by Escape, and is done once by its button',
    'the receipt is there to read, and as two files',
    'the buttons of the status page have the names of the specification',
    'for a transfer that %s',
  ),
  rule(
    'button "Show more", dialog "Sign in to see your transfer", fields "Email", "Password"',
    'who has shown nothing is offered nothing, and all of it after a sign-in',
    'the buttons of the status page have the names of the specification',
  ),
  rule(
    'goes on by itself: `provider_limit`, `unreachable`, `busy`, `queue`, `disk`',
    'a transfer that waits says why, and one that was stopped what to do next',
    'why a transfer waits is said for %s, with the moment when it is known',
  ),
  rule(
    'goes on when its owner has put it right; `side` `source` or `destination`; `reason` `password`, `consent`, `full`, `refused`.',
    'a new sign-in at the provider comes back to this transfer and puts it right',
    'what the $side mailbox needs for $reason is said with the one thing to do',
  ),
  rule(
    'seconds until it is likely to be done, when that can be said',
    'a transfer that runs says how far it is, folder by folder, and how long it still takes',
    '%i s left read "%s"',
  ),
];
