import { frame, rule, type Rule } from './rule.ts';

/** `portal.md` §7: the calls that it makes. */
export const SECTION_7: readonly Rule[] = [
  rule(
    'All calls go to the product backend with JSON bodies.',
    'the document and the routes are the same',
    'a body of type %s is taken',
    'a body of type %s is not taken',
  ),
  frame('Method and path | Payload | Notes'),
  rule(
    'POST /api/validate-token/ | token | Response data is read.',
    'a token in local storage %s, and is asked about once',
    'a token that was never issued is refused',
    'the session token is valid for a day',
  ),
  rule(
    'POST /api/capabilities/ | email | Response: allowed_operations, provider, auth.',
    'a legacy address is the legacy provider, signed in to with its password',
    'a provider with a client is signed in to by OAuth and takes contacts',
  ),
  rule(
    'POST /api/validate/ | email, password, imap (optional), provider | Response ok. An error body has an error field (including the invalid IMAP code).',
    'the right password is proven by a sign-in and answered with a session token',
    'a host in private space is not reached',
    'nobody is signed in at the provider "%s"',
  ),
  rule(
    'POST /api/load/ | source_account, destination_account, operations, parameters, file_export_parameters | Response jobid.',
    'however often the button is pressed, one transfer is asked for, and the pre-move call comes before it',
    'a transfer elsewhere is asked for without a pre-move call',
    'to a provider by OAuth is started, and its status can be asked for',
  ),
  rule(
    'GET /api/status/?job_id={id} | none | Response: emailmigration and contactsmigration with status.',
    'to a provider by OAuth is started, and its status can be asked for',
  ),
  rule(
    'GET /api/v2/status/?job_id={id} | none | Same purpose.',
    'tells numbers, and no subject, folder, address or file',
    'a newcomer moves a mailbox from Home to the status page, and every message arrives as it was',
  ),
  rule(
    'POST /api/validate-imap/ | imap | Checks that the host resolves.',
    'passes one that greets as IMAP',
    'passes one that resolves, whatever answers there, and connects to none',
    'answers private and unknown hosts and other ports alike, after the same time',
  ),
  rule(
    'POST /api/jobs-by-email/ | hash | Response: map of transfer id to start time.',
    'lists the five newest transfers to the address, newest first',
  ),
  rule(
    'GET /api/v2/domain-validation/?domain={domain} | none | Checks the domain of an email.',
    'a domain that %s is answered rightly',
    'a domain that does not exist is not valid',
  ),
  rule(
    'GET /api/v2/phone-number-validation/?number={number} | none | The number is URL-encoded.',
    '%s as a US phone number: %s',
    'a phone number is judged rightly, however it is written',
  ),
  rule(
    'POST /api/v2/san-bruno-create-account/?in_qa={flag} | email, password | An error body has error and message.',
    'the account is made by the provisioning service',
    '%s is passed on',
    'the calls say that they are for quality assurance where the setting does',
  ),
  rule(
    'POST /api/v2/san-bruno-set-migration-started/?in_qa={flag} | email | This is the pre-move call before the primary move.',
    'however often the button is pressed, one transfer is asked for, and the pre-move call comes before it',
    'is accepted from someone who has signed in to the mailbox, wherever they are by then',
  ),
  rule(
    'POST /api/v2/support-form/ | email_address, destination_email, migration_id, issue | Response ok.',
    'the message reaches the operator, who can answer it',
    'a letter to support arrives',
  ),
  rule(
    'OAuth start is a browser redirect, not a request: /api/oauth/?provider={provider} and /api/oauth-for-status/?provider={provider}. The in_qa flag comes from a build setting (true, True or 1).',
    '%s ends with an address and the ID of its tokens',
    'proves an address by a hash that opens its list, and keeps no tokens',
    'IN_QA=%s is for quality assurance: %s',
  ),
  frame(
    'HTTP methods of some helper calls are not shown. The response bodies of the validate-imap, jobs-by-email, domain, phone, account-creation success and migration-started calls are not shown beyond what the table says.',
  ),
];

