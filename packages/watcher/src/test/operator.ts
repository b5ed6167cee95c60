import { onTestFinished } from 'vitest'
import type { Committed } from '../../../fraud/dist/test/lying-blocks.js'
import { type Answerer, type How, openAnswerer } from './answerer.js'
import type { Watched } from './scene.js'

/** Answers questions about a block until the test ends. */
export async function openOperator(
  { scene, referenceScripts }: Watched,
  committed: Committed,
  how: How = {},
): Promise<Answerer> {
  const operator = await openAnswerer({ ...scene, referenceScripts, ...how }, committed)
  onTestFinished(() => operator.close())
  return operator
}
