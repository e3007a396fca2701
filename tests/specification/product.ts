import { frame, pageRule, rule, type Rule } from './rule.ts';

/** `portal.md` §1–§3: what it is, its pages, its data. */
export const SECTION_1: readonly Rule[] = [
  rule(
    "The users are customers of the provider's legacy email service. Any visitor can use the flow.",
    'a newcomer moves a mailbox from Home to the status page, and every message arrives as it was',
  ),
  rule(
    'The visitor signs in with legacy email credentials and then does one of the following:',
    'a sign-in that succeeds shows success, and goes to the destination page after 1 s',
    'a newcomer moves a mailbox from Home to the status page, and every message arrives as it was',
  ),
  rule(
    'Move the account to a named outside mail provider.',
    'a newcomer moves a mailbox from Home to the status page, and every message arrives as it was',
  ),
  rule(
    'This is the primary path, with a provider-specific notice page and a dedicated account-creation step.',
    'Continue creates the account, and after 2 s leaves for the sign-in at Yahoo',
    'a newcomer moves a mailbox from Home to the status page, and every message arrives as it was',
  ),
  rule(
    'Transfer mail (messages and folders) and contacts to another provider.',
    'loses, doubles and changes nothing, on ${name}',
    'a copy brings every contact, whole, and the members of a group card into their group',
    'a transfer to Gmail goes by way of the terms, to its end',
    'a transfer to Outlook runs to its end, and is found again by a sign-in there',
  ),
  rule(
    'The choices are: a Google-type mail provider, an Outlook/Office365-type provider, an AOL-type provider, or any other provider via username, password and an optional custom IMAP host.',
    'a transfer to Gmail goes by way of the terms, to its end',
    'a transfer to Outlook runs to its end, and is found again by a sign-in there',
    'contacts that AOL was not allowed to take are not promised, and can be allowed after all',
    'a transfer to any other mailbox signs in by password, and takes no contacts',
  ),
  rule(
    'Download the mail and contacts as files.',
    'loses, doubles and changes nothing, in each combination of formats',
    'a download makes files of both formats, whose links give them',
  ),
  rule(
    'A user can be notified by email when the transfer finishes.',
    'a newcomer moves a mailbox from Home to the status page, and every message arrives as it was',
  ),
  rule(
    'On the primary move path a phone number is also accepted.',
    'a US phone number is allowed on the primary move, verified by a call, and normalised',
    'on the %s a contact that cannot be is told what it should be, and one that is missing is asked for after 3 s',
  ),
  rule(
    'A user can look up the status of a transfer by its transfer ID, and can send a message to support.',
    'a transfer that is found by its ID is shown on the status page',
    'a newcomer moves a mailbox from Home to the status page, and every message arrives as it was',
    'a letter to support arrives',
  ),
  rule(
    'The home page shows a countdown to the loss of access to the legacy accounts.',
    'the countdown moves by itself, once a second',
    'the countdown goes by itself from days to hours, and to its end',
  ),
  pageRule(
    'The fixed end date is 2025-11-30 23:59:59 Pacific time.',
    'access ends on 30 November 2025 at 23:59:59 Pacific time where nothing else is set',
  ),
  rule(
    'The countdown is shown in days, or in hours when under 1 day, or as 0 days after the date.',
    'the countdown goes by itself from days to hours, and to its end',
    '%s the end, what is left is shown in whole units, rounded down',
    'the countdown of %s and %i reads "%s"',
  ),
  pageRule(
    'The wizard has four steps: 1 Start, 2 the destination provider step, 3 Transfer, 4 Running.',
    'there are four steps',
    'the four steps are Start, Yahoo Mail or Destination, Transfer and Running',
  ),
  rule(
    'The header has a logo link to the home page, a Home link (path /) and a FAQ link to an external help site.',
    'at %s the header has the logo and Home, which lead Home, and the FAQ',
  ),
  rule(
    'The footer is a legal footer supplied by a third party.',
    "the third party's footer is shown in a frame that can run nothing, on every page",
  ),
  frame('Server-side processing of transfers: not shown.'),
];

