import { describe, expect, it } from 'vitest'
import { engines } from '../../test/evaluate.js'
import { queueBreaches } from '../../test/queue/breaches.js'
import { commitFirst, commitSecond, deinit, init, merge } from '../../test/queue/scenarios.js'
import { createWorld } from '../../test/world.js'
import { compileStateQueue } from '../compile.js'

const world = createWorld()

it('names a breach for every rule', () => {
  expect(new Set(queueBreaches.map(({ rule }) => rule))).toEqual(new Set(compileStateQueue().rules))
})

describe.each(Object.entries(engines))('the state queue, judged by %s', (_name, evaluate) => {
  it.each(Object.entries({ init, deinit, commitFirst, commitSecond, merge }))('takes %s', (_, scenario) => {
    expect(evaluate(scenario(world))).toMatchObject({ ok: true })
  })

  it.each(queueBreaches)('refuses by $rule: $what', ({ transaction }) => {
    expect(evaluate(transaction(world))).toMatchObject({ ok: false })
  })
})
