export const leaveWizard = {
  title: 'Go back to Home?',
  text: 'You would start again from the beginning, and you would need to sign in again.',
  safe: 'Your mail is safe, and nothing is deleted.',
  stay: 'Stay here',
  leave: 'Go to Home',
} as const;

export const signOutFirst = { ...leaveWizard, title: 'Sign out?', leave: 'Sign out' } as const;
