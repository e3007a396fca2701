import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openFolderSafe, openSharedSafe } from '../../src/server/store/safe.ts';
import { openVault, SealError } from '../../src/server/store/vault.ts';

const vault = openVault(Buffer.alloc(32, 1));

async function temporary(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'safe-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return join(folder, 'keys');
}

describe('a safe with keys in a folder', () => {
  test('opens what it sealed, after a restart too', async () => {
    const folder = await temporary();
    const sealed = await (await openFolderSafe(vault, folder)).seal('a/1', 'secret');
    expect(await (await openFolderSafe(vault, folder)).open('a/1', sealed)).toBe('secret');
  });

  test('keeps the key of a place that is sealed again, even by two at once', async () => {
    const safe = await openFolderSafe(vault, await temporary());
    const sealed = await Promise.all([safe.seal('a/1', 'one'), safe.seal('a/1', 'two'), safe.seal('a/1', 'three')]);
    expect(await Promise.all(sealed.map((bytes) => safe.open('a/1', bytes)))).toEqual(['one', 'two', 'three']);
  });

  test("can't be opened by the vault's key alone, at another place, or after it was destroyed", async () => {
    const folder = await temporary();
    const safe = await openFolderSafe(vault, folder);
    const sealed = await safe.seal('a/1', 'secret');
    await safe.seal('a/2', 'other');
    expect(() => vault.open('a/1', sealed)).toThrow(SealError);
    await expect(safe.open('a/2', sealed)).rejects.toThrow(SealError);
    await safe.destroy('a/1', 'a/3');
    await expect(safe.open('a/1', sealed)).rejects.toThrow(SealError);
    await safe.seal('a/1', 'a later secret at the same place');
    await expect(safe.open('a/1', sealed)).rejects.toThrow(SealError);
    expect((await readdir(folder)).length).toBe(2);
  });

  test('destroys what a killed process left behind, and nothing else', async () => {
    const folder = await temporary();
    const safe = await openFolderSafe(vault, folder);
    const [kept, left] = [await safe.seal('a/1', 'kept'), await safe.seal('a/2', 'left')];
    await safe.destroyAllBut(['a/1']);
    expect(await safe.open('a/1', kept)).toBe('kept');
    await expect(safe.open('a/2', left)).rejects.toThrow(SealError);
  });

  test('says that a key is damaged', async () => {
    const folder = await temporary();
    const safe = await openFolderSafe(vault, folder);
    const sealed = await safe.seal('a/1', 'secret');
    for (const name of await readdir(folder)) await writeFile(join(folder, name), 'short');
    await expect(safe.open('a/1', sealed)).rejects.toThrow(/damaged/);
  });

  test('does not mistake a key that can’t be read for one that is gone', async () => {
    const folder = await temporary();
    const safe = await openFolderSafe(vault, folder);
    const sealed = await safe.seal('a/1', 'secret');
    const [name = ''] = await readdir(folder);
    await rm(join(folder, name));
    await mkdir(join(folder, name));
    const failure: unknown = await safe.open('a/1', sealed).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'EISDIR' });
    expect(failure).not.toBeInstanceOf(SealError);
  });
});

test('a safe that several machines share is opened by each that has the key', async () => {
  const sealed = await openSharedSafe(vault).seal('a/1', 'secret');
  expect(await openSharedSafe(openVault(Buffer.alloc(32, 1))).open('a/1', sealed)).toBe('secret');
  await expect(openSharedSafe(openVault(Buffer.alloc(32, 2))).open('a/1', sealed)).rejects.toThrow(SealError);
});
