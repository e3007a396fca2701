export const fieldErrors = {
  email: 'Please enter a valid email address.',
  legacyEmail: (legacyName: string) => `Please, enter a ${legacyName} email address.`,
  password: 'Invalid password. Please try again.',
} as const;
