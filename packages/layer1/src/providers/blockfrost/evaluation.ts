import { Layer1Error } from '../../errors.js'
import { countOf, integerOf, isObject, objectOf, reading } from '../../http/json.js'
import type { EvaluatedRedeemer } from '../../types.js'
import { purposeOf } from '../purposes.js'
import { cleanReason } from '../reason.js'

/** Reads an evaluation in Ogmios 5's envelope, which Blockfrost still uses. */
export function readEvaluation(body: unknown): readonly EvaluatedRedeemer[] {
  const result = reading('Blockfrost', 'an evaluation', () => objectOf(objectOf(body).result))
  const { EvaluationResult: units, EvaluationFailure: failure } = result
  if (!isObject(units)) {
    const reason = cleanReason(JSON.stringify(failure ?? result))
    throw new Layer1Error('LAYER1_REJECTED', 'The transaction cannot be evaluated', { reason })
  }
  return reading('Blockfrost', 'an evaluation', () =>
    Object.entries(units).map(([pointer, used]) => {
      const [purpose, index] = pointer.split(':')
      const { memory, steps } = objectOf(used)
      return {
        purpose: purposeOf(purpose),
        index: countOf(index),
        memory: integerOf(memory),
        steps: integerOf(steps),
      }
    }),
  )
}
