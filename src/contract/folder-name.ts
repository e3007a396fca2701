/** A mailbox's name as mail programs show it: `Inbox` for what mail servers call INBOX, also where folders are within it. */
export function folderName(mailbox: string): string {
  return mailbox.replace(/^INBOX(?=[./]|$)/, 'Inbox');
}
