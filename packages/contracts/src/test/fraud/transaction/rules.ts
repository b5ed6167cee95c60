import { judgeBlock, partsOf } from '@ratatosk/block'
import { fromHex } from '@ratatosk/cbor'
import {
  decodeOutputReference,
  decodeTransactionOutput,
  outputReferenceKey,
  type PredicateFailure,
} from '@ratatosk/ledger'
import type { ProvableRules } from '../../../fraud/rules.js'
import type { TestBlock } from '../blocks.js'
import { rules } from './transactions.js'

/** The witnesses and needed scripts that the transactions of these tests lack: other policies prove that. */
const ofWitnesses = new Set([
  'InvalidWitnessesUTXOW',
  'MissingVKeyWitnessesUTXOW',
  'MissingScriptWitnessesUTXOW',
  'MissingRedeemers',
  'ExtraRedeemers',
  'ExtraneousScriptWitnessesUTXOW',
  'NotAllowedSupplementalDatums',
  'PPViewHashesDontMatch',
  'ScriptIntegrityHashMismatch',
  'BadInputsUTxO',
  'NoCollateralInputs',
  'InsufficientCollateral',
  // Scripts are bytes of a size here, no programs.
  'MalformedReferenceScripts',
  'MalformedScriptWitnesses',
])

/** The predicates, besides those ignored, for which `judgeBlock` refuses the transactions of a block. */
export async function transactionRulesBrokenBy(
  block: TestBlock,
  { parameters, networkId, slots }: ProvableRules = rules,
  ignored: ReadonlySet<string> = ofWitnesses,
): Promise<string[]> {
  const before = new Map(
    Array.from(block.outputsBefore, ([key, output]) => [
      outputReferenceKey(decodeOutputReference(fromHex(key))),
      decodeTransactionOutput(output),
    ]),
  )
  const broken: string[] = []
  // One at a time, because judging ends at the first transaction that lacks a witness.
  for (const transaction of block.transactions) {
    try {
      await judgeBlock([transaction], block.header, withOutputsOf(block, before), {
        parameters,
        networkId,
        slots,
      })
    } catch (error) {
      const { failures } = error as { failures?: readonly PredicateFailure[] }
      broken.push(...(failures?.map(ruleOf) ?? ['malformed']))
    }
  }
  return broken.filter((predicate) => !ignored.has(predicate))
}

const ruleOf = ({ predicate, details }: PredicateFailure): string =>
  details.part === 'transaction' ? `${predicate}, of a whole transaction` : predicate

function withOutputsOf(block: TestBlock, before: Map<string, ReturnType<typeof decodeTransactionOutput>>) {
  const all = new Map(before)
  for (const transaction of block.transactions) {
    const { id, outputs } = partsOf(transaction)
    for (const [index, output] of outputs.entries())
      all.set(outputReferenceKey({ transactionId: id, index }), decodeTransactionOutput(output))
  }
  return all
}
