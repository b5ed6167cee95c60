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

/** A block that was audited and can be undone. */
interface AuditedBlock {
  readonly header: AuditedHeader | undefined
  readonly change: Change
  readonly transactions: number
  /** Of transactions and deposits. */
  readonly ids: readonly Uint8Array[]
  readonly bodyBytes: number
  readonly isWrong: boolean
  /** Whether the unspent outputs before it were those of the header before it. */
  readonly agreedBefore: boolean
}

/** The chain of blocks from genesis that an archive has, audited one by one. */
export interface AuditedChain {
  readonly height: number
  /** 28 bytes; zeros before the first block. */
  readonly headerHash: Uint8Array
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
  const genesisRoot = ledger.root
  let transactions = 0
  let bodyBytes = 0
  /** Whether the unspent outputs are those of the newest header, if known. */
  let agrees = true
  let ended: { readonly at: number; readonly why: string } | undefined
  /** Blocks whose body could not be read, or does not have the root of the header. */
  let wrongBodies = 0

  function end(why: string): void {
    ended ??= { at: hashes.count + 1, why }
  }

  const reporter =
    (height: number, headerHash: Uint8Array) =>
    (kind: FindingKind, message: string, more: Partial<Finding> = {}): void =>
      findings.add({ kind, message, block: blockAt(height, headerHash), ...more })

  type Report = ReturnType<typeof reporter>

  function read({ headerHash, header }: NamedHeader, report: Report): AuditedHeader | undefined {
    const other = difference(headerHash, blake2b224(header))
    if (other !== undefined) report('header', 'The header does not have the hash that names it', other)
    try {
      return readHeader(header)
    } catch (error) {
      report('header', `The header cannot be read: ${reasonOf(error)}`)
      return undefined
    }
  }

  function judgeHeader(header: AuditedHeader, report: Report): void {
    const before = kept.at(-1)?.header
    const expect = (kind: FindingKind, message: string, expected: Uint8Array, found: Uint8Array): void => {
      const other = difference(expected, found)
      if (other !== undefined) report(kind, message, other)
    }
    if (header.blockVersion !== knownVersion)
      report('version', 'The header states another block version', {
        expected: String(knownVersion),
        found: String(header.blockVersion),
      })
    const last = hashes.count === 0 ? genesisHash : hashes.at(hashes.count - 1)
    expect('link', 'The header does not name the block before it', last, header.prevHeaderHash)
    if (hashes.count === 0 || before !== undefined)
      expect(
        'prev-utxos-root',
        'The block does not begin with the outputs after the block before it',
        before?.utxosRoot ?? genesisRoot,
        header.prevUtxosRoot,
      )
    if (before !== undefined && header.startTime !== before.endTime)
      report('times', 'The block does not begin where the block before it ends', {
        expected: String(before.endTime),
        found: String(header.startTime),
      })
    if (header.endTime <= header.startTime) {
      report('times', 'The block does not end after it begins', {
        expected: `more than ${header.startTime}`,
        found: String(header.endTime),
      })
      end('the header of that block is not sound')
    }
    if (bridge !== undefined) return
    const [empty, reason] = [emptyRoot(), 'and there is no bridge']
    expect('deposits-root', `The header has deposits, ${reason}`, empty, header.depositsRoot)
    expect('withdrawals-root', `The header has withdrawals, ${reason}`, empty, header.withdrawalsRoot)
  }

  function judgeRoot({ utxosRoot }: AuditedHeader, isComplete: boolean, report: Report): void {
    const agreed = agrees
    const other = difference(ledger.root, utxosRoot)
    agrees = other === undefined
    // The consequences of a wrong state are not reported again.
    if (other !== undefined && agreed && isComplete)
      report('utxos-root', 'The root of the unspent outputs does not follow from the transactions', other)
  }

  /** Derives the changes of a block. If a source does not answer, nothing of the block is left. */
  async function derive(
    { header: headerCbor }: NamedHeader,
    header: AuditedHeader,
    readBody: () => Promise<Uint8Array | undefined>,
    report: Report,
  ) {
    const height = hashes.count + 1
    const context = { ledger, table, header, headerCbor, judge, bridge, pause, report }
    try {
      const body = await readBody()
      if (body !== undefined)
        return {
          body,
          audited: await auditBody(body, context),
        }
      report('body-missing', 'The archive does not have the body of the block')
      end('the archive does not have its body')
      return {}
    } catch (error) {
      findings.forgetFrom(height)
      if (ended?.at === height) ended = undefined
      throw error
    }
  }

  return {
    get height() {
      return hashes.count
    },
    get headerHash() {
      return Uint8Array.from(hashes.count === 0 ? genesisHash : hashes.at(hashes.count - 1))
    },
    get transactions() {
      return transactions
    },
    get bodyBytes() {
      return bodyBytes
    },
    get end() {
      return ended?.why
    },
    get agrees() {
      return agrees
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

    async append(block, readBody) {
      const height = hashes.count + 1
      const report = reporter(height, block.headerHash)
      const header = read(block, report)
      if (header === undefined) end('the header of that block is not sound')
      else judgeHeader(header, report)
      const agreedBefore = agrees
      const { body, audited } = header ? await derive(block, header, readBody, report) : {}
      const isWrong = body !== undefined && audited?.hasRoot !== true
      if (isWrong && ++wrongBodies >= mostWrongBodies)
        end(`${wrongBodies} bodies do not have the root of their header`)
      if (audited !== undefined && !audited.isComplete) end('its body was not read to the end')
      const { change, transactionIds, depositIds } = audited ?? unread
      const ids = [...transactionIds, ...depositIds]
      ledger.apply(change)
      hashes.push(block.headerHash)
      for (const id of ids) if (table.get(id) === 0) table.set(id, height)
      transactions += transactionIds.length
      bodyBytes += body?.length ?? 0
      if (header !== undefined) judgeRoot(header, audited?.isComplete === true, report)
      else agrees = false
      kept.push({
        header,
        change,
        transactions: transactionIds.length,
        ids,
        bodyBytes: body?.length ?? 0,
        isWrong,
        agreedBefore,
      })
      if (kept.length > undoableBlocks) kept.shift()
      return transactionIds
    },

    undo() {
      const block = kept.pop()
      if (block === undefined) return false
      const height = hashes.count
      ledger.undo(block.change)
      for (const id of block.ids) if (table.get(id) === height) table.delete(id)
      transactions -= block.transactions
      bodyBytes -= block.bodyBytes
      agrees = block.agreedBefore
      if (block.isWrong) wrongBodies--
      if (ended !== undefined && ended.at >= height) ended = undefined
      findings.forgetFrom(height)
      hashes.pop()
      return true
    },
  }
}
