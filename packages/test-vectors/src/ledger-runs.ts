import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CborReader, toHex } from '@ratatosk/cbor'
import { readLedgerParameters, type VectorParameters } from './ledger-parameters.js'

/** One file of `ledger-rules/eras`: a run of the Haskell ledger's own tests. */
export interface LedgerRun {
  /** Its path in the folder. */
  readonly name: string
  readonly title: string
  /** The unspent outputs before it: reference and output, both CBOR. */
  readonly unspent: readonly (readonly [reference: Uint8Array, output: Uint8Array])[]
  readonly parametersBefore: VectorParameters
  /** The same object as `parametersBefore` if they do not change. */
  readonly parametersAfter: VectorParameters
  readonly events: readonly LedgerEvent[]
}

export type LedgerEvent = LedgerTransaction | { readonly kind: 'epochs' }

export interface LedgerTransaction {
  readonly kind: 'transaction'
  /** CBOR, which need not decode. */
  readonly bytes: Uint8Array
  /** Whether the Haskell ledger accepts it. */
  readonly accepted: boolean
  readonly slot: bigint
}

/** The network of the runs: slot 0 is at this POSIX time in milliseconds, and a slot lasts a second. */
export const slotsOfRuns = { zeroTime: 1_506_203_091_000n, zeroSlot: 0n, slotLength: 1000 } as const

/** The runs, by path. @param folder `ledger-rules` */
export function* ledgerRuns(folder: string): Generator<LedgerRun, void> {
  const parameters = new Map<string, VectorParameters>()
  for (const hash of readdirSync(join(folder, 'pparams')))
    parameters.set(hash, readLedgerParameters(readFileSync(join(folder, 'pparams', hash))))
  const find = (hash: string): VectorParameters => {
    const found = parameters.get(hash)
    if (!found) throw new Error(`no protocol parameters ${hash}`)
    return found
  }
  const eras = join(folder, 'eras')
  const paths = readdirSync(eras, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
  for (const path of paths.sort()) {
    const { parametersBefore, parametersAfter, ...run } = readRun(readFileSync(path))
    yield {
      name: path.slice(eras.length + 1),
      ...run,
      parametersBefore: find(parametersBefore),
      parametersAfter: find(parametersAfter),
    }
  }
}

/** `[config, initialState, finalState, events, title]`. */
function readRun(bytes: Uint8Array) {
  const reader = new CborReader(bytes)
  reader.readArray()
  reader.skip()
  const initial = readState(reader)
  const final = readState(reader)
  const events: LedgerEvent[] = []
  const count = reader.readArray()
  for (let i = 0; reader.hasNext(count, i); i += 1) events.push(...readEvent(reader))
  return {
    title: reader.readText(),
    unspent: initial.unspent,
    parametersBefore: initial.parameters,
    parametersAfter: final.parameters,
    events,
  }
}

/** `[0, transaction, accepted, slot]`, `[1, slot]` or `[2, epochs]`. */
function readEvent(reader: CborReader): LedgerEvent[] {
  const event = new CborReader(readItem(reader))
  const count = event.readArray()
  const tag = event.readUint()
  if (tag === 2) return [{ kind: 'epochs' }]
  if (tag === 1) return []
  const bytes = event.readBytes()
  const accepted = event.readBoolean()
  const slot = event.readUint64()
  event.leaveArray(count, 4, 0)
  return [{ kind: 'transaction', bytes, accepted, slot }]
}

/** The unspent outputs are at `state[3][1][1][0]`, the hash of the parameters at `state[3][1][1][3][3]`. */
function readState(reader: CborReader) {
  const state = readItem(reader)
  const outputs = new CborReader(itemAt(state, [3, 1, 1, 0]))
  const unspent: (readonly [Uint8Array, Uint8Array])[] = []
  const count = outputs.readMap()
  for (let i = 0; outputs.hasNext(count, i); i += 1) unspent.push([readItem(outputs), readItem(outputs)])
  return { unspent, parameters: toHex(new CborReader(itemAt(state, [3, 1, 1, 3, 3])).readBytes()) }
}

function itemAt(bytes: Uint8Array, path: readonly number[]): Uint8Array {
  let item = bytes
  for (const step of path) {
    const reader = new CborReader(item)
    reader.readArray()
    for (let i = 0; i < step; i += 1) reader.skip()
    item = readItem(reader)
  }
  return item
}

/** The bytes of the next item. */
export function readItem(reader: CborReader): Uint8Array {
  const start = reader.position
  reader.skip()
  return reader.since(start)
}
