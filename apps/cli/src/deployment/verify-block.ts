import type { BlockSource } from '@ratatosk/audit'
import {
  type Archive,
  type BlockBody,
  BlockError,
  type BlockRules,
  createOutputTrie,
  decodeBlockBody,
  isBlockError,
  isInvalidBlock,
  judgeBlock,
  type OutputTrie,
  verifyBody,
} from '@ratatosk/block'
import { equalBytes, fromHex, toHex } from '@ratatosk/cbor'
import { rebuildUtxos } from '@ratatosk/follower'
import { decodeTransactionOutput, encodeOutputReference, type UtxoView } from '@ratatosk/ledger'
import type { Deployment } from '@ratatosk/node'
import { createMemoryStore } from '@ratatosk/trie'
import { CommandError } from '../frame/errors.js'
import type { FoundBlock } from './find-block.js'

/** The judged properties of a block, in this order. */
export const judged = [
  'header: its hash, and the chain of hashes to the newest block on layer 1',
  'link: its times and outputs begin where the block before it ends',
  'state before: rebuilt from genesis and all bodies before it, with the root prev_utxos_root',
  'body: every byte, by transactions_root and deposits_root; what leaves, by withdrawals_root',
  'transactions: the rules of the ledger and of layer 2, signatures and scripts included',
  'state after: utxos_root',
] as const

/** The verdict on a block. `another body`: what the archivist serves does not belong to the header. */
export interface Verification {
  readonly verdict: 'valid' | 'invalid' | 'another body'
  readonly transactions: number
  /** Why it is not valid. */
  readonly reason?: string
  /** Of the transaction that breaks a rule, from 0. */
  readonly position?: number
  /** The rules that it breaks. */
  readonly failures?: readonly { readonly predicate: string; readonly message: string }[]
}

/**
 * Judges a block whose header layer 1 vouches for. All outputs before it are in memory. Its deposits are
 * those of the header's root: layer 1 no longer shows those of merged blocks.
 *
 * @throws CommandError if the bodies before it do not lead to it; {ScriptsNotRunError} where scripts could
 *   not be run
 */
export async function verifyBlock(
  block: FoundBlock,
  { archivist, genesis }: Pick<Deployment, 'genesis'> & { readonly archivist: BlockSource },
  rules: BlockRules,
  onBody: (height: number) => void,
): Promise<Verification> {
  const height = BigInt(block.height - 1)
  const utxos = await rebuildUtxos({ archive: archiveOf(archivist, onBody), genesis, height })
  const trie = createOutputTrie({ store: createMemoryStore(), history: 1 })
  await trie.rebuild(entriesOf(utxos))
  const bytes = await archivist.body(block.headerHash, new AbortController().signal)
  if (bytes === undefined) throw missingBody(block.height)
  let transactions = 0
  try {
    const body = decodeBlockBody(bytes, undefined, rules.bridge !== undefined)
    transactions = body.transactions.length
    judgeLink(block, trie.root)
    await judge(body, block, trie, utxos, rules)
    return { verdict: 'valid', transactions }
  } catch (error) {
    if (!isBlockError(error)) throw error
    const { message, position, failures } = error
    return {
      verdict: isInvalidBlock(error) ? 'invalid' : 'another body',
      transactions,
      reason: message,
      ...(position !== undefined && { position }),
      ...(failures !== undefined && {
        failures: failures.map(({ predicate, message: text }) => ({ predicate, message: text })),
      }),
    }
  }
}

function judgeLink({ header, before, height }: FoundBlock, root: Uint8Array): void {
  if (before !== undefined && header.startTime !== before.endTime)
    throw new BlockError('BLOCK_INVALID', 'The block does not begin where the block before it ends')
  if (header.endTime <= header.startTime)
    throw new BlockError('BLOCK_INVALID', 'The block does not end after it begins')
  const claimed = before?.utxosRoot ?? root
  if (!equalBytes(header.prevUtxosRoot, claimed))
    throw new BlockError('BLOCK_INVALID', 'The block does not begin with the state after the previous block')
  if (!equalBytes(root, claimed))
    throw new CommandError(
      'CLI_ARCHIVE',
      `The bodies before block ${height} do not lead to its prev_utxos_root. The archivist serves other ` +
        'ones, GENESIS_FILE is not that of the deployment, or an earlier block is invalid: run `ratatosk ' +
        'audit`.',
    )
}

async function judge(
  body: BlockBody,
  { header }: FoundBlock,
  trie: OutputTrie,
  utxos: ReadonlyMap<string, Uint8Array>,
  rules: BlockRules,
): Promise<void> {
  await verifyBody(body, header, trie.outputHash, rules.bridge)
  const before: UtxoView = {
    get(key) {
      const [transactionId = '', index = ''] = key.split('#')
      const reference = { transactionId: fromHex(transactionId), index: Number(index) }
      const output = utxos.get(toHex(encodeOutputReference(reference)))
      return output && decodeTransactionOutput(output)
    },
  }
  await judgeBlock(body.transactions, header, before, rules, undefined, body.deposits)
  await trie.applyBlock(body, header)
}

/** An archivist as the archive from which outputs are rebuilt. */
function archiveOf(
  archivist: BlockSource,
  onBody: (height: number) => void,
): Pick<Archive, 'range' | 'body'> {
  const signal = new AbortController().signal
  let bodies = 0
  return {
    async range(from, to) {
      const heights = Array.from({ length: Number(to - from) + 1 }, (_, n) => Number(from) + n)
      const headers = []
      for (const height of heights) {
        const block = await archivist.header(height, signal)
        if (block !== undefined) headers.push({ ...block, height: BigInt(height), merged: false })
      }
      return headers
    },
    async *body(headerHash) {
      const body = await archivist.body(headerHash, signal)
      if (body === undefined) throw missingBody(bodies + 1)
      onBody(++bodies)
      yield body
    },
  }
}

function* entriesOf(utxos: ReadonlyMap<string, Uint8Array>) {
  for (const [outref, output] of utxos) yield [fromHex(outref), output] as const
}

const missingBody = (height: number): CommandError =>
  new CommandError(
    'CLI_ARCHIVE',
    `The archivist does not have the body of block ${height}: name another one.`,
  )
