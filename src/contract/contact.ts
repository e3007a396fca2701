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

/**
 * One contact, as every reader gives it and every writer takes it. Absent text is `''`, absent lists are empty.
 * `birthday` is `YYYY-MM-DD`, or `--MM-DD` without a year (RFC 6350 §4.3.1). `vcard` is the source's own vCard,
 * byte for byte, for writers that can keep it whole.
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
  readonly nickname: string;
  readonly emails: readonly Labelled<string>[];
  readonly phones: readonly Labelled<string>[];
  readonly addresses: readonly Labelled<PostalAddress>[];
  readonly websites: readonly Labelled<string>[];
  readonly organization: { readonly name: string; readonly department: string; readonly title: string };
  readonly birthday: string;
  readonly notes: string;
  readonly photo?: { readonly mediaType: string; readonly bytes: Uint8Array };
  readonly groups: readonly string[];
  readonly vcard: string;
};
