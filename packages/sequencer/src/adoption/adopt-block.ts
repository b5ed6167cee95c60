import { decodeHeader, type Header, isInvalidBlock, verifyHeader } from '@ratatosk/block'
import { equalBytes, toHex } from '@ratatosk/cbor'
import type { ForeignBlock } from '@ratatosk/store'
import { alignRoots, blockLine, freeRoots, realignRoots } from '../blocks/ledger-state.js'
import type { SequencerContext } from '../context.js'
import { foreignQueue, invalidBlock, type SequencerError, unservedBlock } from '../errors.js'
import type { AdoptionMeans } from '../types.js'
import { checkBody } from './check-body.js'
import { type ForeignHeader, fetchBody } from './fetch.js'
import { examine } from './outputs-before.js'

/**
 * Fetches, judges and appends the next block of another operator. Only the output trie changes before.
 * Returns why it cannot be adopted now, if it cannot.
 * @throws {SequencerError} `SEQUENCER_FOREIGN_QUEUE` if the queue began with another genesis
 */
export async function adoptBlock(
  context: SequencerContext,
  means: AdoptionMeans,
  block: ForeignHeader,
): Promise<SequencerError | undefined> {
  const { store, roots } = context
  const hash = toHex(block.headerHash)
  const header = decodeHeader(block.header)
  const newest = await store.blocks.newest()
  await alignRoots(context, newest)
  if (!equalBytes(header.prevUtxosRoot, await roots.root())) {
    if (newest === undefined)
      throw foreignQueue('The state queue began with other genesis outputs than this ledger')
    return invalidBlock(hash, 'it does not begin with the state after the block before it.')
  }
  try {
    verifyHeader(header)
  } catch (error) {
    if (isInvalidBlock(error)) return invalidBlock(hash, error.message)
    throw error
  }
  try {
    const checked = await fetchBody(context, means, block.headerHash, (body) =>
      checkBody(context, means, block, body),
    )
    if (checked === undefined) return unservedBlock(hash)
    if (checked.fault !== undefined) {
      await realignRoots(context)
      return checked.fault
    }
    context.step('block-judged')
    await append(context, block, header, checked)
    return undefined
  } catch (error) {
    await realignRoots(context)
    throw error
  } finally {
    // The content prepared for the next block may no longer be the oldest.
    context.cache.ahead = []
  }
}

/** The results of checking the body of a valid block. */
type Checked = Pick<ForeignBlock, 'transactions' | 'held'>

async function append(
  context: SequencerContext,
  block: ForeignHeader,
  header: Header,
  checked: Checked,
): Promise<void> {
  const { store, log } = context
  const adopted = await store.blocks.adopt(foreignBlock(block, header, checked), examine, context.lease)
  context.step('block-adopted')
  freeRoots(context)
  const { known, dropped } = adopted
  const isOwn = adopted.block.commitTransaction !== undefined
  const [fields, line] = blockLine(adopted.block, `of ${isOwn ? 'this' : 'another'} operator adopted`)
  const operator = toHex(header.operatorVkey)
  log.info({ ...fields, known, dropped, operator }, `${line}: ${known} of its transactions were known`)
  if (dropped > 0) {
    const headerHash = toHex(block.headerHash)
    log.warn({ headerHash, dropped }, `${dropped} transactions conflict with it and are dead letters`)
  }
}

const foreignBlock = (
  { headerHash, header: encoded }: ForeignHeader,
  { prevHeaderHash, utxosRoot, startTime, endTime }: Header,
  { transactions, held }: Checked,
): ForeignBlock => ({
  headerHash,
  header: encoded,
  previousHeaderHash: prevHeaderHash,
  utxosRoot,
  startTime,
  endTime,
  transactions,
  ...(held && { held }),
})
