import { encodeAsk } from '@ratatosk/fraud'
import { decodePlutusData, encodePlutusData } from '@ratatosk/ledger/plutus-data'
import type { SummonsQuestion } from '../../datum/summons.js'
import type { Draw } from '../fraud/draw.js'
import { mutated } from '../fraud/mutations.js'
import {
  type Asked,
  asking,
  chunkQuestion,
  header,
  nextAt,
  outputs,
  recordQuestion,
  recordsQuestion,
  somePath,
  subtreeQuestion,
} from './scenarios.js'

const kinds = ['chunk', 'subtree', 'leaf'] as const

const bases: readonly Asked[] = [
  ...[0, 1, 2].flatMap((steps) =>
    (['subtree', 'leaf'] as const).map((kind) => asking(nextAt(outputs, kind, somePath, steps), 1)),
  ),
  recordsQuestion,
  recordQuestion,
  chunkQuestion(0),
  chunkQuestion(7),
]

/** Bytes with one changed, and at times one more or less. */
function changedBytes(value: Uint8Array, draw: Draw): Uint8Array {
  const bytes = Uint8Array.from(value)
  bytes[draw(bytes.length)] = draw(256)
  const length = draw(6)
  if (length === 1) return bytes.subarray(1)
  return length === 2 ? Uint8Array.of(...bytes, draw(256)) : bytes
}

type Change = (question: SummonsQuestion, draw: Draw) => Partial<SummonsQuestion>

const changes: readonly Change[] = [
  (_question, draw) => ({ kind: kinds[draw(3)]! }),
  (_question, draw) => ({ root: draw(11) }),
  ({ key }, draw) => ({ key: changedBytes(key, draw) }),
  ({ key }, draw) => ({ key: Uint8Array.of(...key.subarray(0, -1), draw(66)) }),
  (_question, draw) => ({ key: bases[draw(bases.length)]!.question.key }),
  ({ hash }, draw) => ({ hash: changedBytes(hash, draw) }),
  (_question, draw) => ({ hash: bases[draw(bases.length)]!.question.hash }),
  ({ refund }, draw) => ({ refund: changedBytes(refund, draw) }),
  ({ deadline }, draw) => ({ deadline: deadline + BigInt(draw(3)) - 1n }),
]

const pool = bases.map(({ steps }) => decodePlutusData(encodeAsk(header, steps)))

/** A question about the honest header with a few changes, and the redeemer that asks it. */
export function drawnQuestion(draw: Draw): { readonly asked: Asked; readonly redeemer: Uint8Array } {
  const base = bases[draw(bases.length)] ?? subtreeQuestion
  let { question } = base
  for (let left = draw(3); left > 0; left--)
    question = { ...question, ...changes[draw(changes.length)]!(question, draw) }
  const steps = draw(3) === 1 ? bases[draw(bases.length)]!.steps : base.steps
  const redeemer = decodePlutusData(encodeAsk(header, steps))
  const changed = draw(2) === 1 ? mutated(redeemer, pool, draw).redeemer : redeemer
  return { asked: { header, question, steps }, redeemer: encodePlutusData(changed) }
}
