import { readFile } from 'node:fs/promises'
import { gunzipSync } from 'node:zlib'
import { blockVersion } from '@ratatosk/block'
import { inDatabase } from '@ratatosk/test-kit'
import type { Test } from 'tap'
import { backends, type Placement } from './backends.js'

const postgres = (await backends()).find(({ name }) => name === 'PostgreSQL alone')

/**
 * What earlier commits left in PostgreSQL: a ledger, a queue, an index and a devnet, of a node with
 * `upgradeSettings` that accepted three transactions, merged two in blocks, and stopped with the third in its
 * mempool.
 */
export const upgradeCommits = ['71a9c27', '3592e6f'] as const
export const upgradeSettings = { MATURITY_WINDOW_MS: '500', VERDICT_POLICIES: 'none' }

/** The block version of the fixtures. */
export const upgradeVersion: bigint = 2n
/** Whether this node continues them; else it refuses them. */
export const upgradeGoesOn = blockVersion === upgradeVersion

/** Why tests of the fixtures must be skipped. */
export const upgradeSkip = postgres?.skip ?? 'no PostgreSQL'

/** The settings of a place that has what a commit left. */
export async function restoreUpgrade(t: Test, commit: string): Promise<Placement> {
  const place = (await postgres?.place(t)) ?? {}
  const file = new URL(`../../src/test/upgrades/${commit}.sql.gz`, import.meta.url)
  const dump = gunzipSync(await readFile(file)).toString()
  await inDatabase(dump.replaceAll('upgrade_fixture', place.DATABASE_SCHEMA ?? ''))
  return place
}
