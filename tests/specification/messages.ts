import { frame, pageRule, rule, type Rule } from './rule.ts';

/** `portal.md` §8–§9: what it says, and its numbers. */
export const SECTION_8: readonly Rule[] = [
  rule(
    '**Backend codes**: INVALID_EMAIL, GENERAL_ERROR, MIGRATION_ID_NOT_FOUND. What the product does on each of these codes is not shown.',
    'says what to do when the answer is %s',
    'capabilities that fail with %s refuse the email, after the pause and on submit',
    'a letter that fails with %s is said so for 5 s, and is still there',
  ),
  rule(
    "**Provider codes**: PROVIDER_NOT_SUPPORTED, UNSUPPORTED_PROVIDER. Validation titles: 'Invalid IMAP Server', 'Unsupported Provider'.",
    'a sign-in refused with %s says: %s',
    'capabilities that fail with %s make the email %s, after the pause and on submit',
    'a domain without mail is not supported',
    'says what to do when the answer is %s',
  ),
  frame('**OAuth codes**:'),
  rule(
    "EXTERNAL_OAUTH_ERROR: 'An external authentication error has happened. Please, try again.'",
    'the query error %s says: %s',
    'a sign-in at Yahoo that is cancelled, or has another address, comes back with its error; the right one is worth nothing in another browser, or a second time',
  ),
  rule(
    "MISSING_SCOPE: 'Please, select all the requested permissions while authenticating.' - Any other failure: 'Unknown error during the authentication process, please try again.'",
    'the query error %s says: %s',
    'permissions that were not given lead to the page that explains them, and back',
  ),
  frame('**Account creation**:'),
  rule(
    'Already created: no message, and the flow continues.',
    'an account that was created already goes on with no message',
    'an account that was made before goes on to Yahoo without a message',
  ),
  rule(
    "Migration in progress: 'Transfer is already in progress' / 'You have already started a transfer to Yahoo. Please, wait until it's completed.'",
    'an account whose migration is in progress is a warning',
    '%s, whose account is past its beginning, is told: %s',
  ),
  rule(
    "Migration completed: 'Transfer is already completed', pointing to the outside provider's mail site.",
    "an account whose migration is completed points to Yahoo's mail site",
    '%s, whose account is past its beginning, is told: %s',
  ),
  rule(
    "Other: 'An error has happened while setting up your Yahoo account' / 'Please, try again later or contact support.'",
    'a refusal at the making of the account is said for 7 s',
    'any other end of an account creation, as %s, is the generic setup error',
  ),
  rule(
    "**Sign-in failure**: the title says incorrect credentials. On Home the message is 'If you have already moved to Yahoo, you won't be able to sign in here. Please, go to Yahoo mail.'",
    'a refused sign-in on Home says who cannot sign in any more, and where to go',
    'a wrong password is said, and the email stays in its field while the password goes',
  ),
  rule(
    '**Destination query error** (param error):',
    'the error %s of the address is shown as %s and clears after 7 s',
    'a return with the error %s goes to the destination page with %s',
    'an error in the address has its title and text, said for 7 s',
  ),
  rule(
    "Invalid email: 'Invalid email' / 'Please, use your San Bruno credentials to login into Yahoo.'",
    'the query error %s says: %s',
    'a sign-in at Yahoo that is cancelled, or has another address, comes back with its error; the right one is worth nothing in another browser, or a second time',
  ),
  rule(
    "oauth: 'Authentication error' plus the external error message. - Unsupported provider: 'Provider not supported'. - Missing scope: 'Missing requested scope'.",
    'the query error %s says: %s',
    'an error in the address has its title and text, said for 7 s',
  ),
  rule(
    'It also redirects to the scopes page when the provider is Google.',
    'a missing scope of Google leads to the page about scopes, and Next returns',
    'a missing scope of another provider is shown on the destination page',
    'permissions that were not given lead to the page that explains them, and back',
  ),
  rule(
    "Other: 'Unknown error'.",
    'the query error %s says: %s',
    'an error in the address has its title and text, said for 7 s',
  ),
  frame('**Status page**:'),
  rule(
    "Bad or missing id, or an error param: 'Your transfer ID has not been found'.",
    'a bad or missing ID, or an error, is not found and not asked for: /status%s',
    'a transfer that nobody knows is not found',
    'what has not been found has the words of the specification',
    'says what to do when the answer is %s',
  ),
  rule(
    "Fetch failure: 'Your status has not been found'.",
    'a status that fails with %s has not been found, and can be asked for again',
    'what has not been found has the words of the specification',
    'says what to do when the answer is %s',
  ),
  rule(
    "Status-from-email list empty or failed: 'Your transfers have not been found'.",
    'an empty list has not been found',
    'a list that fails with %s has not been found',
    'what has not been found has the words of the specification',
    'says what to do when the answer is %s',
  ),
  rule(
    "**Support**: failure shows the support form error. Success shows 'Your message has been sent successfully.' Messages clear after 5 s.",
    'a letter that fails with %s is said so for 5 s, and is still there',
    'a letter that was sent is said so for 5 s, is kept to be shown, and the next form is without errors',
    'a letter to support has its success and its failure',
    'a letter to support arrives',
  ),
  frame('**Other messages**:'),
  rule(
    "'The migration portal is unavailable at this time, we apologize for the inconvenience.'",
    'an unavailable portal has the words of the specification',
    'the portal says that it is unavailable, and tries again when asked to',
    'says what to do when the answer is %s',
  ),
  rule(
    "'There was an error submitting your message, please try again later.'",
    'what becomes of a message to support is said for 5 s',
    'says what to do when the answer is %s',
    'a letter to support has its success and its failure',
  ),
];

