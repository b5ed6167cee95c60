import { describe, expect, it } from 'vitest'
import { engines } from '../../test/evaluate.js'
import { registryBreaches } from '../../test/registry/breaches.js'
import {
  deinit,
  init,
  registerFirst,
  registerSecond,
  release,
  retire,
} from '../../test/registry/scenarios.js'
import { createWorld } from '../../test/world.js'
import { compileOperatorRegistry } from '../compile.js'

const world = createWorld()

it('names a breach for every rule', () => {
  expect(new Set(registryBreaches.map(({ rule }) => rule))).toEqual(new Set(compileOperatorRegistry().rules))
})

describe.each(Object.entries(engines))('the operator registry, judged by %s', (_name, evaluate) => {
  it.each(Object.entries({ init, deinit, registerFirst, registerSecond, retire, release }))(
    'takes %s',
    (_, scenario) => {
      expect(evaluate(scenario(world))).toMatchObject({ ok: true })
    },
  )

  it.each(registryBreaches)('refuses by $rule: $what', ({ transaction }) => {
    expect(evaluate(transaction(world))).toMatchObject({ ok: false })
  })
})