/** What `decisions.md` says of them. */
export const CALLS: readonly Rule[] = [
  frame('call | request | success | failure'),
  rule(
    'any | JSON, UTF-8 | 200 | 4xx/5xx with `{ "error": CODE, "message": text }`; codes below',
    'a refusal repeats nothing of the input',
    '%s %s is answered %i in JSON',
    'a post with %j is answered %i',
    'a body of type %s is not taken',
  ),
  rule(
    'POST /api/validate-token/ | `{token}` | `{ok: true}` | 401 `INVALID_TOKEN`',
    'the session token is valid for a day',
    'a token that was never issued is refused',
  ),
  rule(
    'POST /api/capabilities/ | `{email}` | `{allowed_operations: string[], provider: string, auth: "oauth" or "other"}` | 400 `INVALID_EMAIL`, 404 `PROVIDER_NOT_SUPPORTED`',
    'a legacy address is the legacy provider, signed in to with its password',
    'a provider with a client is signed in to by OAuth and takes contacts',
    '%j is no address',
    'a domain without mail is not supported',
  ),
  rule(
    'POST /api/validate/ | `{email, password, imap?, provider}` | `{ok: true, token?}` | 401 `INVALID_CREDENTIALS`, 400 `INVALID_IMAP`, 400 `UNSUPPORTED_PROVIDER`, 429 `TOO_MANY_ATTEMPTS`',
    'the right password is proven by a sign-in and answered with a session token',
    'a wrong password and an unknown user get the same answer',
    'a host in private space is not reached',
    'nobody is signed in at the provider "%s"',
    'two hundred guesses from fifty addresses hardly reach the mailbox, and its owner gets in when told',
  ),
  rule(
    'POST /api/load/ | as in `portal.md` §7, snake case | `{jobid}` (32 lower-case hex) | 400 `INVALID_EMAIL`, 400 `OPERATION_NOT_ALLOWED`, 401 `INVALID_CREDENTIALS`, 409 `MIGRATION_IN_PROGRESS`',
    'to a provider by OAuth is started, and its status can be asked for',
    '%s is refused without a sign-in',
    '%s starts nothing',
    'is not started beside another one of the same account',
  ),
  rule(
    'GET /api/status/?job_id= | | `{emailmigration?: {status}, contactsmigration?: {status}}` | 404 `MIGRATION_ID_NOT_FOUND`',
    'to a provider by OAuth is started, and its status can be asked for',
    'the ID %j is not found',
  ),
  rule(
    'GET /api/v2/status/?job_id= | | the same, and under each operation the progress that the engine knows: `{status, done, total, bytes, skipped: [{mailbox, reason, subject?}], lost, duplicated, changed, started, finished}` (the last five when known; `skipped` with `mailbox` and `subject` only for a caller who may see everything; for others its `reason` alone) and what "A transfer\'s life" adds; to a caller who may have the files ("Who may do what"), a finished export adds `exports: [{url, name, size, sha256, expires}]` | the same',
    'tells numbers, and no subject, folder, address or file',
    'the browser that ordered it, by a cookie that no script reads',
    'who signs in to the mailbox it reads, by the bearer or in that browser',
    'nobody who signs in to another mailbox, or to this address at a server of their own',
    'a download makes files of both formats, whose links give them',
    'an operation that completed without anything to count has a total of 0; one that failed early has none',
    'the ID %j is not found',
  ),
  rule(
    'POST /api/validate-imap/ | `{imap}` | `{ok: true}` | 400 `INVALID_IMAP`',
    'passes one that greets as IMAP',
    'passes one that resolves, whatever answers there, and connects to none',
    'answers private and unknown hosts and other ports alike, after the same time',
  ),
  rule(
    'POST /api/jobs-by-email/ | `{hash}` | `{[jobid]: ISO 8601 start time}` newest first | 404 `MIGRATION_ID_NOT_FOUND`',
    'lists the five newest transfers to the address, newest first',
    'a hash expires, and none can be derived from the address',
  ),
  rule(
    'GET /api/v2/domain-validation/?domain= | | `{valid: boolean}` | 400',
    'a domain that %s is answered rightly',
    'a missing domain is refused',
  ),
  rule(
    'GET /api/v2/phone-number-validation/?number= | | `{valid: boolean}` | 400',
    '%s as a US phone number: %s',
    'a missing phone number is refused',
  ),
  rule(
    'POST /api/v2/san-bruno-create-account/?in_qa= | `{email, password}` | `{ok: true}` | 409 `ACCOUNT_ALREADY_CREATED`, `ACCOUNT_ALREADY_EXISTS_MIGRATION_IN_PROGRESS`, `ACCOUNT_ALREADY_EXISTS_MIGRATION_COMPLETED`; 502 `GENERAL_ERROR`',
    'the account is made by the provisioning service',
    '%s is passed on',
    'an answer of %i %j is a general error',
  ),
  rule(
    'POST /api/v2/san-bruno-set-migration-started/?in_qa= | `{email}` | `{ok: true}` | 502 `GENERAL_ERROR`',
    'is accepted from someone who has signed in to the mailbox, wherever they are by then',
    'that the service refuses is a general error',
  ),
  rule(
    'POST /api/v2/support-form/ | as in `portal.md` §7 | `{ok: true}` | 400 `INVALID_EMAIL`, 502 `GENERAL_ERROR`',
    'the message reaches the operator, who can answer it',
    '%j is refused',
    'without provisioning and mail the calls that need them say so',
  ),
  rule(
    'GET /api/oauth/?provider= and /api/oauth-for-status/?provider= | | 302 to the provider | 302 back to the matching callback page with `error`',
    '%s ends with an address and the ID of its tokens',
    'proves an address by a hash that opens its list, and keeps no tokens',
    'an unknown provider and one without a client are told apart',
    'a refusal goes to the page for the status',
  ),
  rule(
    'The portal sends `imap` hosts as `host` or `host:port`. On the wire `source_account` and `destination_account` are `{email, password, provider, token_id?}`; `parameters` is `{source_imap, destination_imap, notification_email, in_qa}`; `file_export_parameters` is `{email_format, contacts_format}`. Absent values are left out, not sent empty.',
    'a host that resolves is good, and goes with the sign-in and the transfer',
    'however often the button is pressed, one transfer is asked for, and the pre-move call comes before it',
    'a transfer elsewhere is asked for without a pre-move call',
    'the document is OpenAPI 3.1 and speaks snake case, as the wire does',
  ),
  rule(
    'A phone number as the notification contact travels in `notification_email` as well, in the form `+1XXXXXXXXXX`.',
    'a move makes the pre-move call, then the transfer, and goes on to the transfer ID',
    'however often the button is pressed, one transfer is asked for, and the pre-move call comes before it',
  ),
  rule(
    '`operations` holds the names from `portal.md` §3. A file export sends `emailmigration` and `contactsmigration`.',
    'a download makes no pre-move call, and asks for mail and contacts in their formats',
    'a job is asked for %s',
    'a download makes files of both formats, whose links give them',
  ),
  rule(
    "An answer that does not fit its schema is an error of the call, shown as the page's unknown error, never a crash.",
    'says what to do when the answer is %s',
  ),
  rule(
    'Query `error` values: `INVALID_EMAIL`, `EXTERNAL_OAUTH_ERROR`, `UNSUPPORTED_PROVIDER` / `PROVIDER_NOT_SUPPORTED`, `MISSING_SCOPE`; anything else is the page\'s "other". Case does not matter.',
    'the error %s of the address is shown as %s and clears after 7 s',
    'an error in the address has its title and text, said for 7 s',
  ),
];
