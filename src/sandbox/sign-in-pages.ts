import { html } from 'hono/html';
import type { Destination, Permission } from './destinations.ts';
import { type Markup, sandboxPage } from './sandbox-page.ts';

export function signInPage(
  { name }: Destination,
  hint: string,
  { email, wrong }: { readonly email: string; readonly wrong: boolean },
): Markup {
  const title = `Sandbox: ${name} sign-in`;
  return sandboxPage(
    title,
    html`<h1>${title}</h1>
      <p>The San Bruno Email Data Transfer Tool asks to use your ${name} account.</p>
      ${wrong ? html`<p class="error" role="alert">Wrong email or password. Please try again.</p>` : ''}
      <form method="post">
        <label for="email">Email</label>
        <input id="email" name="email" type="email" autocomplete="username" required value="${email}" />
        <label for="password">Password</label>
        <input
          id="password"
          name="password"
          type="password"
          autocomplete="current-password"
          required
          aria-describedby="hint"
        />
        <p id="hint" class="hint">${hint}</p>
        <div class="actions">
          <button name="action" value="sign-in">Sign in</button>
          <button name="action" value="cancel" class="quiet" formnovalidate>Cancel</button>
        </div>
      </form>`,
    true,
  );
}

export function consentPage({ name }: Destination, email: string, permissions: readonly Permission[]): Markup {
  const title = `Sandbox: ${name} permissions`;
  return sandboxPage(
    title,
    html`<h1>${title}</h1>
      <p>You are signed in as <strong>${email}</strong>. The San Bruno Email Data Transfer Tool asks to:</p>
      <form method="post">
        <fieldset>
          <legend>Permissions</legend>
          <p class="granted">See your email address</p>
          ${permissions.map(
            ({ scope, allows }) =>
              html`<label class="choice">
                <input type="checkbox" name="scope" value="${scope}" checked />
                <span>${allows}<small>${scope}</small></span>
              </label>`,
          )}
        </fieldset>
        <p class="hint">Clear a box to see what happens when a permission is missing.</p>
        <div class="actions">
          <button name="action" value="agree">Agree</button>
          <button name="action" value="cancel" class="quiet" formnovalidate>Cancel</button>
        </div>
      </form>`,
    true,
  );
}

export function signInFailedPage({ name }: Destination, reason: string): Markup {
  const title = `Sandbox: ${name} sign-in failed`;
  return sandboxPage(
    title,
    html`<h1>${title}</h1>
      <p class="error" role="alert">${reason}</p>
      <p>Your mail is safe. Go back to the transfer tool and start the sign-in again.</p>`,
    true,
  );
}
