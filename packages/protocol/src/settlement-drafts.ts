import type { Header } from '@ratatosk/block'
import { toHex } from '@ratatosk/cbor'
import { encodeBridgeDatum, encodeSettle, settlementAda } from '@ratatosk/contracts'
import type { Utxo } from '@ratatosk/ledger'
import { type DraftMint, type DraftOutput, invalidDraft } from '@ratatosk/ledger/builder'
import type { Contracts, ScriptPlace } from './contracts.js'
import type { RegistryElement } from './registry-drafts.js'

/** The root of a map without entries is 32 zero bytes. */
export const isEmptyRoot = (root: Uint8Array): boolean => root.every((byte) => byte === 0)

/** The parts that a merge adds if outputs leave by the block. */
interface Settling {
  readonly scripts: readonly Pick<ScriptPlace, 'script'>[]
  readonly referenceInputs: readonly Utxo[]
  readonly mint: readonly DraftMint[]
  readonly outputs: readonly DraftOutput[]
  readonly price: bigint
}

/** The settlement that owes what leaves by a block; undefined if nothing does. */
export function settle(
  { bridge }: Contracts,
  { withdrawalsRoot, endTime }: Header,
  headerHash: Uint8Array,
  registry: RegistryElement | undefined,
): Settling | undefined {
  if (isEmptyRoot(withdrawalsRoot)) return undefined
  if (bridge === undefined)
    throw invalidDraft('outputs leave by the block, and these contracts have no bridge')
  if (registry === undefined) throw invalidDraft('outputs leave by the block: the registry is needed')
  const { place } = bridge
  const assets = new Map([[toHex(headerHash), 1n]])
  const data = encodeBridgeDatum({ kind: 'settlement', root: withdrawalsRoot, time: endTime })
  return {
    scripts: [place],
    referenceInputs: [registry.utxo],
    mint: [{ policy: place.policy, assets, redeemer: encodeSettle() }],
    outputs: [
      {
        address: place.address,
        lovelaceAtLeast: BigInt(settlementAda),
        assets: new Map([[place.policy, assets]]),
        datum: { kind: 'inline', data },
      },
    ],
    price: BigInt(settlementAda),
  }
}
