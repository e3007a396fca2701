import { answerAgain } from './again.ts';
import { answerCancel } from './cancel.ts';
import { answerCapabilities } from './capabilities.ts';
import { answerCreateAccount } from './create-account.ts';
import { answerDailyOff } from './daily-off.ts';
import { answerDomainValidation } from './domain-validation.ts';
import { answerForwardingOff } from './forwarding-off.ts';
import { answerJobsByEmail } from './jobs-by-email.ts';
import { answerLoad } from './load.ts';
import { answerPhoneNumberValidation } from './phone-number-validation.ts';
import { answerResume } from './resume.ts';
import type { Route } from './route.ts';
import { answerSetMigrationStarted } from './set-migration-started.ts';
import { answerSignIns } from './sign-ins.ts';
import { answerSignOut } from './sign-out.ts';
import { answerDetailedStatus, answerStatus } from './status.ts';
import { answerSupportForm } from './support-form.ts';
import { answerTakeBack } from './take-back.ts';
import { answerValidateImap } from './validate-imap.ts';
import { answerValidateToken } from './validate-token.ts';
import { answerValidate } from './validate.ts';

/** Every call of `portal.md` §7 and of `decisions.md`. */
export const calls: readonly Route[] = [
  answerValidateToken,
  answerCapabilities,
  answerValidate,
  answerLoad,
  answerStatus,
  answerDetailedStatus,
  answerValidateImap,
  answerJobsByEmail,
  answerDomainValidation,
  answerPhoneNumberValidation,
  answerCreateAccount,
  answerSetMigrationStarted,
  answerSupportForm,
  answerForwardingOff,
  answerCancel,
  answerResume,
  answerTakeBack,
  answerAgain,
  answerDailyOff,
  answerSignOut,
  answerSignIns,
];
