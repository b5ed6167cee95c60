import { equalBytes } from '@ratatosk/cbor'
import { emptyRoot } from '@ratatosk/trie'
import { auditBody, unread } from './audit-block.js'
import { blockAt, difference, type FindingList } from './findings.js'
import { type AuditedHeader, blake2b224, createHashes, knownVersion, readHeader } from './header.js'
import type { AuditedLedger, Change } from './ledger.js'
import type { Sources } from './sources.js'
import { reasonOf } from './transaction.js'
import { TransactionTable } from './transaction-table.js'
import type { Finding, FindingKind, NamedHeader } from './types.js'

/** How many of the newest blocks can be undone, if layer 1 removes them while it is read. */
export const undoableBlocks = 256

/** The outcome of the blocks so far, besides the unspent outputs. */
interface State {
  readonly headerHash: Uint8Array
  /** Of its header; absent if that cannot be read. */
  readonly utxosRoot?: Uint8Array | undefined
  /** Of its header; absent if that cannot be read, and at genesis. */
  readonly endTime?: bigint | undefined
  readonly transactions: number
  readonly bodyBytes: number
  /** Blocks whose body could not be read, or does not have the root of the header. */
  readonly wrongBodies: number
  /** Whether the unspent outputs are those of the newest header, if known. */
  readonly agrees: boolean
  /** Why the chain ends. */
  readonly end?: string | undefined
}

/** A block that was audited and can be undone. */
interface AuditedBlock {
  readonly before: State
  readonly change: Change
  /** Of transactions and deposits. */
  readonly ids: readonly Uint8Array[]
}

/** The chain of blocks from genesis that an archive has, audited one by one. */
export interface AuditedChain {
  readonly height: number
  readonly transactions: number
  readonly bodyBytes: number
  /** Why the chain ends with its newest block; undefined if it can go on. */
  readonly end: string | undefined
  /** Whether the unspent outputs are those that the newest header commits to. */
  readonly agrees: boolean
  hashAt(height: number): Uint8Array | undefined
  /** The newest height of a header hash; 0 for genesis; undefined if it is not in the chain. */
  heightOf(headerHash: Uint8Array): number | undefined
  /** Height of the block of a transaction or deposit; 0 if it is in none. */
  blockOf(transactionId: Uint8Array): number
  /** The changes of the blocks above a height, oldest first; undefined if one cannot be undone any more. */
  changesAfter(height: number): readonly Change[] | undefined
  /** Audits the next block and returns its transaction ids. `body` asks for its body, if it has one. */
  append(block: NamedHeader, body: () => Promise<Uint8Array | undefined>): Promise<readonly Uint8Array[]>
  /** @returns false if the newest block is too old to be undone */
  undo(): boolean
}

/** A body costs up to a minute, and what follows from wrong ones says nothing. */
const mostWrongBodies = 4

const genesisHash = new Uint8Array(28)
const beginning = { headerHash: genesisHash, transactions: 0, bodyBytes: 0, wrongBodies: 0, agrees: true }

interface ChainContext {
  readonly ledger: AuditedLedger
  readonly findings: FindingList
  readonly judge: Sources['judge']
  /** Hash of the bridge's script. */
  readonly bridge: Uint8Array | undefined
  readonly pause: () => Promise<void>
}

