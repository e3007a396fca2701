import { existsSync, readFileSync, statSync } from 'node:fs';
import { type Environment, readSettings, type Settings, SettingsError } from './contract/settings.ts';
import { FILE_SETTINGS } from './contract/settings/variables.ts';

const LARGEST_OCTETS = 65_536;

/**
 * Adds the lines of `.env`, if there is one, to the environment; what is set there already stays.
 * @throws {SettingsError}
 */
export function loadEnvFile(): void {
  if (!existsSync('.env')) return;
  try {
    process.loadEnvFile('.env');
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    // Of a folder Node says that its contents should be a string.
    throw new SettingsError([
      statSync('.env').isFile()
        ? `.env can't be read (${code}). Make it readable, or set the variables themselves. Example: chmod 600 .env`
        : '.env must be a file. Remove it, or set the variables themselves. Example: rmdir .env',
    ]);
  }
}

/**
 * The settings of an environment in which secrets may come from files: `SECRET_KEY_FILE` names the one that holds
 * `SECRET_KEY`.
 * @throws {SettingsError}
 */
export function settingsFrom(environment: Environment): Settings {
  return readSettings(withSecretFiles(environment));
}

/**
 * The environment with the content of those files in place of their names.
 * @throws {SettingsError} with every problem at once, and nothing that stands in a variable or a file
 */
export function withSecretFiles(environment: Environment): Environment {
  const filled: Record<string, string | undefined> = { ...environment };
  const problems: string[] = [];
  for (const name of FILE_SETTINGS) {
    const variable = `${name}_FILE`;
    const path = environment[variable]?.trim() ?? '';
    if (path === '') continue;
    delete filled[variable];
    try {
      if ((environment[name]?.trim() ?? '') !== '')
        throw new UselessFile(`and ${name} are both set. Keep one of them.`);
      filled[name] = contentOf(path);
    } catch (error) {
      problems.push(`${variable} ${faultOf(error)} Example: ${variable}=/run/secrets/${name.toLowerCase()}`);
    }
  }
  if (problems.length > 0) throw new SettingsError(problems);
  return filled;
}

class UselessFile extends Error {
  override name = 'UselessFile';
}

function contentOf(path: string): string {
  const { size } = regularFile(path);
  if (size > LARGEST_OCTETS) throw new UselessFile(`must name a file of ${LARGEST_OCTETS} octets at most.`);
  const content = readFileSync(path, 'utf8').trim();
  if (content === '') throw new UselessFile('names a file that is empty.');
  return content;
}

function regularFile(path: string) {
  const found = statSync(path);
  if (!found.isFile()) throw new UselessFile('must name a file.');
  return found;
}

function faultOf(error: unknown): string {
  if (error instanceof UselessFile) return error.message;
  return `can't be read (${(error as NodeJS.ErrnoException).code ?? 'unknown error'}).`;
}
