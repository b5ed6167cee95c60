import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CborReader, fromHex } from '@ratatosk/cbor'
import { vectors, vectorsFolder } from '@ratatosk/test-vectors'

export const hasVectors = vectorsFolder('midgard-txs') !== undefined

/** The transactions of the Midgard chains, as encoded. */
export function* midgardTransactions(): Generator<Uint8Array, void> {
  for (const name of ['txs_0.json', 'txs_1.json']) {
    for (const { cborHex } of json<readonly { cborHex: string }[]>('midgard-txs', name))
      yield fromHex(cborHex)
  }
}

/** The bodies in the vectors, as encoded: of the Midgard chains, the ledger's scenarios and its runs of events. */
export function* vectorBodies(): Generator<Uint8Array, void> {
  for (const transaction of midgardTransactions()) yield* bodiesIn(transaction)
  for (const name of readdirSync(join(vectors, 'ledger-scenarios', 'scenarios'))) {
    const { transaction } = json<{ transaction: string }>('ledger-scenarios', 'scenarios', name)
    yield* bodiesIn(fromHex(transaction))
  }
  const eras = join(vectors, 'ledger-rules', 'eras')
  for (const file of readdirSync(eras, { recursive: true, withFileTypes: true })) {
    if (file.isFile()) yield* bodiesInRun(readFileSync(join(file.parentPath, file.name)))
  }
  const samples = join(vectors, 'cbor-decode', 'transaction_body', 'conway')
  for (const name of readdirSync(samples)) yield readFileSync(join(samples, name, 'sample.cbor'))
}

const json = <T>(...path: readonly string[]): T => JSON.parse(readFileSync(join(vectors, ...path), 'utf8'))

/** `[config, initialState, finalState, events, title]`; the event of a transaction is `[0, bytes, accepted, slot]`. */
function* bodiesInRun(run: Uint8Array): Generator<Uint8Array, void> {
  const reader = new CborReader(run)
  reader.readArray()
  for (let i = 0; i < 3; i++) reader.skip()
  const events = reader.readArray()
  for (let i = 0; reader.hasNext(events, i); i++) {
    const start = reader.position
    reader.readArray()
    const bytes = reader.readUint() === 0 ? reader.readBytes() : undefined
    reader.position = start
    reader.skip()
    if (bytes !== undefined) yield* bodiesIn(bytes)
  }
}

/** The body of a transaction, if the transaction is well-formed so far. */
function* bodiesIn(transaction: Uint8Array): Generator<Uint8Array, void> {
  const reader = new CborReader(transaction)
  try {
    reader.readArray()
    const start = reader.position
    reader.skip()
    yield reader.since(start)
  } catch {
    // Some vectors are transactions that do not decode.
  }
}
