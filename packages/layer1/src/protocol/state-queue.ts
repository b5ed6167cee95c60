import {
  type BlockDatum,
  decodeBlockDatum,
  decodeRootDatum,
  headerHashOfToken,
  type RootDatum,
} from '@ratatosk/contracts'
import { fromHex, toHex } from '@ratatosk/ledger'
import type { Utxo } from '../types.js'
import type { Contracts } from './contracts.js'

export interface RootElement {
  readonly utxo: Utxo
  readonly datum: RootDatum
}

export interface BlockElement {
  readonly utxo: Utxo
  /** 56 hex digits, from the token's name. */
  readonly headerHash: string
  readonly datum: BlockDatum
}

/** The state queue as it stands on layer 1. */
export interface StateQueue {
  /** One in a healthy queue. */
  readonly roots: readonly RootElement[]
  /** From the root along the links, the oldest first; empty where there is not exactly one root. */
  readonly blocks: readonly BlockElement[]
  /** Outputs with a token of the queue that are neither a root nor in the list: what a repair or reset takes away. */
  readonly strays: readonly Utxo[]
}

/**
 * Orders the outputs at the state queue's address. Outputs without a token of the queue, which anybody can leave there, are
 * passed over.
 *
 * @param utxos of `layer1.utxosAt(contracts.queue.addressText)`
 */
export function readStateQueue({ queue }: Contracts, utxos: readonly Utxo[]): StateQueue {
  const rootName = queue.unit.slice(56)
  const roots: RootElement[] = []
  const found = new Map<string, BlockElement>()
  const strays: Utxo[] = []
  for (const utxo of utxos) {
    const names = utxo.output.value.assets.get(queue.policy)
    if (names === undefined) continue
    const [name = ''] = names.keys()
    const hash = headerHashOfToken(fromHex(name))
    if (name === rootName) {
      const datum = readDatum(utxo, decodeRootDatum)
      if (datum) roots.push({ utxo, datum })
      else strays.push(utxo)
    } else {
      const datum = hash && readDatum(utxo, decodeBlockDatum)
      if (hash && datum && !found.has(toHex(hash)))
        found.set(toHex(hash), { utxo, headerHash: toHex(hash), datum })
      else strays.push(utxo)
    }
  }

  const blocks: BlockElement[] = []
  const [root] = roots
  let link = roots.length === 1 ? root?.datum.link : undefined
  while (link) {
    const block = found.get(toHex(link))
    if (block === undefined) break
    found.delete(block.headerHash)
    blocks.push(block)
    link = block.datum.link
  }
  return { roots, blocks, strays: [...strays, ...Array.from(found.values(), ({ utxo }) => utxo)] }
}

function readDatum<T>({ output }: Utxo, decode: (data: Uint8Array) => T): T | undefined {
  if (output.datum.kind !== 'inline') return undefined
  try {
    return decode(output.datum.data)
  } catch (error) {
    if (error instanceof Error && error.name === 'MalformedData') return undefined
    throw error
  }
}