export const SECTION_2: readonly Rule[] = [
  pageRule(
    'Wizard pages show a step-indicator sidebar that receives the current step and the four-step list.',
    '%s with the session "%s" is at step %s',
    'the four steps are Start, Yahoo Mail or Destination, Transfer and Running',
  ),
  rule(
    'The layout is mobile-style below 768 px (breakpoint value 767 px).',
    'at 767 px the layout is that of a phone, from 768 px on that of a desk',
  ),
  rule('The main view fades in and out over 200 ms.', 'the old page fades out and the new one in, over 200 ms'),
  rule(
    'A loading overlay (bars loader, purple, light background, opacity 1) is used while waiting.',
    'the loading overlay has purple bars on a light ground that covers the page, and is a status named Loading',
  ),
  frame('Generic widgets:'),
  rule(
    'A modal closes on Escape or on a click on its background.',
    'each modal of %s (%s) closes on Escape and on its background, not on a press inside, and gives the focus back',
    'the important notice that is closed while the account is created, or before the redirect, leads nowhere',
    'a success that is closed goes on at once, with all that the sign-in has brought',
  ),
  rule(
    'Info message boxes come in four kinds: error, success, warning and default info. Each has a large form (title plus content) and a small form (single line).',
    'a message of the kind %s has a large form, a title and content, and a small one of a line',
    '%s: each message has its role, its icon, its tone and its form',
  ),
  frame('Route | Purpose and rules'),
  rule(
    '/ (Home, step 1)',
    'all thirteen routes of the specification are among them',
    '%s with the session "%s" is at step %s',
    '%s at %s stands at %s, and still does after a reload',
  ),
  rule(
    "Title 'San Bruno Email Data Transfer Tool' (the legacy service name in the title).",
    '%s at %s stands at %s, and still does after a reload',
    'the title has the name of the legacy service',
  ),
  rule(
    'Shows the countdown.',
    'the countdown moves by itself, once a second',
    'the countdown goes by itself from days to hours, and to its end',
  ),
  rule(
    "A Start button opens a sign-in modal titled 'Sign in to get started'.",
    'each modal of %s (%s) closes on Escape and on its background, not on a press inside, and gives the focus back',
    'Start opens the sign-in, which forgets what was typed when it closes',
    'the two modals and what leads to them have the names of the specification',
  ),
  rule(
    "A link 'check your transfer status' opens a status modal.",
    'each modal of %s (%s) closes on Escape and on its background, not on a press inside, and gives the focus back',
    'the status modal closes, and opens empty',
    'the two modals and what leads to them have the names of the specification',
  ),
  rule(
    'Entering the page resets wizard state and session data.',
    'entering Home forgets the wizard state and the session, and what was typed',
    'a reload keeps the signed-in visitor on the page, and Home forgets everything once it has asked',
  ),
  rule(
    '/destination-account (step 2) | Needs stored source credentials, else redirect to /.',
    '%s with the session "%s" leads to %s',
    '%s at %s stands at %s, and still does after a reload',
  ),
  rule(
    'Shows a notice page for the move with four cards (email address kept, data migration, timeline, services).',
    'the destination page shows its four cards',
    'the destination page has its four cards, with the time from the specification',
  ),
  rule(
    "A 'Go to' button for the destination provider opens an 'Important notice' modal with a Continue button.",
    'each modal of %s (%s) closes on Escape and on its background, not on a press inside, and gives the focus back',
    'the button for Yahoo opens the important notice, which closes again',
    'the button of the important notice goes from Continue to Creating to Redirecting',
  ),
  pageRule(
    "An expandable section 'Check other options to export your data' has provider buttons Gmail, Outlook, AOL, Other, Download.",
    'the section of other options opens and closes',
    'the other options are Gmail, Outlook, AOL, Other and Download',
  ),
  rule(
    'Reads query param error.',
    'the error %s of the address is shown as %s and clears after 7 s',
    'an error in the address has its title and text, said for 7 s',
  ),
  rule(
    '/start-migration (step 3) | Needs source email and password, plus destination email and either a token id or a password.',
    '%s with the session "%s" leads to %s',
    'the start of the transfer needs the %s',
    'the start of the transfer needs more than a destination with %s',
    '%s at %s stands at %s, and still does after a reload',
  ),
  rule(
    'A Google-type destination without accepted terms redirects to /accept-google-terms.',
    '%s with the session "%s" leads to %s',
    'Accept leads on to the start of the transfer when the destination is known',
    '%s at %s stands at %s, and still does after a reload',
  ),
  rule(
    "Title is 'Move your email account to Yahoo Mail' for the primary move, otherwise 'Transfer your data'.",
    '%s at %s stands at %s, and still does after a reload',
    'the start has its two titles and three actions',
    'each session has its mode: move, transfer or download',
  ),
  pageRule(
    'Has a notification contact input, a Back button to /destination-account, and an action button labelled Move, Download or Transfer depending on mode.',
    'Back returns to the destination page and loses nothing, and not while a transfer is being started',
    'the start has its two titles and three actions',
  ),
  rule(
    '/complete (step 4) | Query migration_id.',
    '%s with the session "%s" leads to %s',
    '%s at %s stands at %s, and still does after a reload',
  ),
  rule(
    'Needs source email and either a destination email or both export formats, else redirect to /.',
    '%s with the session "%s" leads to %s',
    'a download needs the %s',
    '%s at %s stands at %s, and still does after a reload',
  ),
  rule(
    "Shows 'We're moving your email data!' with the transfer ID and a copy control.",
    'the transfer ID is copied, and the confirmation stays for 1.5 s',
    'the complete page says that the data is moving, and that the ID was copied',
    'a newcomer moves a mailbox from Home to the status page, and every message arrives as it was',
  ),
  rule(
    '/oauth-callback | Query error, token_id, email. Logic under section 4.',
    '%s with the session "%s" leads to %s',
    'a sign-in that succeeds stores the address in lower case, the token and the provider, and goes to the start',
    'a return with %s is an unknown error',
    '%s at %s stands at %s, and still does after a reload',
  ),
  rule(
    '/oauth-callback-for-status | Query error, token_id, email, hash. On error, or missing token or email, goes to / with the error.',
    'a return with %s goes Home with the error',
    'a refusal goes to the page for the status',
  ),
  rule(
    'Otherwise stores the destination, stores the email hash and goes to /status-from-email.',
    'a sign-in that succeeds stores the destination and the hash, and lists the transfers',
    'a return without a hash has no transfers to list, nor those of an earlier one',
    'a transfer to Outlook runs to its end, and is found again by a sign-in there',
  ),
  rule(
    '/accept-google-terms | Shows the Google privacy statement with Back and Accept.',
    'Back from the terms returns to the destination page, and nothing is accepted',
    "Gmail leads to Google's terms while they are not accepted, and from there to the sign-in",
    'a transfer to Gmail goes by way of the terms, to its end',
  ),
  rule(
    '/check-email-scopes | Explains missing Google scopes. Next returns to /destination-account.',
    'Next on the page about scopes returns to the destination page',
    "Google's terms are accepted, and its scopes explained",
    'permissions that were not given lead to the page that explains them, and back',
  ),
  rule(
    '/status | Query migration_id (32 characters). Shows a card for the email transfer and a card for the contacts transfer.',
    'a bad or missing ID, or an error, is not found and not asked for: /status%s',
    'a newcomer moves a mailbox from Home to the status page, and every message arrives as it was',
    'a transfer to Outlook runs to its end, and is found again by a sign-in there',
  ),
  rule(
    '/status-from-email | Lists the last transfers for an email hash.',
    'the last five transfers are listed, newest first',
    'a transfer to Outlook runs to its end, and is found again by a sign-in there',
  ),
  rule(
    '/privacy-policy, /terms-of-service | Show a loading overlay, then redirect to an external page after 500 ms.',
    '%s leaves for its external page after 500 ms, and what Back shows is loaded anew',
    '%s shows the overlay for half a second, then goes to its page',
  ),
  rule(
    "/support-form | 'Contact support' form.",
    'the support form has its three errors, and names the legacy domains',
    'a letter to support arrives',
  ),
  frame('The exact path of the OAuth redirect address is not shown.'),
];