export function createChain({ ledger, findings, judge, bridge, pause }: ChainContext): AuditedChain {
  const hashes = createHashes()
  const table = new TransactionTable()
  const kept: AuditedBlock[] = []
  let state: State = { ...beginning, utxosRoot: ledger.root }

  return {
    get height() {
      return hashes.count
    },
    get transactions() {
      return state.transactions
    },
    get bodyBytes() {
      return state.bodyBytes
    },
    get end() {
      return state.end
    },
    get agrees() {
      return state.agrees
    },
    hashAt: (height) => (height < 1 || height > hashes.count ? undefined : hashes.at(height - 1)),
    heightOf: (hash) => {
      if (equalBytes(hash, genesisHash)) return 0
      const index = hashes.lastIndexOf(hash)
      return index < 0 ? undefined : index + 1
    },
    blockOf: (id) => table.get(id),
    changesAfter(height) {
      const first = kept.length - (hashes.count - height)
      return first < 0 ? undefined : kept.slice(first).map(({ change }) => change)
    },

    async append({ headerHash, header: headerCbor }, readBody) {
      const before = state
      const height = hashes.count + 1
      const block = blockAt(height, headerHash)
      const report: Report = (kind, message, more) => findings.add({ kind, message, block, ...more })
      const header = readOrReport(headerHash, headerCbor, report)
      const isSound = header !== undefined && judgeHeader(header, before, bridge !== undefined, report)
      let body: Uint8Array | undefined
      let audited = unread
      try {
        if (header !== undefined) {
          body = await readBody()
          const context = { ledger, table, header, headerCbor, judge, bridge, pause, report }
          if (body !== undefined) audited = await auditBody(body, context)
          else report('body-missing', 'The archive does not have the body of the block')
        }
      } catch (error) {
        // A source did not answer: nothing of the block is left.
        findings.forgetFrom(height)
        throw error
      }
      const { change, transactionIds, depositIds, isComplete } = audited
      const wrongBodies = before.wrongBodies + Number(body !== undefined && !audited.hasRoot)
      const ids = [...transactionIds, ...depositIds]
      ledger.apply(change)
      hashes.push(headerHash)
      for (const id of ids) if (table.get(id) === 0) table.set(id, height)
      const other = header && difference(ledger.root, header.utxosRoot)
      // The consequences of a wrong state are not reported again.
      if (other !== undefined && before.agrees && isComplete)
        report('utxos-root', 'The root of the unspent outputs does not follow from the transactions', other)
      kept.push({ before, change, ids })
      if (kept.length > undoableBlocks) kept.shift()
      state = {
        headerHash,
        utxosRoot: header?.utxosRoot,
        endTime: header?.endTime,
        transactions: before.transactions + transactionIds.length,
        bodyBytes: before.bodyBytes + (body?.length ?? 0),
        wrongBodies,
        agrees: header !== undefined && other === undefined,
        end: before.end ?? endOf(isSound, body, wrongBodies, isComplete),
      }
      return transactionIds
    },

    undo() {
      const block = kept.pop()
      if (block === undefined) return false
      const height = hashes.count
      ledger.undo(block.change)
      for (const id of block.ids) if (table.get(id) === height) table.delete(id)
      findings.forgetFrom(height)
      hashes.pop()
      state = block.before
      return true
    },
  }
}

type Report = (kind: FindingKind, message: string, more?: Partial<Finding>) => void

function readOrReport(headerHash: Uint8Array, header: Uint8Array, report: Report): AuditedHeader | undefined {
  const other = difference(headerHash, blake2b224(header))
  if (other !== undefined) report('header', 'The header does not have the hash that names it', other)
  try {
    return readHeader(header)
  } catch (error) {
    report('header', `The header cannot be read: ${reasonOf(error)}`)
    return undefined
  }
}

/** Compares a header with the block before it. @returns whether the chain can go on with its block */
function judgeHeader(header: AuditedHeader, before: State, hasBridge: boolean, report: Report): boolean {
  const expect = (kind: FindingKind, message: string, expected: Uint8Array, found: Uint8Array): void => {
    const other = difference(expected, found)
    if (other !== undefined) report(kind, message, other)
  }
  if (header.blockVersion !== knownVersion)
    report('version', 'The header states another block version', {
      expected: String(knownVersion),
      found: String(header.blockVersion),
    })
  expect('link', 'The header does not name the block before it', before.headerHash, header.prevHeaderHash)
  if (before.utxosRoot !== undefined)
    expect(
      'prev-utxos-root',
      'The block does not begin with the outputs after the block before it',
      before.utxosRoot,
      header.prevUtxosRoot,
    )
  if (before.endTime !== undefined && header.startTime !== before.endTime)
    report('times', 'The block does not begin where the block before it ends', {
      expected: String(before.endTime),
      found: String(header.startTime),
    })
  const isSound = header.endTime > header.startTime
  if (!isSound)
    report('times', 'The block does not end after it begins', {
      expected: `more than ${header.startTime}`,
      found: String(header.endTime),
    })
  if (hasBridge) return isSound
  const [empty, reason] = [emptyRoot(), 'and there is no bridge']
  expect('deposits-root', `The header has deposits, ${reason}`, empty, header.depositsRoot)
  expect('withdrawals-root', `The header has withdrawals, ${reason}`, empty, header.withdrawalsRoot)
  return isSound
}

/** Why the chain ends with a block; undefined if it can go on. */
function endOf(
  isSound: boolean,
  body: Uint8Array | undefined,
  wrongBodies: number,
  isComplete: boolean,
): string | undefined {
  if (!isSound) return 'the header of that block is not sound'
  if (body === undefined) return 'the archive does not have its body'
  if (wrongBodies >= mostWrongBodies) return `${wrongBodies} bodies do not have the root of their header`
  return isComplete ? undefined : 'its body was not read to the end'
}
