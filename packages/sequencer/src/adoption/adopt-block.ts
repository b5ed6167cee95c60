import { decodeHeader, type Header, isInvalidBlock, judgeBlock } from '@ratatosk/block'
import { equalBytes, toHex } from '@ratatosk/cbor'
import { isScriptsNotRunError } from '@ratatosk/ledger'
import { isEvaluatorError } from '@ratatosk/ledger/plutus'
import { alignRoots, blockLine, freeRoots, realignRoots } from '../blocks/ledger-state.js'
import type { SequencerContext } from '../context.js'
import { foreignQueue, invalidBlock, type SequencerError, unjudgedBlock, unservedBlock } from '../errors.js'
import type { AdoptionMeans } from '../types.js'
import { type FetchedBody, type ForeignHeader, fetchBody } from './fetch.js'
import { examine, examineAll } from './outputs-before.js'

/**
 * Adopts the block of another operator that follows the store's newest one: fetches its body, judges it, and
 * appends it to the store. Until then nothing changes but the output trie, which follows the store again
 * after a crash.
 *
 * @returns why it cannot be adopted: it breaks a rule, its scripts cannot be run now, or no peer has its body
 *   now
 * @throws {SequencerError} `SEQUENCER_FOREIGN_QUEUE` if the queue began with another genesis
 */
export async function adoptBlock(
  context: SequencerContext,
  means: AdoptionMeans,
  block: ForeignHeader,
): Promise<SequencerError | undefined> {
  const { store, roots, log } = context
  const hash = toHex(block.headerHash)
  const header = decodeHeader(block.header)
  const newest = await store.blocks.newest()
  await alignRoots(context, newest)
  if (!equalBytes(header.prevUtxosRoot, await roots.root())) {
    if (newest === undefined)
      throw foreignQueue('The state queue began with other genesis outputs than this ledger')
    return invalidBlock(hash, 'it does not begin with the state after the block before it.')
  }
  const fetched = await fetchBody(context, means, block)
  if (fetched === undefined) return unservedBlock(hash)
  const fault = await judge(means, header, fetched, hash)
  if (fault !== undefined) return fault

  const { transactions } = fetched.body
  const examined = await examineAll(transactions)
  try {
    const { utxosRoot } = await roots.apply(transactions)
    context.step('roots-applied')
    if (!equalBytes(utxosRoot, header.utxosRoot)) {
      await realignRoots(context)
      return invalidBlock(hash, 'its transactions do not lead to its utxos_root.')
    }
    context.step('block-judged')
    const adopted = await store.blocks.adopt(foreignBlock(block, header, examined), examine, context.lease)
    context.step('block-adopted')
    freeRoots(context)
    const { known, dropped } = adopted
    const isOwn = adopted.block.commitTransaction !== undefined
    const [fields, line] = blockLine(adopted.block, `of ${isOwn ? 'this' : 'another'} operator adopted`)
    const operator = toHex(header.operatorVkey)
    log.info({ ...fields, known, dropped, operator }, `${line}: ${known} of its transactions were known`)
    if (dropped > 0)
      log.warn({ headerHash: hash, dropped }, `${dropped} transactions conflict with it and are dead letters`)
  } catch (error) {
    await realignRoots(context)
    throw error
  } finally {
    // What was prepared for the next block may no longer be the oldest.
    context.cache.prepared([])
  }
  return undefined
}

/**
 * Why a block is not known to be valid: it breaks a rule, or its scripts could not be run, which is no
 * verdict.
 */
async function judge(
  { rules }: AdoptionMeans,
  header: Header,
  { body, before, error }: FetchedBody,
  hash: string,
): Promise<SequencerError | undefined> {
  if (error !== undefined) return invalidBlock(hash, error.message)
  try {
    await judgeBlock(body.transactions, header, before.utxos, rules)
    return undefined
  } catch (failure) {
    if (isInvalidBlock(failure)) return invalidBlock(hash, failure.message)
    if (isScriptsNotRunError(failure) || isEvaluatorError(failure))
      return unjudgedBlock(hash, failure.message)
    throw failure
  }
}

const foreignBlock = (
  { headerHash, header: encoded }: ForeignHeader,
  { prevHeaderHash, utxosRoot, startTime, endTime }: Header,
  transactions: Awaited<ReturnType<typeof examineAll>>,
) => ({
  headerHash,
  header: encoded,
  previousHeaderHash: prevHeaderHash,
  utxosRoot,
  startTime,
  endTime,
  transactions,
})
