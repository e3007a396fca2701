/** A value with the label that its owner gave it, such as `home` or `work`. */
export type Labelled<Value> = { readonly label: string; readonly value: Value };

export type PostalAddress = {
  readonly poBox: string;
  readonly extended: string;
  readonly street: string;
  readonly city: string;
  readonly region: string;
  readonly postalCode: string;
  readonly country: string;
};

export type Organization = { readonly name: string; readonly department: string; readonly title: string };

/**
 * One contact, as all readers return it and all writers take it. Absent text is `''`, absent lists are empty.
 * `birthday` and the values of `dates` are `YYYY-MM-DD`, or `--MM-DD` without a year (RFC 6350 §4.3.1). `vcard` is the
 * source's own vCard, byte for byte, for writers that can store it unchanged.
 */
export type Contact = {
  readonly uid: string;
  readonly name: {
    readonly formatted: string;
    readonly prefix: string;
    readonly given: string;
    readonly middle: string;
    readonly family: string;
    readonly suffix: string;
  };
  readonly phonetic: { readonly given: string; readonly middle: string; readonly family: string };
  readonly nickname: string;
  readonly emails: readonly Labelled<string>[];
  readonly phones: readonly Labelled<string>[];
  readonly addresses: readonly Labelled<PostalAddress>[];
  readonly websites: readonly Labelled<string>[];
  readonly organization: Organization;
  /** Second jobs. */
  readonly otherOrganizations: readonly Organization[];
  readonly role: string;
  readonly birthday: string;
  /** Days such as `anniversary`. */
  readonly dates: readonly Labelled<string>[];
  /** Addresses of instant messengers, labelled by the service in lower case, such as `skype`. */
  readonly messengers: readonly Labelled<string>[];
  /** Names of other people, labelled by their relation to the contact, such as `spouse`. */
  readonly relations: readonly Labelled<string>[];
  readonly gender: string;
  readonly notes: string;
  readonly photo?: { readonly mediaType: string; readonly bytes: Uint8Array };
  readonly groups: readonly string[];
  /** Everything else that the source holds, in human-readable form, labelled by what it is. */
  readonly more: readonly Labelled<string>[];
  readonly vcard: string;
};

export const BLANK_CONTACT: Contact = {
  uid: '',
  name: { formatted: '', prefix: '', given: '', middle: '', family: '', suffix: '' },
  phonetic: { given: '', middle: '', family: '' },
  nickname: '',
  emails: [],
  phones: [],
  addresses: [],
  websites: [],
  organization: { name: '', department: '', title: '' },
  otherOrganizations: [],
  role: '',
  birthday: '',
  dates: [],
  messengers: [],
  relations: [],
  gender: '',
  notes: '',
  groups: [],
  more: [],
  vcard: '',
};