export const SECTION_9: readonly Rule[] = [
  frame('Item | Value'),
  pageRule(
    'Access end date | 2025-11-30 23:59:59 Pacific',
    'access ends on 30 November 2025 at 23:59:59 Pacific time where nothing else is set',
  ),
  pageRule(
    "Timeline card text | 90 days from first availability of the destination provider's terms | | Transfer duration | from minutes to a full day",
    'the destination page has its four cards, with the time from the specification',
  ),
  rule(
    'Email typing debounce | 1 s',
    'the email is checked 1 s after the typing stops, and not before',
    'the email is lowercased and freed of spaces around it, and checked 1 s after the typing stops',
    'the sign-in judges an email 1 s after the typing, and keeps its word until it is mended',
  ),
  rule(
    'Notification contact debounce | 1 s',
    'a contact is checked 1 s after the typing stops, and not before',
    'on the %s a contact that cannot be is told what it should be, and one that is missing is asked for after 3 s',
  ),
  rule(
    'Empty-contact warning | 3 s',
    'on the %s a contact that cannot be is told what it should be, and one that is missing is asked for after 3 s',
    'an empty contact is missing after 3 s, and not before',
  ),
  rule(
    'Error banners clear | 5 s (load, support), 7 s (destination)',
    'an error in the address has its title and text, said for 7 s',
    'a refusal of the transfer is said for 5 s',
    'what becomes of a message to support is said for 5 s',
    'when "%s" fails with %s the page says so for 5 s, and the contact is still good',
    'a letter that fails with %s is said so for 5 s, and is still there',
    'the error %s of the address is shown as %s and clears after 7 s',
  ),
  rule(
    'Success redirect | 1 s',
    'a sign-in that succeeds says so, and goes on after 1 s',
    'a sign-in that succeeds shows success, and goes to the destination page after 1 s',
  ),
  rule(
    'Primary provider redirect delay | 2 s',
    'an account that was made already leads to Yahoo after 2 s, and the button says what goes on',
    'Continue creates the account, and after 2 s leaves for the sign-in at Yahoo',
  ),
  rule(
    'Policy page redirect | 500 ms',
    '%s shows the overlay for half a second, then goes to its page',
    '%s leaves for its external page after 500 ms, and what Back shows is loaded anew',
  ),
  rule(
    'Copy confirmation | 1.5 s',
    'the copied ID is confirmed for 1.5 s',
    'the transfer ID is copied, and the confirmation stays for 1.5 s',
  ),
  rule('Page fade | 200 ms', 'the old page fades out and the new one in, over 200 ms'),
  rule(
    'Transfer ID length | 32',
    'the ID "%s" has not exactly 32 letters and digits, and is invalid without a call',
    'the %s of %o is %s, 1 s after the typing stops and not before',
    'the look-up says when an ID is malformed',
  ),
  rule(
    'Status-from-email list | at most 5 transfers',
    'the last five transfers are listed, newest first',
    'lists the five newest transfers to the address, newest first',
  ),
  rule(
    'US phone country code | +1',
    '"%s" is a US phone number, and read as +1 and ten digits',
    '%s as a US phone number: %s',
  ),
  rule(
    'Support issue text | longer than 5 characters',
    'with %s nothing is sent',
    'an issue of %i characters is sent',
    'Send is off until the legacy email and an issue of more than 5 characters are there, and it is said why',
  ),
  rule('Mobile breakpoint | 767 px', 'at 767 px the layout is that of a phone, from 768 px on that of a desk'),
  pageRule(
    'Email export formats | eml, mbox, pst | | Contacts export formats | csv, vcf, pst',
    'mail as %s and contacts as %s can be chosen',
  ),
  rule(
    'Operations | contactsmigration, emailmigration, emailforwarding',
    'a job is asked for %s',
    'sends on what comes after it, beside the rules that were there',
  ),
  pageRule(
    'Provider support phone number | {phone}',
    'whoever cannot sign in, or finds the portal closed, is told the phone number',
  ),
  rule(
    "The status-from-email page shows the note 'For older transfers, please use the transfer ID provided in the notification email.'",
    'the list of transfers tells where older ones are',
    'a transfer to Outlook runs to its end, and is found again by a sign-in there',
  ),
  rule(
    'Session data is kept in session storage.',
    'the session storage holds exactly the keys of the specification',
    'a reload keeps the signed-in visitor on the page, and Home forgets everything once it has asked',
  ),
  pageRule('No request timeout is set.', 'an answer that comes after 29 s still counts'),
];
