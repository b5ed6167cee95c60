import { type ChainView, evaluateTransaction } from '@ratatosk/chain-apis'
import {
  decodeTransactionOutput,
  outputReferenceKey,
  type ProtocolParameters,
  type SlotConfig,
  type Transaction,
  type TransactionOutput,
  type UtxoView,
} from '@ratatosk/ledger'
import type { Evaluator } from '@ratatosk/ledger/plutus'
import type { Turns } from '@ratatosk/ports'
import type { Store } from '@ratatosk/store'
import type { LedgerIndex } from '../ledger-index/index.js'
import { viewBlocks } from './blocks.js'
import { watchChanges } from './changes.js'
import { codeOf } from './error-code.js'
import { type Finality, genesisHash } from './finality.js'
import { readReference } from './index-query.js'
import { indexedReads, type ReadIndex } from './indexed.js'
import { createSubmissions, readTransaction, type SubmissionsOptions } from './submissions.js'

/** Options of {@link openLayer2Chain}. */
export interface Layer2ChainOptions extends SubmissionsOptions {
  readonly store: SubmissionsOptions['store'] &
    Pick<Store, 'blocks' | 'chain'> & { readonly ledger: Pick<Store['ledger'], 'outputs'> }
  /** Follows acceptance in the store. */
  readonly index: ReadIndex & Pick<LedgerIndex, 'wake'>
  /** Runs the scripts of transactions that are evaluated. */
  readonly evaluator: Pick<Evaluator, 'evaluate'>
  /** When they run: clients pay no fee for evaluations. */
  readonly turns: Turns
  readonly parameters: ProtocolParameters
  readonly slots: SlotConfig
  readonly networkMagic: number
  /** 0 for every test network, 1 for mainnet. */
  readonly networkId: number
  /** Maximum total size of the transactions in a block, in bytes. */
  readonly maxBlockSize: number
  /** Maximum number of blocks that can be undone: the blocks of a maturity window. */
  readonly securityParameter: number
  /** Current time in POSIX milliseconds. */
  readonly now: () => number
}

/** Layer 2 as the APIs of layer 1 read it. */
export interface Layer2Chain {
  /** The part of the ledger that a finality shows. */
  view(finality: Finality): ChainView
  /** Answers `undecided` to every submission that waits for its result, and to later ones. */
  close(): void
}

/**
 * Opens layer 2 for the APIs of layer 1.
 *
 * Layer 2 makes a block only when there is work. The newest block of a view is therefore always an open one
 * in the current slot. It holds the accepted transactions that are in no block yet; in a view of committed
 * or merged blocks it is empty.
 */
export function openLayer2Chain(options: Layer2ChainOptions): Layer2Chain {
  const submissions = createSubmissions(options)
  return {
    view: (finality) => openView(finality, options, submissions.submit),
    close: () => submissions.close(),
  }
}

function openView(
  finality: Finality,
  options: Layer2ChainOptions,
  submit: ReturnType<typeof createSubmissions>['submit'],
): ChainView {
  const { store, index, evaluator, turns, parameters, slots } = options
  const { blocks, chain } = store
  const { head, placesOf, ...reads } = viewBlocks(finality, { blocks, chain, slots, now: options.now })

  /** Each script may use the units of a whole transaction. */
  function costOf({ witnesses }: Transaction): bigint {
    return BigInt(witnesses.redeemers.length) * parameters.maxTransactionExecutionUnits.steps
  }

  async function pendingOutputs(keys: readonly string[]): Promise<UtxoView> {
    const references = keys.flatMap((key) => readReference(key) ?? [])
    const outputs = await store.ledger.outputs(references)
    const found = new Map<string, TransactionOutput>()
    for (const [position, reference] of references.entries()) {
      const output = outputs[position]
      if (output !== undefined) found.set(outputReferenceKey(reference), decodeTransactionOutput(output))
    }
    return found
  }

  return {
    parameters,
    slots,
    networkMagic: options.networkMagic,
    networkId: options.networkId,
    genesisHash,
    maxBlockSize: options.maxBlockSize,
    securityParameter: options.securityParameter,
    ...reads,
    ...indexedReads(finality, index, chain, { head, placesOf }),
    pendingOutputs,
    // No transaction of layer 2 may register a stake credential.
    stakeDeposit: () => undefined,
    async submit(cbor) {
      const result = await submit(cbor)
      if (result.kind === 'accepted') index.wake()
      return result
    },
    async evaluate(cbor, additional, signal) {
      const transaction = readTransaction(Uint8Array.from(cbor))
      if (typeof transaction === 'string') return { kind: 'malformed', message: transaction }
      const { inputs, referenceInputs, collateralInputs } = transaction.body
      const keys = [...inputs, ...referenceInputs, ...collateralInputs].map(outputReferenceKey)
      const utxos = await pendingOutputs([...new Set([...keys, ...additional.keys()])])
      const inTurn: Layer2ChainOptions['evaluator'] = {
        evaluate: (...request) =>
          turns.take(costOf(transaction), signal, () => evaluator.evaluate(...request)),
      }
      try {
        return await evaluateTransaction(
          { evaluator: inTurn, parameters, slots, utxos },
          transaction,
          additional,
        )
      } catch (error) {
        if (signal?.aborted || codeOf(error) === 'WORKERS_EVALUATIONS_BUSY') return { kind: 'busy' }
        throw error
      }
    },
    subscribe: watchChanges({ head, blocks, chain }),
  }
}
