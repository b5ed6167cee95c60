import { equalBytes, toHex } from '@ratatosk/cbor'
import {
  encodeBlockDatum,
  encodeQueueAction,
  encodeRootDatum,
  type PlutusScript,
  type RemovalApproach,
} from '@ratatosk/contracts'
import { outputReferenceKey, splitUnit, type Utxo } from '@ratatosk/ledger'
import { type DraftMint, invalidDraft, type TransactionDraft } from '@ratatosk/ledger/builder'
import {
  administratorSigners,
  type Contracts,
  inOrder,
  provideScripts,
  verdictPoliciesOf,
} from './contracts.js'
import { ProtocolError } from './errors.js'
import { type RegistryElement, setQueue, slashOperator } from './registry-drafts.js'
import {
  type BlockElement,
  continueElement,
  type RootElement,
  refundBlock,
  type StateQueue,
  soundRoot,
  spendElement,
  tokenOfBlock,
} from './state-queue.js'

/** Maximum number of blocks that one transaction prunes. */
export const maxPrunedBlocks = 50

/**
 * The evidence that a block is invalid: a token that has its header hash as name, under one of
 * `contracts.parameters.verdictPolicies`. It is minted in the same transaction under `policy` with a
 * redeemer, or an unspent output holds it already.
 */
export type Verdict =
  | { readonly kind: 'minted'; readonly policy: PlutusScript; readonly redeemer: Uint8Array }
  | { readonly kind: 'held'; readonly utxo: Utxo }

/** The inputs of a removal by a verdict besides the contracts. */
export interface RemovalByVerdict {
  readonly queue: StateQueue
  readonly registry: RegistryElement
  /** 28 bytes. */
  readonly headerHash: Uint8Array
  readonly verdict: Verdict
  /** Outputs that may hold the scripts, that of the verdict's policy included. */
  readonly referenceScripts?: readonly Utxo[]
}

/**
 * Removes a block, wherever it is in the list, without a verdict and without slashing: its
 * predecessor links to the block behind it. That block and those behind it can no longer be merged; prune
 * them. The block's ada goes to the wallet. The administrator signs.
 *
 * @param headerHash 28 bytes
 * @throws {ProtocolError} `PROTOCOL_BROKEN_QUEUE`; `PROTOCOL_ADMINISTRATOR_RENOUNCED`
 * @throws {WalletError} `WALLET_INVALID_DRAFT` if the block is not in the list
 */
export function removeBlock(
  contracts: Contracts,
  queue: StateQueue,
  headerHash: Uint8Array,
  referenceScripts: readonly Utxo[] = [],
): TransactionDraft {
  const { predecessor, block } = locate(queue, headerHash)
  return {
    ...provideScripts([contracts.scripts.queue], referenceScripts),
    inputs: [spendElement(predecessor.utxo), spendElement(block.utxo)],
    mint: [removal(contracts, block, 'by-administrator')],
    outputs: [relink(predecessor, block)],
    requiredSigners: administratorSigners(contracts.parameters),
  }
}

/**
 * Removes an invalid block by a verdict and slashes its operator, in one transaction: the block's ada and the
 * operator's bond, less the penalty, go to the wallet. No signature is needed. If the operator has left the
 * registry, only the ada of the block is left.
 *
 * @throws {ProtocolError} `PROTOCOL_BROKEN_QUEUE`
 * @throws {WalletError} `WALLET_INVALID_DRAFT` if the block is not in the list, or the verdict's policy is
 *   none of the contracts'
 */
export function removeInvalidBlock(contracts: Contracts, wanted: RemovalByVerdict): TransactionDraft {
  const { scripts } = contracts
  const { queue, registry, headerHash, verdict, referenceScripts = [] } = wanted
  const { predecessor, block } = locate(queue, headerHash)
  const { operatorVkey } = block.datum.header
  const entry = registry.datum.operators.find(({ vkey }) => equalBytes(vkey, operatorVkey))
  const slashing = entry && slashOperator(contracts, registry, entry)
  const approach =
    entry === undefined ? 'already-slashed' : entry.activeUntil === undefined ? 'active' : 'retired'
  const shown = showVerdict(contracts, headerHash, verdict)
  const provided = provideScripts(
    [scripts.queue, ...(slashing ? [scripts.registry] : []), ...shown.scripts],
    referenceScripts,
  )
  return {
    ...provided,
    referenceInputs: [
      ...provided.referenceInputs,
      ...shown.referenceInputs,
      ...(slashing ? [] : [registry.utxo]),
    ],
    inputs: [spendElement(predecessor.utxo), spendElement(block.utxo), ...(slashing ? [slashing.input] : [])],
    mint: [removal(contracts, block, approach), ...shown.mint],
    outputs: [relink(predecessor, block), ...(slashing ? [slashing.output] : [])],
  }
}

