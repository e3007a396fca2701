import { frame, rule, type Rule } from './rule.ts';

/** `portal.md` §4–§6: how it behaves, what it takes, who may. */
export const SECTION_4: readonly Rule[] = [
  rule('**Wizard steps** 1 to 4: Home, destination, load, complete/status.', '%s with the session "%s" is at step %s'),
  rule(
    '**Home sign-in**: the credentials are validated.',
    'a sign-in that succeeds shows success, and goes to the destination page after 1 s',
    'a sign-in refused with %s says so, keeps the email and forgets the password',
  ),
  rule(
    'On success a success state shows and after 1 s the user goes to /destination-account. The source account is stored with the legacy provider.',
    'a sign-in that succeeds shows success, and goes to the destination page after 1 s',
  ),
  rule(
    "**Move to the primary outside provider**: the Continue button text goes from 'Continue' to 'Creating your Yahoo account' to 'Redirecting to Yahoo'.",
    'the button of the important notice goes from Continue to Creating to Redirecting',
    'Continue creates the account, and after 2 s leaves for the sign-in at Yahoo',
  ),
  rule(
    "The product calls account creation and, after 2 s, redirects to that provider's OAuth authorisation. The flag checkSanBrunoOnOauthCallback is set.",
    'Continue creates the account, and after 2 s leaves for the sign-in at Yahoo',
  ),
  rule(
    'On return, the callback checks that the returned email equals the source email.',
    'a move goes on when the returned address is that of the source, whatever its case',
  ),
  rule(
    'If not, it goes to /destination-account with error invalid email.',
    'a move that returns with another address goes back with the error invalid email, and stores nothing',
    'a sign-in at Yahoo with another address comes back with the invalid email error',
  ),
  frame('**Other destination buttons**:'),
  rule(
    'Gmail: goes to the Google terms page if terms are not accepted, then to OAuth.',
    "Gmail leads to Google's terms while they are not accepted, and from there to the sign-in",
    'Gmail leads to the sign-in at once when the terms are accepted',
    'a transfer to Gmail goes by way of the terms, to its end',
  ),
  rule(
    'Outlook (office365) and AOL: go to the OAuth redirect.',
    '%s leads to its sign-in',
    'a transfer to Outlook runs to its end, and is found again by a sign-in there',
    'a transfer to AOL runs to its end',
  ),
  rule(
    'Other: shows a credential form. The capabilities call is made.',
    'the email is lowercased and freed of spaces around it, and checked 1 s after the typing stops',
    'a transfer to any other mailbox signs in by password, and takes no contacts',
  ),
  rule(
    'For an oauth provider, the user is redirected to OAuth with provider names normalised (microsoft and outlook become office365, gmail becomes google).',
    'an OAuth provider that is called %s is left for as %s',
    "gmail is left for as google, after Google's terms",
    'another address whose provider signs in by OAuth is sent there, without its password',
  ),
  rule(
    'For a non-oauth provider the user signs in with password and contacts migration is disabled.',
    'a provider without OAuth is signed in to by password, and contacts are switched off',
    'a transfer to any other mailbox signs in by password, and takes no contacts',
  ),
  rule(
    'Download: shows two format dropdowns (email and contacts). The Download button is enabled only when both are chosen, then goes to /start-migration.',
    'Download works once both formats are chosen, and goes to the start of the transfer',
    'only one contacts format leaves Download off too',
    'a download makes files of both formats, whose links give them',
  ),
  rule(
    '**OAuth callback success**: stores the destination email (lowercased), tokenId and provider, then goes to /start-migration.',
    'a sign-in that succeeds stores the address in lower case, the token and the provider, and goes to the start',
  ),
  frame('**Account creation outcomes** (primary move):'),
  rule(
    'ACCOUNT_ALREADY_CREATED: continues with no message.',
    'an account that was created already goes on with no message',
    'an account that was made before goes on to Yahoo without a message',
  ),
  rule(
    'ACCOUNT_ALREADY_EXISTS_MIGRATION_IN_PROGRESS: shows the in-progress message (section 8).',
    'an account creation that ends in %s says so for 7 s, and can be tried again',
    'an account whose migration is in progress is a warning',
    '%s, whose account is past its beginning, is told: %s',
  ),
  rule(
    'ACCOUNT_ALREADY_EXISTS_MIGRATION_COMPLETED: shows the completed message.',
    'an account creation that ends in %s says so for 7 s, and can be tried again',
    "an account whose migration is completed points to Yahoo's mail site",
    '%s, whose account is past its beginning, is told: %s',
  ),
  rule(
    'Anything else: shows the generic setup error.',
    'an account creation that ends in %s says so for 7 s, and can be tried again',
    'any other end of an account creation, as %s, is the generic setup error',
  ),
  rule(
    '**Load page**: the submit is disabled until a valid notification contact exists.',
    'the submit is off while the contact is %s',
    'the submit is off while the contact is being checked',
  ),
  rule(
    'On submit, a primary move first makes a pre-move call. Then the transfer job is created and the user goes to /complete with migration_id.',
    'a move makes the pre-move call, then the transfer, and goes on to the transfer ID',
    'however often the button is pressed, there is one pre-move call and one transfer',
  ),
  rule(
    'Failure shows the unknown error.',
    'when "%s" fails with %s the page says so for 5 s, and the contact is still good',
    'a transfer that does not start for %s is the unknown error',
  ),
  rule(
    '**Transfer status values** (lowercased): - started and inprogress map to running.',
    'a transfer that is %s is followed live',
  ),
  rule(
    'completed and success map to success. - review and authentication_error map to failed.',
    'a transfer that is %s is settled, and not followed',
  ),
  rule('Any other value is treated as running.', 'a transfer that is %s is followed live'),
  rule(
    'The label text comes from a status text table, and unknown statuses use its error entry.',
    'each status has its text, and an unknown one reads as an error',
  ),
  rule(
    'If neither the email nor the contacts transfer is present, the user goes to /.',
    'a transfer of neither mail nor contacts leads Home',
  ),
  rule(
    "**Export or job status badges**: | Value | Label | Text | | completed | Completed | 'Your export is now complete' | | error | Error | 'Your export was interrupted' | | started | In progress | 'Your export is still in progress'",
    'the badge of an export that is %s reads "%s": "%s"',
    'a download makes files of both formats, whose links give them',
  ),
  rule(
    '**Timers**: error and success messages clear automatically after 5 s on load and support pages, and after 7 s on the destination page.',
    'when "%s" fails with %s the page says so for 5 s, and the contact is still good',
    'a letter that fails with %s is said so for 5 s, and is still there',
    'a letter that was sent is said so for 5 s, and the form is empty and without errors',
    'the error %s of the address is shown as %s and clears after 7 s',
    'an account creation that ends in %s says so for 7 s, and can be tried again',
    'a message stays while it is looked at, and then has its 7 s again',
  ),
];

