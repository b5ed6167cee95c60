import { compareBytes, equalBytes } from '@ratatosk/cbor'
import { decodeOutputReference, outputReferenceKey } from '@ratatosk/ledger'
import type { BlockDiff, ProducedOutput } from '../body.js'
import { isStep, type Steps, sorting } from '../steps.js'
import type { OutputTable } from './output-table.js'

/** The changes of a block to the unspent outputs. */
export function* diffing(outputs: OutputTable): Steps<BlockDiff> {
  const numbers = new Uint32Array(outputs.size)
  let count = 0
  for (let output = 0; output < outputs.size; output++) {
    if (outputs.isSpent(output) || outputs.isProduced(output)) numbers[count++] = output
    if (isStep(output)) yield
  }
  const sorted = yield* sorting(numbers.subarray(0, count), (a, b) => outputs.compare(a, b))
  const spent: Uint8Array[] = []
  const produced: ProducedOutput[] = []
  for (const [place, output] of sorted.entries()) {
    const outref = outputs.outref(output)
    if (outputs.isSpent(output)) spent.push(outref)
    else produced.push({ outref, output: outputs.output(output) })
    if (isStep(place)) yield
  }
  return { spent, produced }
}

/** Whether {@link diffing} leads to this diff. */
export function* comparing(outputs: OutputTable, { spent, produced }: BlockDiff): Steps<boolean> {
  let [mostSpent, mostProduced] = [0, 0]
  for (let output = 0; output < outputs.size; output++) {
    if (outputs.isSpent(output)) mostSpent++
    else if (outputs.isProduced(output)) mostProduced++
  }
  if (spent.length !== mostSpent || produced.length !== mostProduced) return false
  return (
    (yield* naming(
      outputs,
      spent,
      (outref) => outref,
      (output) => outputs.isSpent(output),
    )) &&
    (yield* naming(
      outputs,
      produced,
      ({ outref }) => outref,
      (number, { output }) => outputs.isProduced(number) && equalBytes(outputs.output(number), output),
    ))
  )
}

/** Whether the references of items are those of some outputs, each once, in ascending order. */
function* naming<Item>(
  outputs: OutputTable,
  items: readonly Item[],
  outrefOf: (item: Item) => Uint8Array,
  isRight: (output: number, item: Item) => boolean,
): Steps<boolean> {
  let previous: Uint8Array | undefined
  for (const [place, item] of items.entries()) {
    const outref = outrefOf(item)
    const output = outputs.find(outputReferenceKey(decodeOutputReference(outref)))
    if (output === undefined || !isRight(output, item)) return false
    if (previous !== undefined && compareBytes(previous, outref) >= 0) return false
    previous = outref
    if (isStep(place)) yield
  }
  return true
}
