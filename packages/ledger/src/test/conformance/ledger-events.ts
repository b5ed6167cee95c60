import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CborReader, isDecodeError, toHex } from '@ratatosk/cbor'
import type { ProtocolParameters } from '../../parameters/types.js'
import type { Evaluator } from '../../plutus/types.js'
import type { RuleContext } from '../../rules/context.js'
import { effects } from '../../rules/effects.js'
import { judge } from '../../rules/judge.js'
import { decodeTransaction, decodeTransactionOutput } from '../../transaction/decode.js'
import { outputReferenceKey, readOutputReference } from '../../transaction/output-reference.js'
import type { Transaction, TransactionOutput } from '../../transaction/types.js'
import { readLedgerParameters } from './ledger-parameters.js'
import { named, type Outcome, orNotJudged } from './outcome.js'
import { isPlain } from './scenarios.js'

/** One file of `ledger-rules/eras`: a run of the Haskell ledger's own tests. */
interface Run {
  readonly title: string
  readonly utxos: Map<string, TransactionOutput>
  readonly parametersBefore: string
  readonly parametersAfter: string
  readonly events: readonly RunEvent[]
}

type RunEvent =
  | {
      readonly kind: 'transaction'
      readonly bytes: Uint8Array
      readonly accepted: boolean
      readonly slot: bigint
    }
  | { readonly kind: 'epochs' }

/** The network of the Imp tests: slot 0 is at this POSIX time in milliseconds, and a slot lasts a second. */
const SLOTS = { zeroTime: 1_506_203_091_000n, zeroSlot: 0n, slotLength: 1000 }

/**
 * Judges every transaction of every run with its own flag, and applies each to the unspent outputs of the next.
 */
export async function runLedgerEvents(
  folder: string,
  evaluator: Pick<Evaluator, 'evaluate'>,
): Promise<Outcome[]> {
  const parameters = new Map<string, ProtocolParameters>()
  for (const hash of await readdir(join(folder, 'pparams'))) {
    parameters.set(hash, readLedgerParameters(await readFile(join(folder, 'pparams', hash))))
  }
  const outcomes: Outcome[] = []
  const eras = join(folder, 'eras')
  for (const file of (await readdir(eras, { recursive: true, withFileTypes: true })).sort(byPath)) {
    if (!file.isFile()) continue
    const path = join(file.parentPath, file.name)
    const run = readRun(await readFile(path))
    outcomes.push(...(await judgeRun(path.slice(eras.length + 1), run, parameters, evaluator)))
  }
  return outcomes
}

async function judgeRun(
  name: string,
  run: Run,
  parameters: ReadonlyMap<string, ProtocolParameters>,
  evaluator: Pick<Evaluator, 'evaluate'>,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  // Parameters change at epoch boundaries. If a run ends with other parameters than it began with, the boundary
  // at which they changed is not recorded. From the first boundary on, an event must agree under one of both.
  const before = find(parameters, run.parametersBefore)
  const after = find(parameters, run.parametersAfter)
  let candidates = [before]
  let index = -1
  for (const event of run.events) {
    if (event.kind === 'epochs') {
      if (after !== before) candidates = [before, after]
      continue
    }
    index += 1
    const { outcome, transaction } = await judgeEvent(`${name}[${index}]`, event, run, candidates, evaluator)
    outcomes.push(outcome)
    if (!event.accepted || transaction === undefined) continue
    const { spent, produced } = effects(transaction)
    for (const reference of spent) run.utxos.delete(outputReferenceKey(reference))
    for (const { reference, output } of produced) run.utxos.set(outputReferenceKey(reference), output)
  }
  return outcomes
}

