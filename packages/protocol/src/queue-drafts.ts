import { type Header, headerHash } from '@ratatosk/block'
import { equalBytes, toHex } from '@ratatosk/cbor'
import {
  type ConfirmedState,
  countingOperators,
  encodeBlockDatum,
  encodeBridgeDatum,
  encodeQueueAction,
  encodeRootDatum,
  encodeSettle,
  endOfTurn,
  isRenounced,
  operatorInTurn,
  type RegisteredOperator,
  settlementAda,
} from '@ratatosk/contracts'
import { type Assets, type SlotConfig, slotToTime, splitUnit, timeToSlot, type Utxo } from '@ratatosk/ledger'
import {
  type DraftMint,
  type DraftOutput,
  invalidDraft,
  type TransactionDraft,
} from '@ratatosk/ledger/builder'
import {
  administratorSigners,
  type Contracts,
  provideScripts,
  type ScriptPlace,
  takeOverAfterOf,
} from './contracts.js'
import { ProtocolError } from './errors.js'
import { type RegistryElement, setQueue, startRegistry } from './registry-drafts.js'
import { firstSlotFrom } from './slots.js'
import {
  continueElement,
  refundBlock,
  type StateQueue,
  soundRoot,
  spendElement,
  tokenOfBlock,
} from './state-queue.js'

/**
 * Initialises the state queue: mints its root, and has the registry note that the queue runs. The
 * administrator signs.
 *
 * @param registry its queue does not run; its operators count from the turn in progress on
 * @param state the confirmed state that the queue starts with: genesis, or the newest merged block
 * @param referenceScripts outputs that may hold the scripts
 * @throws {ProtocolError} `PROTOCOL_ADMINISTRATOR_RENOUNCED`
 * @throws {WalletError} `WALLET_INVALID_DRAFT` if the queue runs, or the registry names another queue
 */
export function initQueue(
  contracts: Contracts,
  registry: RegistryElement,
  state: ConfirmedState,
  referenceScripts: readonly Utxo[] = [],
): TransactionDraft {
  const { scripts, parameters } = contracts
  const { queue } = scripts
  if (registry.datum.running) throw invalidDraft('the queue runs already')
  const { input, output } = setQueue(contracts, registry, true)
  const root = startQueue(contracts, state)
  return {
    ...provideScripts([queue, scripts.registry], referenceScripts),
    inputs: [input],
    mint: [root.mint],
    outputs: [output, root.output],
    requiredSigners: administratorSigners(parameters),
  }
}

/**
 * Starts registry and queue in one transaction, where the administrator is renounced: the owner of the
 * deployment output chooses the state that the queue starts with. It happens once.
 *
 * @param deploymentOutput the unspent output that `contracts.parameters.deploymentOutput` names
 * @throws {WalletError} `WALLET_INVALID_DRAFT` if it is another output, or there is an administrator
 */
export function initRollup(
  contracts: Contracts,
  deploymentOutput: Utxo,
  state: ConfirmedState,
  referenceScripts: readonly Utxo[] = [],
): TransactionDraft {
  const { queue, registry } = contracts.scripts
  if (!isRenounced(contracts.parameters.administrator))
    throw invalidDraft('there is an administrator, who initialises the registry first and then the queue')
  const { input, mint, output } = startRegistry(contracts, deploymentOutput, true)
  const root = startQueue(contracts, state)
  return {
    ...provideScripts([queue, registry], referenceScripts),
    inputs: [input],
    mint: [mint, root.mint],
    outputs: [output, root.output],
  }
}

/** Mints the root of the queue. */
function startQueue(
  { scripts: { queue } }: Contracts,
  state: ConfirmedState,
): { readonly mint: DraftMint; readonly output: DraftOutput } {
  const { name } = splitUnit(queue.unit)
  const redeemer = encodeQueueAction({ kind: 'init' })
  return {
    mint: { policy: queue.policy, assets: new Map([[name, 1n]]), redeemer },
    output: {
      address: queue.address,
      assets: tokenOf(queue.policy, name),
      datum: { kind: 'inline', data: encodeRootDatum({ state }) },
    },
  }
}

/** The inputs of a commit besides the contracts. */
export interface Commit {
  readonly queue: StateQueue
  readonly registry: RegistryElement
  /** Its `endTime` is the start of the first slot in which the transaction is no longer valid. */
  readonly header: Header
  /** Hash of `header`, computed if absent. */
  readonly headerHash?: Uint8Array
  /** The current slot, within the operator's turn. */
  readonly slot: bigint
  readonly slots: SlotConfig
  /** Deposits that the block credits: their outputs become reference inputs, so all of them must be there. */
  readonly events?: readonly Utxo[]
  readonly referenceScripts?: readonly Utxo[]
}

/**
 * Appends a block. The header's operator signs.
 *
 * @throws {ProtocolError} `PROTOCOL_BROKEN_QUEUE`; `PROTOCOL_NOT_SCHEDULED` if it is not the operator's turn
 *   in `slot`, or the block ends
 *   after that turn
 * @throws {WalletError} `WALLET_INVALID_DRAFT` if the header's end time is not the start of a slot; the
 *   evaluation checks the
 *   validator's other conditions
 */
