import type { StoryObj } from '@storybook/react-vite';
import { Message, MessagePlace } from '../../src/portal/parts/message.tsx';
import { homeSignInWords, messageWords } from '../../src/portal/wording/message.ts';
import type { Message as Subject } from '../../machines/wizard.types.ts';
import { FAILURE_CODES, QUERY_ERRORS } from '../../src/contract/failure-code.ts';
import { inColumn } from './in-column.tsx';

export default { title: 'Parts/Messages', decorators: [inColumn] };

export const AnyMessage: StoryObj<typeof Message> = {
  parameters: { controls: { disable: false, include: ['kind', 'title', 'content'] } },
  args: { kind: 'info', title: 'Transfer is already completed', content: ['Your mail is at Yahoo Mail.'] },
  argTypes: {
    kind: { control: 'inline-radio', options: ['error', 'success', 'warning', 'info'] },
    title: { control: 'text' },
    content: { control: 'object' },
  },
  render: (args) => <Message {...args} />,
};
export const ErrorLarge = () => (
  <Message
    kind="error"
    title="Incorrect credentials"
    content={['Incorrect email or password.', 'Your mail is safe: nothing was moved or deleted.']}
  />
);
export const SuccessLarge = () => (
  <Message kind="success" title="Your message has been sent successfully." content={["We'll reply by email."]} />
);
export const WarningLarge = () => (
  <Message
    kind="warning"
    title="Transfer is already in progress"
    content={["You have already started a transfer to Yahoo. Please, wait until it's completed."]}
  />
);
export const InfoLarge = () => (
  <Message kind="info" title="Transfer is already completed" content={['Your mail is at Yahoo Mail.']}>
    <p>
      <a href="https://mail.yahoo.com/">Go to Yahoo mail</a>
    </p>
  </Message>
);
export const ErrorSmall = () => <Message kind="error" content={['Unknown error, please try again.']} />;
export const SuccessSmall = () => (
  <Message kind="success" content={['You are signed in. Taking you to the next step…']} />
);
export const WarningSmall = () => <Message kind="warning" content={['The ID could not be copied.']} />;
export const InfoSmall = () => <Message kind="info" content={['This is taking longer than usual…']} />;
export const PlaceKept = () => (
  <>
    <MessagePlace size="large">{null}</MessagePlace>
    <p>Nothing above moves this line when a message comes.</p>
  </>
);

const codes = [...FAILURE_CODES, 'UNAVAILABLE', 'UNEXPECTED_ANSWER'] as const;
const catalogue: readonly Subject[] = [
  ...[...QUERY_ERRORS, 'OTHER' as const].map((error) => ({ about: 'query' as const, error })),
  ...codes.flatMap((code) => [
    { about: 'sign-in refused' as const, code },
    { about: 'account creation' as const, code },
    { about: 'load failed' as const, code },
  ]),
  { about: 'too many downloads' },
  { about: 'sign-in elsewhere ended', provider: 'aol' },
  { about: 'source sign-in ended' },
  { about: 'support sent' },
  { about: 'support failed', code: 'GENERAL_ERROR' },
  { about: 'export deletion failed', code: 'GENERAL_ERROR' },
];

/** Every message that a page can show. */
export const Catalogue = () => {
  const all = [
    ...catalogue.map((message) => messageWords(message, 'San Bruno')),
    homeSignInWords('INVALID_CREDENTIALS'),
  ];
  const different = new Map(all.map((words) => [JSON.stringify(words), words]));
  return [...different].map(([key, { kind, title, content }]) => (
    <Message key={key} kind={kind} title={title} content={content} />
  ));
};