async function judgeEvent(
  name: string,
  { bytes, accepted, slot }: Extract<RunEvent, { kind: 'transaction' }>,
  { title, utxos }: Run,
  candidates: readonly ProtocolParameters[],
  evaluator: Pick<Evaluator, 'evaluate'>,
): Promise<{ outcome: Outcome; transaction?: Transaction }> {
  const expected = accepted ? 'Pass' : `Fail (${title.split('/').slice(-1)})`
  const base = { name, rules: 'unrestricted', expected } as const
  let transaction: Transaction
  try {
    transaction = decodeTransaction(bytes)
  } catch (error) {
    if (!isDecodeError(error)) throw error
    const result = accepted ? 'deviation' : 'agreed'
    return { outcome: { ...base, kind: 'plain', found: `decoding failure (${error.message})`, result } }
  }
  const kind = isPlain(transaction) ? 'plain' : 'stake or governance'
  let found = ''
  for (const parameters of candidates) {
    const context: RuleContext = { parameters, networkId: 0, slot }
    const verdict = await orNotJudged(
      judge(transaction, utxos, context, { evaluator: padding(evaluator), slots: SLOTS }),
    )
    found = named(verdict)
    if ((verdict.length === 0) === accepted) {
      return { transaction, outcome: { ...base, kind, found, result: 'agreed' } }
    }
  }
  const undecided = !accepted && kind !== 'plain'
  return { transaction, outcome: { ...base, kind, found, result: undecided ? 'undecided' : 'deviation' } }
}

/**
 * The tests' Plutus V3 cost model is all zeros and shorter than that of any network; engines need a known
 * length.
 */
function padding(evaluator: Pick<Evaluator, 'evaluate'>): Pick<Evaluator, 'evaluate'> {
  return {
    evaluate(transaction, utxos, parameters, slots) {
      const { PlutusV3: model } = parameters.costModels
      if (model === undefined) return evaluator.evaluate(transaction, utxos, parameters, slots)
      const padded = [...model, ...new Array<bigint>(Math.max(0, 297 - model.length)).fill(0n)]
      const costModels = { ...parameters.costModels, PlutusV3: padded }
      return evaluator.evaluate(transaction, utxos, { ...parameters, costModels }, slots)
    },
  }
}

/** `[config, initialState, finalState, events, title]`. */
function readRun(bytes: Uint8Array): Run {
  const reader = new CborReader(bytes)
  reader.readArray()
  reader.skip()
  const initial = readState(reader)
  const final = readState(reader)
  const events: RunEvent[] = []
  const count = reader.readArray()
  for (let i = 0; reader.hasNext(count, i); i += 1) events.push(...readEvent(reader))
  return {
    title: reader.readText(),
    utxos: initial.utxos,
    parametersBefore: initial.parameters,
    parametersAfter: final.parameters,
    events,
  }
}

/** `[0, transaction, accepted, slot]`, `[1, slot]` or `[2, epochs]`. */
function readEvent(reader: CborReader): RunEvent[] {
  const start = reader.position
  reader.skip()
  const event = new CborReader(reader.since(start))
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
function readState(reader: CborReader): { utxos: Map<string, TransactionOutput>; parameters: string } {
  const start = reader.position
  reader.skip()
  const state = reader.since(start)
  const outputs = new CborReader(itemAt(state, [3, 1, 1, 0]))
  const utxos = new Map<string, TransactionOutput>()
  const count = outputs.readMap()
  for (let i = 0; outputs.hasNext(count, i); i += 1) {
    const key = outputReferenceKey(readOutputReference(outputs))
    const from = outputs.position
    outputs.skip()
    utxos.set(key, decodeTransactionOutput(outputs.since(from)))
  }
  return { utxos, parameters: toHex(new CborReader(itemAt(state, [3, 1, 1, 3, 3])).readBytes()) }
}

function itemAt(bytes: Uint8Array, path: readonly number[]): Uint8Array {
  let item = bytes
  for (const step of path) {
    const reader = new CborReader(item)
    reader.readArray()
    for (let i = 0; i < step; i += 1) reader.skip()
    const start = reader.position
    reader.skip()
    item = reader.since(start)
  }
  return item
}

function find(parameters: ReadonlyMap<string, ProtocolParameters>, hash: string): ProtocolParameters {
  const found = parameters.get(hash)
  if (!found) throw new Error(`no protocol parameters ${hash}`)
  return found
}

function byPath(a: { parentPath: string }, b: { parentPath: string }): number {
  return a.parentPath < b.parentPath ? -1 : 1
}