export function commitBlock(contracts: Contracts, commit: Commit): TransactionDraft {
  const { queue } = contracts.scripts
  const { header, registry, slot, slots, events = [], referenceScripts = [] } = commit
  const validUntil = timeToSlot(slots, header.endTime)
  if (slotToTime(slots, validUntil) !== header.endTime)
    throw invalidDraft("the block's end time is not the start of a slot")
  const root = soundRoot(commit.queue)
  const tail = commit.queue.blocks.at(-1)
  const last = tail ?? root
  refuseOutOfTurn(contracts, commit)
  const link = commit.headerHash ?? headerHash(header)
  const carried = tail ? encodeBlockDatum({ ...tail.datum, link }) : encodeRootDatum({ ...root.datum, link })
  const name = tokenOfBlock(link)
  const provided = provideScripts([queue], referenceScripts)
  return {
    ...provided,
    referenceInputs: [...provided.referenceInputs, registry.utxo, ...events],
    inputs: [spendElement(last.utxo)],
    mint: [
      {
        policy: queue.policy,
        assets: new Map([[name, 1n]]),
        redeemer: encodeQueueAction({ kind: 'commit' }),
      },
    ],
    outputs: [
      continueElement(last.utxo, carried),
      {
        address: last.utxo.output.address.bytes,
        assets: tokenOf(queue.policy, name),
        datum: { kind: 'inline', data: encodeBlockDatum({ header }) },
      },
    ],
    requiredSigners: [header.operatorVkey],
    validFrom: slot,
    validUntil,
  }
}

/** The inputs of a merge besides the contracts. */
export interface Merge {
  readonly queue: StateQueue
  /** Needed if outputs leave by the block. */
  readonly registry?: RegistryElement
  /** The current slot. */
  readonly slot: bigint
  readonly slots: SlotConfig
  readonly referenceScripts?: readonly Utxo[]
}

/**
 * Merges the oldest block into the confirmed state. Anyone may do so from the first slot in which it is
 * mature: `firstSlotFrom(slots, header.endTime + maturityWindow)`. If outputs leave by the block, the bridge
 * gets a settlement that owes them.
 *
 * @throws {ProtocolError} `PROTOCOL_BROKEN_QUEUE`; `PROTOCOL_NOT_MATURE` before that slot
 * @throws {WalletError} `WALLET_INVALID_DRAFT` when there is no block, or a bridge or the registry is missing
 */
export function mergeBlock(contracts: Contracts, merge: Merge): TransactionDraft {
  const {
    scripts: { queue },
    parameters,
  } = contracts
  const { slot, slots, referenceScripts = [] } = merge
  const root = soundRoot(merge.queue)
  const [oldest] = merge.queue.blocks
  if (oldest === undefined) throw invalidDraft('no block to merge')
  const { header, link } = oldest.datum
  const validFrom = firstSlotFrom(slots, header.endTime + parameters.maturityWindow)
  if (slot < validFrom)
    throw new ProtocolError(
      'PROTOCOL_NOT_MATURE',
      `Block ${toHex(oldest.headerHash)} is mature from slot ${validFrom}; the current slot is ${slot}`,
    )
  const merged: ConfirmedState = {
    headerHash: headerHash(header),
    prevHeaderHash: header.prevHeaderHash,
    utxoRoot: header.utxosRoot,
    startTime: header.startTime,
    endTime: header.endTime,
    blockVersion: header.blockVersion,
  }
  const name = tokenOfBlock(merged.headerHash)
  const burned = { policy: queue.policy, assets: new Map([[name, -1n]]) }
  const settling = settle(contracts, header, merged.headerHash, merge.registry)
  const provided = provideScripts([queue, ...(settling?.scripts ?? [])], referenceScripts)
  return {
    ...provided,
    referenceInputs: [...provided.referenceInputs, ...(settling?.referenceInputs ?? [])],
    inputs: [spendElement(root.utxo), spendElement(oldest.utxo)],
    mint: [{ ...burned, redeemer: encodeQueueAction({ kind: 'merge' }) }, ...(settling?.mint ?? [])],
    outputs: [
      continueElement(root.utxo, encodeRootDatum({ state: merged, ...(link && { link }) })),
      refundBlock(contracts, oldest, settling?.price),
      ...(settling?.outputs ?? []),
    ],
    validFrom,
  }
}

function refuseOutOfTurn({ parameters }: Contracts, { registry, header, slot, slots }: Commit): void {
  const { turnLength } = parameters
  const time = slotToTime(slots, slot)
  const isOperator = ({ vkey }: RegisteredOperator) => equalBytes(vkey, header.operatorVkey)
  const scheduled = operatorInTurn(registry.datum, time, turnLength)
  const isInTurn = scheduled !== undefined && isOperator(scheduled)
  const after = takeOverAfterOf(parameters)
  const mayTakeOver =
    countingOperators(registry.datum, time, turnLength).some(isOperator) &&
    header.startTime + after <= time &&
    header.endTime <= time + after
  if (!isInTurn && !mayTakeOver)
    throw new ProtocolError(
      'PROTOCOL_NOT_SCHEDULED',
      `Slot ${slot} is not in the turn of operator ${toHex(header.operatorVkey)}, who may not take over`,
    )
  const end = endOfTurn(time, turnLength)
  if (header.endTime > end)
    throw new ProtocolError(
      'PROTOCOL_NOT_SCHEDULED',
      `The block ends at ${header.endTime}, after its operator's turn, which ends at ${end}`,
    )
}

function tokenOf(policy: string, name: string): Assets {
  return new Map([[policy, new Map([[name, 1n]])]])
}

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
function settle(
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
