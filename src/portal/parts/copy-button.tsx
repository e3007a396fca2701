import { Button } from './button.tsx';

type Props = {
  readonly label: string;
  readonly copiedLabel: string;
  readonly copied: boolean;
  readonly onCopy: () => void;
};

export function CopyButton({ label, copiedLabel, copied, onCopy }: Props) {
  return (
    <>
      <Button reserve={label} onPress={onCopy}>
        {copied ? copiedLabel : label}
      </Button>
      <output className="hidden-visually">{copied ? copiedLabel : ''}</output>
    </>
  );
}
