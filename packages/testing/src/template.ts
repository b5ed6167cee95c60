import { createHash, randomUUID } from 'node:crypto'
import { accessSync, constants, mkdirSync, statSync } from 'node:fs'
import { copyFile, mkdir, readdir, rename, rm, stat, utimes } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

// Not read by `await`, so that CommonJS can require the package.
const { version } = createRequire(import.meta.url)('../package.json') as { version: string }

/** How long a template is kept that no test uses, in milliseconds. */
const unusedMs = 14 * 86_400_000

/** Names of templates, of any version, and of those that are being copied. */
const ours = /^(new-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d+\.\d+\.\d+[^/]*-[0-9a-f]{16})$/

/**
 * The default folder of templates: the nearest writable `node_modules`, or a temporary folder of this user.
 * @throws {Error} if that folder is another user's, who could choose what a database loads
 */
export function defaultTemplates(folder = process.cwd()): string {
  try {
    const modules = join(folder, 'node_modules')
    accessSync(modules, constants.W_OK)
    return join(modules, '.cache', 'ratatosk', 'testing')
  } catch {
    const parent = dirname(folder)
    return parent === folder ? temporaryTemplates() : defaultTemplates(parent)
  }
}

function temporaryTemplates(): string {
  const uid = process.getuid?.() ?? 0
  const templates = join(tmpdir(), `ratatosk-testing-templates-${uid}`)
  mkdirSync(templates, { recursive: true, mode: 0o700 })
  if (statSync(templates).uid === uid) return templates
  throw new Error(`"${templates}" is another user's: name a folder of templates`)
}

/** The template of this version of the package for a build of the node and its settings. */
export function templateOf(
  templates: string,
  settings: Readonly<Record<string, string>>,
  build?: string,
): string {
  const sorted = Object.entries(settings).sort(([one], [other]) => (one < other ? -1 : 1))
  const { platform, arch } = process
  const digest = createHash('sha256').update(JSON.stringify([version, build, platform, arch, sorted]))
  return join(templates, `${version}-${digest.digest('hex').slice(0, 16)}`)
}

/** Copies a folder, by shared blocks where possible: five times as fast as `cp`. */
export async function copyFolder(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true, mode: 0o700 })
  const entries = await readdir(from, { withFileTypes: true })
  await Promise.all(
    entries.map((entry) => {
      const [source, target] = [join(from, entry.name), join(to, entry.name)]
      if (entry.isDirectory()) return copyFolder(source, target)
      return copyFile(source, target, constants.COPYFILE_FICLONE)
    }),
  )
}

/** Copies a template to a new folder; false if there is none. */
export async function copyTemplate(template: string, to: string): Promise<boolean> {
  const now = new Date()
  try {
    await utimes(template, now, now)
  } catch {
    return false
  }
  await copyFolder(template, to)
  return true
}

/** Saves a data folder as a template, and removes unused ones. Of simultaneous savers, one succeeds. */
export async function saveTemplate(from: string, templates: string, template: string): Promise<void> {
  await mkdir(templates, { recursive: true, mode: 0o700 })
  await removeUnused(templates)
  const temporary = join(templates, `new-${randomUUID()}`)
  await copyFolder(from, temporary)
  await rename(temporary, template).catch(() => rm(temporary, { recursive: true }))
}

/** Touches only what {@link saveTemplate} writes, because the folder may be one of the caller's. */
async function removeUnused(templates: string): Promise<void> {
  for (const name of (await readdir(templates)).filter((entry) => ours.test(entry))) {
    const path = join(templates, name)
    // Another process may have renamed or removed it.
    const age = await stat(path).then(
      ({ mtimeMs }) => Date.now() - mtimeMs,
      () => 0,
    )
    if (age > unusedMs) await rm(path, { recursive: true, force: true })
  }
}
