import { fraudScript } from '@ratatosk/contracts'
import type { Contracts } from '@ratatosk/protocol'
import {
  type BuildContext,
  buildTransaction,
  isWalletError,
  keysFromSigningKey,
  type TransactionDraft,
  toOutput,
} from '@ratatosk/transaction'
import { FraudError } from './errors.js'
import { findFraud, type ProvenFraud } from './find-fraud.js'
import { type RemovalByFraud, type RemovalStage, stagesOf } from './removal-stages.js'

/** With what a removal is evaluated before it is returned. */
export type RemovalContext = Pick<BuildContext, 'parameters' | 'slots' | 'slot'> &
  Required<Pick<BuildContext, 'evaluator'>>

/** The removal of a block for a fraud that its proof shows. */
export interface FraudRemoval {
  readonly policy: ProvenFraud['policy']
  readonly fraud: ProvenFraud['proof']['fraud']
  readonly stage: RemovalStage
  readonly draft: TransactionDraft
}

/**
 * Searches a block for a fraud. If there is one, drafts the transaction that mints the verdict with the
 * smallest proof, removes the block and slashes its operator. The wallet that sends it receives the
 * block's ada and the bond, less the penalty. All scripts and all rules of layer 1 have accepted the draft
 * with stand-in funds, so a proof that proves nothing is never sent.
 *
 * If this is too much for one transaction, the draft is of an earlier stage: send it, and call this again
 * with the outputs that it makes in `held`. A verdict that is held can be used by others first, who then
 * take the bond, so that a datum is preferred to it.
 *
 * {@link findFraud} documents what is not found.
 *
 * @returns undefined if no fraud is found
 * @throws {FraudError} (rejects) `FRAUD_PROOF_REFUSED`
 * @throws {ProtocolError} (rejects) `PROTOCOL_BROKEN_QUEUE`
 * @throws {WalletError} (rejects) `WALLET_INVALID_DRAFT` if the block is not in the list, or if the script
 *   that proves the fraud is not a verdict policy of the contracts
 * @throws {ScriptsNotRunError} (rejects) where scripts could not be run
 */
export async function removeFraudulentBlock(
  contracts: Contracts,
  wanted: RemovalByFraud,
  context: RemovalContext,
): Promise<FraudRemoval | undefined> {
  const { block, rules } = wanted
  const found = findFraud(block, rules)
  if (found === undefined) return undefined
  const { policy, proof, redeemer } = found
  let refused: FraudError | undefined
  for (const { stage, drafts } of stagesOf(contracts, wanted, fraudScript(policy, rules), redeemer)) {
    try {
      for (const draft of drafts) await requireAccepted(contracts, draft, context)
      return { policy, fraud: proof.fraud, stage, draft: drafts[0] }
    } catch (error) {
      if (!isTooLarge(error)) throw error
      refused ??= error
    }
  }
  throw refused
}

/** Rules of layer 1 that a proof breaks together with the removal, and perhaps not alone. */
const limits = new Set(['MaxTxSizeUTxO', 'ExUnitsTooBigUTxO'])

function isTooLarge(error: unknown): error is FraudError {
  const cause = error instanceof FraudError ? error.cause : undefined
  return isWalletError(cause) && cause.failures?.some(({ predicate }) => limits.has(predicate)) === true
}

/** More than any removal costs; a removal brings ada, so this is mostly collateral. */
const standInLovelace = 1_000_000_000n

/**
 * Evaluates a draft as a whole transaction. Its funds are an output that does not exist, of a public key: no
 * validator checks who pays.
 *
 * @throws {FraudError} (rejects) `FRAUD_PROOF_REFUSED`
 */
export async function requireAccepted(
  { networkId }: Contracts,
  draft: TransactionDraft,
  context: RemovalContext,
): Promise<void> {
  const { payment, address } = keysFromSigningKey('00'.repeat(32), { networkId })
  const value = { lovelace: standInLovelace, assets: new Map() }
  const output = toOutput({ address: address.bytes, value, datum: { kind: 'none' } })
  const reference = { transactionId: new Uint8Array(32), index: 0 }
  try {
    await buildTransaction(draft, {
      ...context,
      networkId,
      funds: [{ reference, output }],
      changeAddress: address.bytes,
      signers: [payment],
    })
  } catch (error) {
    if (!isWalletError(error) || error.code !== 'WALLET_TRANSACTION_REFUSED') throw error
    const message = `The removal by a fraud proof is refused: ${error.message}`
    throw new FraudError('FRAUD_PROOF_REFUSED', message, { cause: error })
  }
}