/** Whether an output holds a verdict against a block. */
export function holdsVerdict(
  parameters: Contracts['parameters'],
  { output }: Pick<Utxo, 'output'>,
  headerHash: Uint8Array,
): boolean {
  const { assets } = output.value
  const name = toHex(headerHash)
  return verdictPoliciesOf(parameters).some(({ hash }) => assets.get(toHex(hash))?.has(name))
}

function showVerdict({ parameters }: Contracts, headerHash: Uint8Array, verdict: Verdict) {
  const name = toHex(headerHash)
  if (verdict.kind === 'held') {
    if (!holdsVerdict(parameters, verdict.utxo, headerHash))
      throw invalidDraft(`the output holds no verdict against block ${name}`)
    return { scripts: [], referenceInputs: [verdict.utxo], mint: [] }
  }
  const policy = toHex(verdict.policy.hash)
  if (!verdictPoliciesOf(parameters).some(({ hash }) => equalBytes(hash, verdict.policy.hash)))
    throw invalidDraft(`${policy} is not one of the verdict policies`)
  const mint: DraftMint = { policy, assets: new Map([[name, 1n]]), redeemer: verdict.redeemer }
  return { scripts: [{ script: verdict.policy }], referenceInputs: [], mint: [mint] }
}

/** Blocks that can be pruned: the first that does not follow the element before it, and those behind it. */
export interface StaleBlocks {
  readonly element: RootElement | BlockElement
  /** In the order of the list; none of them follows `element`. */
  readonly blocks: readonly BlockElement[]
}

/** The blocks of a queue that can be pruned; undefined if every block follows the element before it. */
export function staleBlocks(queue: StateQueue): StaleBlocks | undefined {
  let element: RootElement | BlockElement = soundRoot(queue)
  for (const [place, block] of queue.blocks.entries()) {
    const hash = hashOf(element)
    const follows = ({ datum }: BlockElement) => equalBytes(datum.header.prevHeaderHash, hash)
    if (!follows(block)) {
      const rest = queue.blocks.slice(place)
      const end = rest.findIndex(follows)
      return { element, blocks: end < 0 ? rest : rest.slice(0, end) }
    }
    element = block
  }
  return undefined
}

/**
 * The blocks of a queue up to the first that does not follow the element before it. Only they can ever be
 * merged.
 */
export function soundBlocks(queue: StateQueue): readonly BlockElement[] {
  const [first] = staleBlocks(queue)?.blocks ?? []
  return first === undefined ? queue.blocks : queue.blocks.slice(0, queue.blocks.indexOf(first))
}

/**
 * Prunes the blocks that {@link staleBlocks} finds, at most {@link maxPrunedBlocks} of them. The ada of each
 * returns to its operator. No signature is needed.
 *
 * @throws {ProtocolError} `PROTOCOL_BROKEN_QUEUE`
 * @throws {WalletError} `WALLET_INVALID_DRAFT` if no block is stale
 */
export function pruneBlocks(
  contracts: Contracts,
  queue: StateQueue,
  referenceScripts: readonly Utxo[] = [],
): TransactionDraft {
  const stale = staleBlocks(queue)
  if (stale === undefined) throw invalidDraft('no block is stale')
  const { element } = stale
  const blocks = stale.blocks.slice(0, maxPrunedBlocks)
  const inList = [element, ...blocks].map(({ utxo }) => utxo)
  const spent = inOrder(inList)
  const keys = spent.map(({ reference }) => outputReferenceKey(reference))
  const positions = inList.map(({ reference }) => keys.indexOf(outputReferenceKey(reference)))
  return {
    ...provideScripts([contracts.scripts.queue], referenceScripts),
    // Further inputs only move an element further back, so its place among the elements is a lower bound.
    inputs: spent.map((utxo, place) => spendElement(utxo, place)),
    mint: [
      {
        policy: contracts.scripts.queue.policy,
        assets: new Map(blocks.map(({ headerHash }) => [tokenOfBlock(headerHash), -1n])),
        redeemer: encodeQueueAction({ kind: 'prune', positions }),
      },
    ],
    outputs: [relink(element, blocks.at(-1)), ...blocks.map((block) => refundBlock(contracts, block))],
  }
}

