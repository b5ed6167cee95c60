import {
  type BlockDatum,
  type ContractsError,
  type QueueOutput,
  type RootDatum,
  surveyQueue,
} from '@ratatosk/contracts'
import { fromHex, toHex } from '@ratatosk/ledger'
import { ProtocolError } from '../errors.js'
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
  /** One in a sound queue. */
  readonly roots: readonly RootElement[]
  /** From the root along the links as far as they lead, the oldest first; empty where there is not exactly one root. */
  readonly blocks: readonly BlockElement[]
  /** Outputs with a token of the queue that are neither a root nor in the list: what a repair or reset takes away. */
  readonly strays: readonly Utxo[]
  /** What keeps the queue from being sound; absent where it is. Nothing is committed to or merged from a queue with a fault. */
  readonly fault?: ContractsError
}

interface Element extends QueueOutput {
  readonly utxo: Utxo
}

/**
 * Orders the outputs at the state queue's address, whether or not they are a sound queue. Outputs without a token of the
 * queue, which anybody can leave there, are passed over.
 *
 * @param utxos of `layer1.utxosAt(contracts.queue.addressText)`
 */
export function readStateQueue({ queue }: Contracts, utxos: readonly Utxo[]): StateQueue {
  const elements: Element[] = []
  for (const utxo of utxos) {
    const { value, datum } = utxo.output
    const [name] = value.assets.get(queue.policy)?.keys() ?? []
    if (name === undefined) continue
    elements.push({
      utxo,
      tokenName: fromHex(name),
      datum: datum.kind === 'inline' ? datum.data : undefined,
    })
  }
  const { roots, blocks, strays, fault } = surveyQueue(elements, fromHex(queue.unit.slice(56)))
  return {
    roots: roots.map(({ output, datum }) => ({ utxo: output.utxo, datum })),
    blocks: blocks.map(({ output, datum, headerHash }) => ({
      utxo: output.utxo,
      headerHash: toHex(headerHash),
      datum,
    })),
    strays: strays.map(({ utxo }) => utxo),
    ...(fault && { fault }),
  }
}

/** Every output of a queue that holds one of its tokens: what a reset burns. */
export function allElements({ roots, blocks, strays }: StateQueue): readonly Utxo[] {
  const elements: readonly (RootElement | BlockElement)[] = [...roots, ...blocks]
  return [...elements.map(({ utxo }) => utxo), ...strays]
}

/**
 * The root of a queue that is sound.
 *
 * @throws {ProtocolError} `PROTOCOL_BROKEN_QUEUE`
 */
export function soundRoot({ roots, fault }: StateQueue): RootElement {
  const [root] = roots
  if (fault || root === undefined)
    throw new ProtocolError(
      'PROTOCOL_BROKEN_QUEUE',
      `The state queue is broken: ${fault?.message ?? '0 roots'}`,
      {
        cause: fault,
      },
    )
  return root
}
