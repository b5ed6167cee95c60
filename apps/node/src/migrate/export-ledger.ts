import { constants } from 'node:buffer'
import { open, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { toHex } from '@ratatosk/cbor'
import { decodeTransaction, decodeTransactionOutput } from '@ratatosk/ledger'
import type { LedgerOutput, StoredLedger } from '@ratatosk/store'
import { BackupError } from '../errors.js'
import { outputFlaw } from '../network/genesis.js'

/** A file of unspent outputs, as GENESIS_FILE takes it. */
export interface ExportedOutputs {
  readonly file: string
  readonly count: number
  /** Lovelace of the outputs, in decimal. */
  readonly lovelace: string
  /** Outputs that are not in the file, because no genesis may have them; the first few reasons. */
  readonly leftOut: { readonly count: number; readonly reasons: readonly string[] }
}

/**
 * A file of transactions: CBOR in hex, one per line, in the order in which they are to be submitted. All
 * before an empty line must have a result before the next one is submitted.
 */
export interface ExportedTransactions {
  readonly file: string
  readonly count: number
  /** How many of them had a validity interval that has ended. */
  readonly expired: number
}

const outputsName = 'genesis.json'
const transactionsName = 'transactions.txt'
const partOf = (name: string) => `${name}.part`
const mostReasons = 5
/** Every file that an export may leave in its folder. */
export const exportedNames = [outputsName, transactionsName].flatMap((name) => [name, partOf(name)])

type Pages<Item> = AsyncIterable<readonly Item[]>

/**
 * Writes the confirmed outputs, page by page, without those that no genesis may have.
 *
 * @param maxCharacters of the file; a node reads it as one string
 * @throws BackupError if there are more
 */
export async function exportOutputs(
  folder: string,
  pages: ReturnType<StoredLedger['confirmedOutputs']>,
  maxCharacters = constants.MAX_STRING_LENGTH,
): Promise<ExportedOutputs> {
  let [count, left, lovelace, characters] = [0, 0, 0n, 100]
  const reasons = new Set<string>()
  const isSound = ({ output }: LedgerOutput) => {
    const flaw = outputFlaw(output)
    if (flaw === undefined) return true
    left++
    if (reasons.size < mostReasons) reasons.add(flaw)
    return false
  }
  async function* texts(): AsyncGenerator<string, void> {
    yield '{ "utxos": ['
    for await (const page of pages) {
      const entries = page.filter(isSound).map(({ transactionId, index, output }) => {
        lovelace += decodeTransactionOutput(output).value.lovelace
        return `{ "outref": "${toHex(transactionId)}#${index}", "output": "${toHex(output)}" }`
      })
      if (entries.length === 0) continue
      const text = `${count === 0 ? '\n' : ',\n'}${entries.join(',\n')}`
      count += entries.length
      characters += text.length
      if (characters > maxCharacters)
        throw new BackupError(
          `The first ${count} confirmed outputs take ${characters} characters, but a node reads a genesis ` +
            `file of ${maxCharacters} at most. Keep the previous version.`,
        )
      yield text
    }
    yield '\n] }\n'
  }
  const file = await writeWhole(folder, outputsName, texts())
  return { file, count, lovelace: String(lovelace), leftOut: { count: left, reasons: [...reasons] } }
}

/**
 * Writes transactions, page by page.
 *
 * @param parts a transaction of a later part may spend what one of an earlier part spends
 * @param slot the current slot
 */
export async function exportTransactions(
  folder: string,
  parts: readonly Pages<Uint8Array>[],
  slot: bigint,
): Promise<ExportedTransactions> {
  let [count, expired] = [0, 0]
  async function* texts(): AsyncGenerator<string, void> {
    for (const pages of parts) {
      let separator = count === 0 ? '' : '\n'
      for await (const page of pages) {
        if (page.length === 0) continue
        count += page.length
        expired += page.filter((cbor) => hasExpired(cbor, slot)).length
        yield separator + page.map((cbor) => `${toHex(cbor)}\n`).join('')
        separator = ''
      }
    }
  }
  const file = await writeWhole(folder, transactionsName, texts())
  return { file, count, expired }
}

function hasExpired(cbor: Uint8Array, slot: bigint): boolean {
  try {
    const { invalidHereafter } = decodeTransaction(cbor).body.validityInterval
    return invalidHereafter !== undefined && invalidHereafter <= slot
  } catch {
    // The queue may hold what is not a transaction: the new node says so.
    return false
  }
}

/** A file under its name is complete: a process that is killed leaves one with another name. */
async function writeWhole(folder: string, name: string, texts: AsyncIterable<string>): Promise<string> {
  const path = join(folder, name)
  const part = partOf(path)
  const file = await open(part, 'wx', 0o600)
  try {
    for await (const text of texts) await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(part, path)
  return path
}
