import { chunkKey, decodeChunkRecord, maxChunks, partsOf } from '@ratatosk/block'
import { concatBytes, toHex } from '@ratatosk/cbor'
import { decodeTransaction, validatePhaseOne, validateProfile } from '@ratatosk/ledger'
import type { Claim } from '../../../../fraud/dist/test/rules.js'
import { blockOf, hexOf, type TestBlock } from './blocks.js'
import { ledgerLies } from './ledger/lies.js'
import { transactionLies } from './transaction/lies.js'
import { transactionRulesBrokenBy } from './transaction/rules.js'
import { rules } from './transaction/transactions.js'
import { witnessFailures } from './witness/judge.js'
import { witnessLies } from './witness/lies.js'

/** A lie of the tests: the claim that proves it, and the rules by which verifiers refuse the block. */
export interface ToldLie {
  readonly what: string
  readonly claim: Claim
  readonly rules: readonly string[]
}

/** Every lie that the tests of the policies tell. */
export async function toldLies(): Promise<ToldLie[]> {
  const told: ToldLie[] = []
  for (const { what, block, prove } of ledgerLies)
    told.push({ what, claim: prove(block).fraud, rules: await ledgerRulesBrokenBy(block) })
  for (const { what, block, prove, isDecoded } of transactionLies) {
    const broken = isDecoded ? await transactionRulesBrokenBy(block, rules, noRules) : ['transactions decode']
    told.push({ what, claim: prove(block).fraud, rules: broken })
  }
  for (const { what, block, prove } of witnessLies)
    told.push({ what, claim: prove(block).fraud, rules: witnessFailures(block) })
  return told
}

const noRules: ReadonlySet<string> = new Set()

async function ledgerRulesBrokenBy(block: TestBlock): Promise<string[]> {
  const honest = blockOf(block.transactions, block.outputsBefore)
  const differs = (root: 'transactionsRoot' | 'utxosRoot') =>
    Buffer.compare(honest.header[root], block.header[root]) !== 0
  return [
    ...(differs('transactionsRoot') ? ['transactions_root follows from the transactions'] : []),
    ...(differs('utxosRoot') ? ['utxos_root follows from the transactions'] : []),
    ...(countsTooMany(block) ? ['a block has at most 1,024 chunks'] : []),
    ...(readsWhatIsNotThere(block) ? ['BadInputsUTxO'] : []),
    ...(await transactionRulesBrokenBy(block, rules, new Set(['malformed']))),
    ...block.chunks.flatMap(framesIn).flatMap(encodingRulesBrokenBy),
  ]
}

function countsTooMany({ entries }: TestBlock): boolean {
  const record = entries.get(toHex(chunkKey(0)))
  return record !== undefined && decodeChunkRecord(record).chunks > maxChunks
}

function readsWhatIsNotThere({ transactions, outputsBefore }: TestBlock): boolean {
  const unspent = new Set(outputsBefore.keys())
  return transactions.some((cbor) => {
    const { id, inputs, referenceInputs, outputs } = partsOf(cbor)
    const lacks = [...inputs, ...referenceInputs].some((reference) => !unspent.has(hexOf(reference)))
    for (const reference of inputs) unspent.delete(hexOf(reference))
    for (const index of outputs.keys()) unspent.add(hexOf({ transactionId: id, index }))
    return lacks
  })
}

/** The frames of the transactions in a chunk: body, witness set, and what is behind it. */
function framesIn(chunk: Uint8Array): Uint8Array[][] {
  const view = new DataView(chunk.buffer, chunk.byteOffset, chunk.length)
  const frames: Uint8Array[] = []
  for (let at = 0; at + 4 <= chunk.length; ) {
    const end = at + 4 + view.getUint32(at)
    frames.push(chunk.subarray(at + 4, end))
    at = end
  }
  return Array.from({ length: Math.floor(frames.length / 3) }, (_, i) => frames.slice(3 * i, 3 * i + 3))
}

/** The rules of encodings and auxiliary data that a transaction breaks. */
function encodingRulesBrokenBy(frames: readonly Uint8Array[]): string[] {
  // A definite array of four items, or one of indefinite length.
  for (const head of [0x84, 0x9f]) {
    try {
      const transaction = decodeTransaction(concatBytes(Uint8Array.of(head), ...frames))
      const context = { parameters: rules.parameters, networkId: rules.networkId, slot: 0n }
      return [...validateProfile(transaction), ...validatePhaseOne(transaction, new Map(), context)]
        .map(({ predicate }) => predicate)
        .filter((predicate) => /Metadata|Transaction.*NotSupported/.test(predicate))
    } catch {}
  }
  return ['transactions decode']
}
