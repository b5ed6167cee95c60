import { equalBytes, toHex } from '@ratatosk/cbor'
import type { AuditedChain } from './chain.js'
import { blockAt, difference } from './findings.js'
import { blake2b224 } from './hash.js'
import type { Sources } from './sources.js'
import { headerOf, type RootedQueue } from './trace.js'
import type { Finding, NamedHeader } from './types.js'

/**
 * Compares the chain of an archive with the state queue of layer 1. `genesisRoot` is that of the unspent
 * outputs before the first block; `extra` is an archive's block after the newest of layer 1.
 */
export async function compareQueue(
  queue: RootedQueue,
  chain: AuditedChain,
  sources: Pick<Sources, 'header'>,
  genesisRoot: Uint8Array,
  extra: NamedHeader | undefined,
): Promise<readonly Finding[]> {
  const { confirmed, blocks } = queue
  const merged = chain.heightOf(confirmed.headerHash)
  if (merged === undefined)
    return [
      {
        kind: 'block-missing',
        message: 'The archive does not have the block of the confirmed state',
        expected: toHex(confirmed.headerHash),
        found: `${chain.height} other blocks`,
      },
    ]
  const findings: Finding[] = []
  const confirmedHeader = merged === 0 ? undefined : await headerOf(confirmed.headerHash, sources)
  const root = merged === 0 ? genesisRoot : confirmedHeader?.utxosRoot
  const at = { block: blockAt(merged, confirmed.headerHash) }
  const otherRoot = root && difference(root, confirmed.utxosRoot)
  if (otherRoot !== undefined)
    findings.push({
      kind: 'confirmed-state',
      message: 'The confirmed state has another root of the unspent outputs than its block',
      ...otherRoot,
      ...at,
    })
  if (confirmedHeader !== undefined && confirmedHeader.endTime !== confirmed.endTime)
    findings.push({
      kind: 'confirmed-state',
      message: 'The confirmed state ends at another time than its block',
      expected: String(confirmedHeader.endTime),
      found: String(confirmed.endTime),
      ...at,
    })

  let equal = 0
  for (const [place, { headerHash, header: cbor }] of blocks.entries()) {
    const height = merged + place + 1
    const block = blockAt(height, headerHash)
    const otherHash = difference(headerHash, blake2b224(cbor))
    if (otherHash !== undefined)
      findings.push({
        kind: 'header',
        message: 'The header on layer 1 does not have the hash that names it',
        ...otherHash,
        block,
      })
    const derived = chain.hashAt(height)
    if (derived !== undefined && equalBytes(derived, headerHash)) equal++
    else
      findings.push({
        kind: 'block-missing',
        message: 'Layer 1 has a block that the archive does not have at its height',
        expected: block.headerHash,
        found: derived === undefined ? 'none' : toHex(derived),
        block,
      })
  }
  const surplus = (height: number, headerHash: Uint8Array): void => {
    const block = blockAt(height, headerHash)
    const message = 'The archive has a block that layer 1 does not have'
    findings.push({ kind: 'block-extra', message, expected: 'none', found: block.headerHash, block })
  }
  for (let height = merged + equal + 1; height <= chain.height; height++) {
    const hash = chain.hashAt(height)
    if (hash !== undefined) surplus(height, hash)
  }
  if (extra !== undefined) surplus(chain.height + 1, extra.headerHash)
  return findings
}
