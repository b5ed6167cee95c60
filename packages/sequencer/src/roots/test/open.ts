import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { openRoots } from '../open-roots.js'
import type { Roots, RootsOptions } from '../types.js'

export async function temporaryFolder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'ratatosk-roots-'))
  onTestFinished(() => rm(path, { recursive: true, force: true }))
  return path
}

/** Closed when the test is over. */
export async function opened(options?: RootsOptions): Promise<Roots> {
  const roots = await openRoots(options)
  onTestFinished(() => roots.close())
  return roots
}

/** The full run tries both. */
export const places = [
  ...(process.env.RATATOSK_STORES === 'all'
    ? [{ place: 'memory', optionsOf: async (): Promise<RootsOptions> => ({}) }]
    : []),
  { place: 'LMDB', optionsOf: async (): Promise<RootsOptions> => ({ path: await temporaryFolder() }) },
]