export const SECTION_5: readonly Rule[] = [
  frame('**Username (email)**:'),
  rule(
    'It is lowercased on input and checked 1 s after typing stops.',
    'the email is lowercased and freed of spaces around it as it is typed',
    'the email is checked 1 s after the typing stops, and not before',
    'the email is lowercased and freed of spaces around it, and checked 1 s after the typing stops',
  ),
  rule(
    'It must look like an email, else the invalid-email message.',
    '%s is an invalid email, after the pause and on submit',
    '"%s" is an invalid email',
  ),
  rule(
    'The generic checker allows at most 254 characters in total and 64 in the local part.',
    '%s is an invalid email, after the pause and on submit',
    'an address of %i characters with a local part of %i is an email: %s',
  ),
  rule(
    "On Home it must belong to one of the legacy domains, else the legacy invalid-email message ('Please, enter a San Bruno email address.').",
    '%s belongs to a legacy domain',
    '%s belongs to no legacy domain and is refused, after the pause and on submit',
    'an invalid email, one at no legacy domain and an invalid password have the words of the specification',
  ),
  rule(
    'The capabilities check must report the legacy provider.',
    'an email whose capabilities name another provider is refused, after the pause and on submit',
  ),
  rule(
    'An empty username gives the invalid email error. An empty password gives the invalid password error.',
    'an untouched form that is submitted shows the invalid email and the invalid password',
    'an empty password is an invalid password, and nothing is asked',
  ),
  frame('**Custom IMAP host**:'),
  rule(
    'On blur it must be a valid host, else the invalid IMAP error.',
    'the host "%s" is invalid once the field is left, without a call',
  ),
  rule(
    "A call checks that it resolves, else the 'could not resolve IMAP' error.",
    'a host check that fails with %s could not resolve the host',
    'a host that resolves is good, and goes with the sign-in and the transfer',
  ),
  rule(
    'Sign-in is enabled only with email, password and, if a custom IMAP is used, a valid host.',
    'the sign-in is off with %s',
    'the sign-in is on with an email and a password',
    'the sign-in is off while the custom host is %s',
  ),
  rule(
    '**Notification contact** (checked after 1 s without typing):',
    'a contact is checked 1 s after the typing stops, and not before',
  ),
  rule(
    'If it contains letters it is treated as an email.',
    'a contact with letters that is no email is a wrong email, without a call (%#)',
  ),
  rule(
    'It must have a working domain (checked by a call), and legacy-domain addresses are rejected.',
    'an email whose domain does not work is a wrong email',
    'an address of the legacy provider is refused for the notification, without a call (%#)',
  ),
  rule(
    'On the primary move a phone number is also allowed: US number, strict format, normalised to +1 followed by the digits, and verified by a call.',
    'a US phone number is allowed on the primary move, verified by a call, and normalised',
    '"%s" is a US phone number, and read as +1 and ten digits',
    '"%s" is no US phone number',
    '"%s" is a wrong phone number on the primary move, without a call',
    'a phone number that is not in use is wrong',
  ),
  rule(
    'The format shown to the user is XXX XXX XXXX.',
    'the notification contact has its four errors, without "or phone number" off the primary move',
  ),
  rule(
    'Without letters on a non-primary move it is treated as an email.',
    'a phone number is treated as an email off the primary move (%#)',
  ),
  rule(
    'If empty after 3 s, the invalid-contact message shows.',
    'an empty contact is missing after 3 s, and not before',
  ),
  rule(
    "It omits 'or phone number' for non-primary moves.",
    'the notification contact has its four errors, without "or phone number" off the primary move',
  ),
  rule('Submit stays disabled until the contact is valid.', 'the submit is off while the contact is %s'),
  rule(
    "**Export mode**: a legacy-domain address is rejected as the destination ('Please, do not use a San Bruno email address for the export.').",
    'an address of the legacy provider is refused as the destination, without a call',
    'a destination that is no provider we know, or a legacy one, has the words of the specification',
  ),
  rule(
    "A legacy-domain address is also refused as the notification address ('Please, do not use a San Bruno email address for notification.').",
    'an address of the legacy provider is refused for the notification, without a call (%#)',
    'the notification contact has its four errors, without "or phone number" off the primary move',
  ),
  rule(
    '**Transfer ID**: the status modal needs exactly 32 alphanumeric characters.',
    'the ID "%s" has not exactly 32 letters and digits, and is invalid without a call',
    '32 letters and digits of any kind are asked for',
  ),
  rule(
    'The support form needs 32 lowercase hex characters.',
    'the %s of %o is %s, 1 s after the typing stops and not before',
  ),
  frame('**Support form**:'),
  rule(
    "The legacy email must be valid and on the cable domain ('Please, enter a valid {host} email address.').",
    'on the support form %s %s gets "%s", and nothing is sent (Send is on: %s)',
    'the %s of %o is %s, 1 s after the typing stops and not before',
    'the support form has its three errors, and names the legacy domains',
  ),
  rule(
    "The contact email must be valid ('Please, enter a valid email address.').",
    'on the support form %s %s gets "%s", and nothing is sent (Send is on: %s)',
    'the %s of %o is %s, 1 s after the typing stops and not before',
    'the support form has its three errors, and names the legacy domains',
  ),
  rule(
    "The transfer ID is optional but must be valid if given ('Please, enter a valid transfer ID.').",
    'on the support form %s %s gets "%s", and nothing is sent (Send is on: %s)',
    'the %s of %o is %s, 1 s after the typing stops and not before',
    'the support form has its three errors, and names the legacy domains',
  ),
  rule(
    'Submit needs the legacy email and an issue text longer than 5 characters.',
    'with %s the submit is offered only if the legacy email and an issue are there',
    'Send is off until the legacy email and an issue of more than 5 characters are there, and it is said why',
    'with %s nothing is sent',
    'an issue of %i characters is sent',
    'a letter needs the legacy email and an issue only',
  ),
  rule(
    'The legacy email placeholder lists the legacy domains.',
    'the support form has its three errors, and names the legacy domains',
  ),
  frame('**Messages**:'),
  rule(
    "'Incorrect email or password.'",
    'a sign-in refused with %s says: %s',
    'a wrong password is said, and the email stays in its field while the password goes',
  ),
  rule(
    "'Please enter a valid email address.' - 'Invalid password. Please try again.'",
    'the sign-in asks for what is empty',
    'the sign-in judges %s 1 s after the typing, and keeps its word until it is mended',
    'an invalid email, one at no legacy domain and an invalid password have the words of the specification',
  ),
  rule(
    "'Invalid IMAP. Please enter a valid IMAP address.' - 'Could not resolve IMAP host.'",
    'the IMAP host is judged when its field is left',
    'says what to do when the answer is %s',
    'an invalid and an unresolved host have the words of the specification',
  ),
  rule(
    "'This provider is not supported.'",
    'says what to do when the answer is %s',
    'a destination that is no provider we know, or a legacy one, has the words of the specification',
  ),
  rule(
    "'Operation 'contactsmigration' not allowed.'",
    '%j is said for 5 s (%s: %s)',
    'contacts that are not allowed are said by the name of the operation',
  ),
  rule(
    "'Unknown error, please try again.'",
    'says what to do when the answer is %s',
    'a sign-in refused with %s says: %s',
    'a transfer that does not start for %s is the unknown error',
  ),
  rule(
    "Notification email: 'Please, enter a valid email address.' - Notification phone: 'Please, enter a valid phone number in the following format: XXX XXX XXXX' - Notification contact: 'Please, provide a valid email address or phone number.'",
    'on the %s the contact %s gets "%s"',
    'a contact that is missing on the %s is asked for after 3 s',
    'the notification contact has its four errors, without "or phone number" off the primary move',
  ),
  rule(
    "**Status modal**: shows 'Invalid migration ID' when the ID is malformed or not found, and 'Unknown error, please try again later!' on other errors.",
    'the look-up finds "%s" malformed',
    'says what to do when the answer is %s',
    'the ID "%s" has not exactly 32 letters and digits, and is invalid without a call',
    'an ID that nobody knows is invalid, until another is typed',
    'a look-up that fails with %s is an unknown error, and can be tried again',
    'the status modal tells an ID that is invalid from an unknown error',
  ),
];