export const SECTION_3: readonly Rule[] = [
  rule(
    '**Migration job**: identified by job_id (returned as jobid from the load call). Its status is read through the status calls.',
    'a move makes the pre-move call, then the transfer, and goes on to the transfer ID',
    'to a provider by OAuth is started, and its status can be asked for',
  ),
  rule(
    '**Source account**: email, password, provider, optional imap.',
    'a move makes the pre-move call, then the transfer, and goes on to the transfer ID',
    'however often the button is pressed, one transfer is asked for, and the pre-move call comes before it',
  ),
  rule(
    '**Destination account**: email, password, imap, provider, tokenId.',
    'a transfer by password makes no pre-move call, and asks for mail only',
    'a sign-in that succeeds stores the address in lower case, the token and the provider, and goes to the start',
    'a transfer elsewhere is asked for without a pre-move call',
  ),
  rule(
    '**Wizard state** (kept in session storage): currentStep, srcAccount, dstAccount, allowContactsMigration (default true), googleTermsAccepted, checkSanBrunoOnOauthCallback (a flag meaning the callback must verify the returned email equals the source email).',
    'the session storage holds exactly the keys of the specification',
    'a wizard without a session begins with contacts allowed and all else unsaid',
    'the session is kept under the keys of the specification and no other, and no secret stands in an address',
  ),
  rule(
    '**Other session storage keys**: jwt, operations, notificationContact, emailHash, emailExportType, contactsExportType.',
    'the session storage holds exactly the keys of the specification',
    'the session is kept under the keys of the specification and no other, and no secret stands in an address',
  ),
  rule(
    '**Operations**: emailmigration, contactsmigration, emailforwarding. Wizard operations are emailmigration, plus contactsmigration when contacts are allowed.',
    'a job is asked for %s',
    'however often the button is pressed, one transfer is asked for, and the pre-move call comes before it',
    'a transfer to any other mailbox signs in by password, and takes no contacts',
  ),
  pageRule(
    'Requesting emailforwarding also implies email migration.',
    'forwarding is asked for with mail, and never alone',
  ),
  rule(
    '**Migration request (as built by the wizard)**: sourceAccount {email, password, provider}; destinationAccount {email, password, provider, tokenId}; operations list; parameters {sourceImap, destinationImap, notificationEmail, inQa}; fileExportParameters {emailFormat, contactsFormat}. Response: jobid.',
    'a move makes the pre-move call, then the transfer, and goes on to the transfer ID',
    'a transfer by password makes no pre-move call, and asks for mail only',
    'a download makes no pre-move call, and asks for mail and contacts in their formats',
    'however often the button is pressed, one transfer is asked for, and the pre-move call comes before it',
    'a transfer elsewhere is asked for without a pre-move call',
  ),
  rule(
    '**Load payload as sent on the wire**: source_account, destination_account, operations, parameters, file_export_parameters.',
    'however often the button is pressed, one transfer is asked for, and the pre-move call comes before it',
    'a transfer elsewhere is asked for without a pre-move call',
    'the document is OpenAPI 3.1 and speaks snake case, as the wire does',
  ),
  rule(
    '**Status response**: emailmigration and contactsmigration, each with a status.',
    'to a provider by OAuth is started, and its status can be asked for',
  ),
  rule(
    '**Transfers-by-hash response**: a map of transfer id to start time.',
    'the last five transfers are listed, newest first',
    'lists the five newest transfers to the address, newest first',
  ),
  rule(
    '**Capabilities response**: allowed_operations, provider, auth (oauth or other). Request: email.',
    'a legacy address is the legacy provider, signed in to with its password',
    'a provider with a client is signed in to by OAuth and takes contacts',
  ),
  rule(
    '**Validate payload**: email, password, imap, provider.',
    'a sign-in that succeeds shows success, and goes to the destination page after 1 s',
    'a host that resolves is good, and goes with the sign-in and the transfer',
    'the right password is proven by a sign-in and answered with a session token',
  ),
  rule(
    '**Support form**: email_address, destination_email, migration_id, issue.',
    'Send is off until the legacy email and an issue of more than 5 characters are there, and it is said why',
    'a letter goes with all that was filled in',
    'a letter to support arrives',
  ),
  rule(
    '**Provider keys**: google, yahoo, office365, aol, a key for the legacy provider itself, file_export.',
    'an OAuth provider that is called %s is left for as %s',
    'Download starts from the recommended formats, and goes to the start of the transfer',
    'a sign-in that succeeds shows success, and goes to the destination page after 1 s',
    'a provider is known by its other names',
  ),
  pageRule(
    'Display names: Gmail, Yahoo, Outlook, AOL, the legacy provider name, File; any other is shown as Other.',
    'each provider has its name for people',
  ),
  rule(
    'An export uses a fake destination with provider file_export.',
    'Download starts from the recommended formats, and goes to the start of the transfer',
    'a download makes no pre-move call, and asks for mail and contacts in their formats',
    'a download makes files of both formats, whose links give them',
  ),
  rule(
    'The validate and OAuth calls accept provider values yahoo and google.',
    'a mailbox at %s is signed in to by its password, and by no wrong one',
    'Continue creates the account, and after 2 s leaves for the sign-in at Yahoo',
    "Gmail leads to Google's terms while they are not accepted, and from there to the sign-in",
  ),
  pageRule(
    '**Export formats**: email eml, mbox, pst. Contacts csv, vcf, pst.',
    'mail as %s and contacts as %s can be chosen',
  ),
  rule(
    '**Legacy email domains**: three, written {host} here: one cable-service domain and two further domains of the provider.',
    '%s belongs to a legacy domain',
    'the sign-in judges an email 1 s after the typing, and keeps its word until it is mended',
  ),
];
