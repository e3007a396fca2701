import type { Requirement } from '../requirement.ts';

export const V1: readonly Requirement[] = [
  {
    id: '1.1.1',
    line: 'input is decoded once, before anything else is done with it',
    shownBy: ['that is encoded is decoded once', '%s is not there'],
  },
  {
    id: '1.1.2',
    line: 'output is encoded last, for the interpreter that takes it',
    shownBy: [
      'shows foreign text as text',
      'nothing that a visitor writes becomes a header',
      'of strangers changes neither the JSON nor the stream of events that carries it',
    ],
  },
  {
    id: '1.2.1',
    line: 'output is encoded for its place in HTTP, HTML and XML',
    shownBy: [
      'shows foreign text as text',
      'nothing that a visitor writes becomes a header',
      'every title makes a field that programs of any age can read, and the new ones read it whole',
    ],
  },
  {
    id: '1.2.2',
    line: 'foreign data in URLs is encoded; only safe protocols',
    shownBy: [
      'is asked at the address of the account, its email put in and escaped, by Basic in UTF-8',
      'never has its photo fetched from a link',
      'leads nowhere but to the web: no setting takes %s',
    ],
  },
  {
    id: '1.2.3',
    line: 'output is encoded when JavaScript or JSON is built',
    shownBy: ['of strangers changes neither the JSON nor the stream of events that carries it'],
  },
  {
    id: '1.2.4',
    line: 'no SQL injection',
    shownBy: [
      'like %s is nothing but text to the database',
      'that has a quote in it is an address like any other',
      'holds names, subjects and dates that a column of the database does not',
    ],
  },
  {
    id: '1.2.5',
    line: 'no injection of commands of the operating system',
    shownBy: ['run no program and no text as code'],
  },
  { id: '1.2.6', line: 'no LDAP injection', not: 'The product speaks no LDAP.' },
  { id: '1.2.7', line: 'no XPath injection', not: 'The product asks nothing by XPath.' },
  { id: '1.2.8', line: 'LaTeX processors are configured safely', not: 'The product has no LaTeX.' },
  {
    id: '1.2.9',
    line: 'text in regular expressions is escaped',
    shownBy: ['make no expression of text, and fill no format of text'],
  },
  {
    id: '1.3.1',
    line: 'HTML of editors is sanitized',
    not: 'Nobody can enter HTML: every field is plain text, and mail is never shown.',
  },
  {
    id: '1.3.2',
    line: 'no eval and the like',
    shownBy: [
      'run no program and no text as code',
      'write no markup, listen to no other window, and set no cookie',
      '%s carries the security headers',
    ],
  },
  {
    id: '1.3.3',
    line: 'data is sanitized and cut before dangerous contexts',
    shownBy: [
      'a safe name is portable or empty, whatever the text',
      'wildcards and control characters never reach the destination',
      'the manifest table is safe in a spreadsheet',
    ],
  },
  {
    id: '1.3.4',
    line: 'SVG of users is sanitized',
    not: 'Nobody can give the product an image, and it shows none of a mailbox or an address book.',
  },
  {
    id: '1.3.5',
    line: 'scriptable content of users (Markdown, CSS, formulas) is sanitized or off',
    shownBy: [
      'the manifest table is safe in a spreadsheet',
      'for %s loses no value of any contact, and runs no formula',
    ],
  },
  {
    id: '1.3.6',
    line: 'no request forgery by the server (SSRF)',
    shownBy: [
      'never reaches this machine, however it is spelled',
      'a domain’s own announcement can’t lead inside either',
      'a name whose addresses change after the check is not resolved again',
      'port %i is no mail port',
      'that points to %s is not followed there',
    ],
  },
  {
    id: '1.3.7',
    line: 'no template is built of foreign text',
    not: 'The product has no template engine; letters are strings, and foreign text in them is escaped (1.2.1).',
  },
  { id: '1.3.8', line: 'no JNDI injection', not: 'There is no Java.' },
  { id: '1.3.9', line: 'no memcache injection', not: 'There is no memcache.' },
  {
    id: '1.3.10',
    line: 'format strings are not taken from foreign text',
    shownBy: ['make no expression of text, and fill no format of text', 'write to the log and nowhere else'],
  },
  {
    id: '1.3.11',
    line: 'no SMTP or IMAP injection',
    shownBy: [
      'nothing that a visitor writes becomes a header',
      'mailbox names are quoted and in modified UTF-7',
      'like %j is tried exactly as it was typed',
    ],
  },
  {
    id: '1.4.1',
    line: 'memory-safe strings, copies and pointers',
    not: 'JavaScript and WebAssembly check their memory; the product has no unmanaged code of its own.',
  },
  {
    id: '1.4.2',
    line: 'no integer overflow',
    shownBy: ['%s goes as far as its limit', '%j is none that can be believed'],
  },
  {
    id: '1.4.3',
    line: 'memory and resources are released',
    shownBy: [
      'one network holds so many connections, and frees them when they end',
      'a client that does not read holds back the disk, and one that goes lets the file go',
      'nothing is left behind but the finished files',
    ],
  },
  {
    id: '1.5.1',
    line: 'XML parsers resolve no external entities',
    shownBy: ['with %s names none', 'may return its cards as CDATA, with numeric names and entities in them'],
  },
  {
    id: '1.5.2',
    line: 'deserialization of foreign data is safe',
    shownBy: [
      'the body %# is refused as a bad request',
      'with fields that a call does not know changes nothing by them',
      'run no program and no text as code',
    ],
  },
];