export const SECTION_6: readonly Rule[] = [
  rule(
    'There are no roles. There is a single kind of visitor who signs in with legacy email credentials, and the flow is open to any visitor.',
    'a newcomer moves a mailbox from Home to the status page, and every message arrives as it was',
  ),
  rule(
    'and sent as a bearer credential on one client, with cookies sent.',
    'a call after the sign-in carries its token as a bearer, and the cookies',
  ),
  rule(
    'An auth token may be kept in session storage',
    'the session storage holds exactly the keys of the specification',
    'a sign-in that succeeds shows success, and goes to the destination page after 1 s',
    'a sign-in works where no token comes',
    'the right password is proven by a sign-in and answered with a session token',
  ),
  rule(
    'A different stored token in local storage is validated by POST /api/validate-token/.',
    'the stored token is checked once, at the start',
    'a stored token that is invalid is removed',
    'a check of the stored token that fails with %s keeps it',
  ),
  rule(
    'Google OAuth requires two scopes: email write and contacts write.',
    'without the scope %s the tokens are given back',
    'permissions that were not given lead to the page that explains them, and back',
  ),
  rule(
    'A missing scope leads to /check-email-scopes.',
    'a missing scope of Google leads to the page about scopes, and Next returns',
    'a missing scope leads to the page about scopes when the provider is Google, named or chosen',
    'permissions that were not given lead to the page that explains them, and back',
  ),
  frame('Server-side authorisation rules: not shown.'),
];