const hashOf = (element: RootElement | BlockElement): Uint8Array =>
  'headerHash' in element ? element.headerHash : element.datum.state.headerHash

/** A block and the element before it. */
function locate(queue: StateQueue, headerHash: Uint8Array) {
  const root = soundRoot(queue)
  const place = queue.blocks.findIndex((block) => equalBytes(block.headerHash, headerHash))
  const block = queue.blocks[place]
  if (block === undefined) throw invalidDraft(`block ${toHex(headerHash)} is not in the state queue`)
  return { predecessor: queue.blocks[place - 1] ?? root, block }
}

const removal = (
  { scripts: { queue } }: Contracts,
  { headerHash }: BlockElement,
  approach: RemovalApproach,
): DraftMint => ({
  policy: queue.policy,
  assets: new Map([[tokenOfBlock(headerHash), -1n]]),
  redeemer: encodeQueueAction({ kind: 'remove', headerHash, approach }),
})

/** Pays an element back with the link of a block that goes. */
function relink(element: RootElement | BlockElement, goes: BlockElement | undefined) {
  const link = goes?.datum.link
  const linked = link && { link }
  const datum =
    'headerHash' in element
      ? encodeBlockDatum({ header: element.datum.header, ...linked })
      : encodeRootDatum({ state: element.datum.state, ...linked })
  return continueElement(element.utxo, datum)
}

/** Maximum number of elements that one transaction burns, the dust that it sweeps included. */
export const maxBurnedElements = 100

/**
 * The outputs at the queue's address that hold only ada, which anyone can leave there. The script
 * releases them only to {@link burnElements}. Leaves out those that would make a transaction costly: with
 * other tokens, a script or the hash of a datum.
 *
 * @param utxos of `layer1.utxosAt(contracts.scripts.queue.addressText)`
 */
export const dustOf = ({ scripts: { queue } }: Contracts, utxos: readonly Utxo[]): readonly Utxo[] =>
  utxos.filter(
    ({ output: { address, value, datum, referenceScript } }) =>
      equalBytes(address.bytes, queue.address) &&
      value.assets.size === 0 &&
      datum.kind !== 'hash' &&
      referenceScript === undefined,
  )

/**
 * Burns elements of the queue and returns their ada to the wallet: to repair and to reset, all of them. When
 * the root is burned, the registry notes that the queue no longer runs. The administrator signs.
 *
 * @param registry needed if the root is among the elements
 * @param dust of {@link dustOf}: spent as well, and counted like elements
 * @throws {ProtocolError} `PROTOCOL_TOO_MANY_ELEMENTS` beyond {@link maxBurnedElements};
 *   `PROTOCOL_ADMINISTRATOR_RENOUNCED`
 * @throws {WalletError} `WALLET_INVALID_DRAFT` when there is nothing to burn, or the registry is missing
 */
export function burnElements(
  contracts: Contracts,
  elements: readonly Utxo[],
  registry: RegistryElement | undefined,
  referenceScripts: readonly Utxo[] = [],
  dust: readonly Utxo[] = [],
): TransactionDraft {
  const { scripts, parameters } = contracts
  const { queue } = scripts
  const count = elements.length + dust.length
  if (count > maxBurnedElements)
    throw new ProtocolError(
      'PROTOCOL_TOO_MANY_ELEMENTS',
      `${count} elements and dust outputs to spend; one transaction spends at most ${maxBurnedElements}`,
    )
  const burned = new Map<string, bigint>()
  for (const { output } of elements) {
    for (const [name, quantity] of output.value.assets.get(queue.policy) ?? []) {
      burned.set(name, (burned.get(name) ?? 0n) - quantity)
    }
  }
  if (burned.size === 0) throw invalidDraft('no element to burn')
  const burnsRoot = burned.has(splitUnit(queue.unit).name)
  if (burnsRoot && registry === undefined) throw invalidDraft('the registry is needed to burn the root')
  const unbinding = burnsRoot && registry ? setQueue(contracts, registry, false) : undefined
  // Further inputs only move an element further back, so its place among these is a lower bound.
  const inputs = inOrder([...elements, ...dust]).map((utxo, place) => spendElement(utxo, place))
  return {
    ...provideScripts(unbinding ? [queue, scripts.registry] : [queue], referenceScripts),
    inputs: unbinding ? [...inputs, unbinding.input] : inputs,
    mint: [{ policy: queue.policy, assets: burned, redeemer: encodeQueueAction({ kind: 'deinit' }) }],
    outputs: unbinding ? [unbinding.output] : [],
    requiredSigners: administratorSigners(parameters),
  }
}
