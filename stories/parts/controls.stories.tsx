import type { StoryObj } from '@storybook/react-vite';
import { useState } from 'react';
import { Button } from '../../src/portal/parts/button.tsx';
import { CopyButton } from '../../src/portal/parts/copy-button.tsx';
import { Disclosure } from '../../src/portal/parts/disclosure.tsx';
import { Link } from '../../src/portal/parts/link.tsx';
import { Modal } from '../../src/portal/parts/modal.tsx';
import { ProviderButton, Providers } from '../../src/portal/parts/provider-button.tsx';
import { inColumn } from './in-column.tsx';

export default { title: 'Parts/Controls', decorators: [inColumn] };

export const AnyButton: StoryObj<typeof Button> = {
  parameters: { controls: { disable: false, include: ['children', 'rank', 'size', 'busy', 'disabled'] } },
  args: { children: 'Continue', rank: 'primary', busy: false, disabled: false },
  argTypes: {
    children: { name: 'label', control: 'text' },
    rank: { control: 'inline-radio', options: ['primary', 'secondary', 'quiet'] },
    size: { control: 'inline-radio', options: [undefined, 'large'] },
  },
  render: (args) => <Button {...args} />,
};
export const Primary = () => <Button rank="primary">Start</Button>;
export const PrimaryLarge = () => (
  <Button rank="primary" size="large">
    Go to Yahoo Mail
  </Button>
);
export const Secondary = () => <Button>Back</Button>;
export const Quiet = () => <Button rank="quiet">Keep the files</Button>;
export const Disabled = () => (
  <Button rank="primary" disabled>
    Download
  </Button>
);
export const Busy = () => (
  <Button rank="primary" busy busyLabel="Signing in…">
    Sign in
  </Button>
);
export const LinkAsButton = () => (
  <Link className="button" rank="primary" href="#status" onFollow={() => {}}>
    See your transfer
  </Link>
);
export const Copy = () => {
  const [copied, setCopied] = useState(false);
  return <CopyButton label="Copy transfer ID" copiedLabel="Copied" copied={copied} onCopy={() => setCopied(!copied)} />;
};
export const DisclosureClosed = () => <Options open={false} />;
export const DisclosureOpen = () => <Options open />;
export const ModalOpen = () => {
  const [open, setOpen] = useState(true);
  if (!open) return <Button onPress={() => setOpen(true)}>Open again</Button>;
  return (
    <Modal title="Important notice" closeLabel="Close" onClose={() => setOpen(false)}>
      <p>Escape, the cross and a press on the background close this.</p>
      <div className="actions">
        <Button rank="primary" onPress={() => setOpen(false)}>
          Continue
        </Button>
      </div>
    </Modal>
  );
};

function Options({ open: first }: { readonly open: boolean }) {
  const [open, setOpen] = useState(first);
  return (
    <Disclosure label="Check other options to export your data" open={open} onToggle={() => setOpen(!open)}>
      <Providers>
        <ProviderButton provider="google" name="Gmail" onChoose={() => {}} />
        <ProviderButton provider="office365" name="Outlook" onChoose={() => {}} />
        <ProviderButton provider="aol" name="AOL" onChoose={() => {}} />
        <ProviderButton provider="yahoo" name="Yahoo" onChoose={() => {}} />
        <ProviderButton provider="other" name="Other" onChoose={() => {}} />
        <ProviderButton provider="file_export" name="Download" onChoose={() => {}} />
      </Providers>
    </Disclosure>
  );
}
