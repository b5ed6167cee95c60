import { cp, open, readdir, realpath, rm } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { BackupError } from '../errors.js'
import { contentsOf, makeDirectory, makePrivate } from '../storage/data-directory.js'

/**
 * Runs a write to a new or empty folder, private to its owner, and removes it after a failure.
 * @throws BackupError if the folder is not empty, or cannot be written to
 */
export async function inNewFolder<T>(folder: string, write: () => Promise<T>): Promise<T> {
  const created = await createFolder(folder)
  try {
    return await write()
  } catch (error) {
    const left = created === undefined ? await contentsOf(folder).catch(() => []) : []
    const paths = created === undefined ? left.map((name) => join(folder, name)) : [created]
    for (const path of paths) await rm(path, { recursive: true, force: true })
    throw backupErrorOf(error, folder)
  }
}

/** @returns the first folder that was created; undefined if all existed */
async function createFolder(folder: string): Promise<string | undefined> {
  try {
    const created = await makeDirectory(folder, 0o700)
    if ((await contentsOf(folder)).length === 0) {
      await makePrivate(folder)
      return created
    }
  } catch (cause) {
    throw new BackupError(`The folder "${folder}" cannot be written to: name another one.`, { cause })
  }
  throw new BackupError(`The folder "${folder}" is not empty: name a new one.`)
}

/** An error of the system as one that says where it came up; other errors as they are. */
export function backupErrorOf(error: unknown, folder: string): unknown {
  const { message, syscall } = (error ?? {}) as Partial<NodeJS.ErrnoException>
  if (syscall === undefined) return error
  return new BackupError(
    `"${folder}" cannot be written: ${message}. Nothing was left there. Free or change the disk, and ` +
      'run the command again.',
    { cause: error },
  )
}

/** Copies a folder and what links in it lead to. Once it resolves, a crash of the machine keeps the copy. */
export async function copyFolder(from: string, to: string): Promise<void> {
  await cp(from, to, { recursive: true, dereference: true })
  const entries = await readdir(to, { recursive: true, withFileTypes: true })
  for (const { parentPath, name } of entries) await sync(join(parentPath, name))
  await sync(to)
}

/** Makes the contents of a file, or the names in a folder, durable. */
export async function sync(path: string): Promise<void> {
  const file = await open(path)
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Whether a path, which need not exist, is a folder or below it, by whichever links. */
export async function isInside(path: string, folder: string): Promise<boolean> {
  const way = relative(await realPathOf(folder), await realPathOf(path))
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

async function realPathOf(path: string): Promise<string> {
  const whole = resolve(path)
  try {
    return await realpath(whole)
  } catch {
    return dirname(whole) === whole ? whole : join(await realPathOf(dirname(whole)), basename(whole))
  }
}
