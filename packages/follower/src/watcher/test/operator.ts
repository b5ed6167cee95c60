import { onTestFinished } from 'vitest'
import type { Committed } from '../../../../fraud/dist/test/lying-blocks.js'
import { type Answerer, type AnswererOptions, openAnswerer } from './answerer.js'
import type { Watched } from './scene.js'

/** Answers questions about a block until the test ends. */
export async function openOperator(
  { scene, referenceScripts }: Watched,
  committed: Committed,
  options: AnswererOptions = {},
): Promise<Answerer> {
  const operator = await openAnswerer({ ...scene, referenceScripts, ...options }, committed)
  onTestFinished(() => operator.close())
  return operator
}
